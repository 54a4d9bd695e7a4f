//! The check of the audit log.
//!
//! Each chain is read from its beginning to its end and its hashes are computed anew. With the keys, signatures are
//! checked too. As a hash covers the whole chain up to its entry, a valid signature vouches for every entry before it: an
//! entry that is not signed, or signed under a former key, is accepted if a valid signature or a signed checkpoint follows.

mod walk;

use std::collections::HashMap;

use kopeck_audit::{Digest, Head, MarkKind, Opening};
use kopeck_port_store::{Access, AuditSigner, Store, StoreError, transact};

use walk::Walk;

/// Rows per read, so that the service is not held up.
pub(super) const BATCH: u32 = 1_000;

/// The result of a successful verification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerificationReport {
    /// The number of entries.
    pub entries: u64,
    /// The number of entries with hashes only, such as those from before signatures existed. Without the keys, the number of
    /// entries without a signature.
    pub unsigned: u64,
    /// The number of pruned entries.
    pub pruned: u64,
    /// The chain heads, to be kept elsewhere.
    pub heads: Vec<Head>,
}

/// The first violation in the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChainViolation {
    /// A chain does not begin as it did, or the one before it is gone.
    #[error("chain {chain}: its opening is changed, or does not follow the one before")]
    Opening {
        /// The chain.
        chain: u64,
    },
    /// Entries without the opening of their chain.
    #[error("chain {chain}: there are entries, and the opening is gone")]
    OpeningGone {
        /// The last chain that has entries.
        chain: u64,
    },
    /// The entry is changed, or another one than was written here.
    #[error("chain {chain}, entry {number}: changed, or not the one that was written here")]
    Entry {
        /// The chain.
        chain: u64,
        /// The place in it.
        number: u64,
    },
    /// There is nothing where an entry was.
    #[error("chain {chain}, entry {number}: gone")]
    EntryGone {
        /// The chain.
        chain: u64,
        /// The place in it.
        number: u64,
    },
    /// The entry fits into its chain, and was not signed by the service.
    #[error("chain {chain}, entry {number}: the signature is forged")]
    Signature {
        /// The chain.
        chain: u64,
        /// The place in it.
        number: u64,
    },
    /// The entry should be signed and is not, and no signed entry follows.
    #[error(
        "chain {chain}, entry {number}: the signature is missing, and so are all after it; only entries from before \
         signatures existed may be accepted, by their exact number"
    )]
    Unsigned {
        /// The chain.
        chain: u64,
        /// The place in it.
        number: u64,
    },
    /// Only a key that is not known vouches for the entry.
    #[error(
        "chain {chain}, entry {number}: signed under a master key that is not known; give the former key in \
         KOPECK_MASTER_KEYS_ACCEPTED"
    )]
    UnknownKey {
        /// The chain.
        chain: u64,
        /// The place in it.
        number: u64,
    },
    /// The signed statement about where the chain begins, or how far it goes, was not signed by the service.
    #[error("chain {chain}: the signature of the mark {kind} is forged")]
    Mark {
        /// The chain.
        chain: u64,
        /// What the mark says.
        kind: MarkKind,
    },
    /// Every chain with signed entries has a checkpoint.
    #[error("chain {chain}: the mark CHECKPOINT is gone")]
    MarkGone {
        /// The chain.
        chain: u64,
    },
    /// The chain does not go as far as a head that was kept elsewhere.
    #[error(
        "chain {} ends before entry {}, whose head you kept: this is a restored copy, or entries were removed",
        .0.chain, .0.number
    )]
    Shorter(Head),
    /// The chain does not go as far as its checkpoint says, which a copy would have too.
    #[error("chain {} ends before entry {}, which its checkpoint names: entries were removed", .0.chain, .0.number)]
    Cut(Head),
    /// The chain is whole, but another one than when the head was noted.
    #[error("chain {}, entry {}: not the one that was noted; the chain was written anew", .0.chain, .0.number)]
    Rewritten(Head),
}

/// Why the verification failed.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The log is broken.
    #[error(transparent)]
    Broken(#[from] ChainViolation),
    /// The log could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Checks every chain from its beginning to its end, and that each goes at least as far as was `noted` and as its
/// checkpoint says. Signatures are checked by `signer`, or not at all. With a signer at most `accept_unsigned` entries may
/// be without a signature that vouches for them: an intruder with write access can remove signatures, so nothing in
/// it tells an entry from before there were any. Entries that are written meanwhile may be left out.
///
/// # Errors
/// [`VerifyError::Broken`] with the first violation.
pub fn verify(
    store: &dyn Store,
    signer: Option<&dyn AuditSigner>,
    noted: &[Head],
    accept_unsigned: u64,
) -> Result<VerificationReport, VerifyError> {
    let mut walk = Walk::new(store, signer, KnownHeads::new(noted), accept_unsigned);
    let last_in_use = transact(store, Access::Read, |unit| unit.audit().last_chain_in_use())?;
    let mut previous: Option<Opening> = None;
    loop {
        let after = previous.as_ref().map_or(0, |opening| opening.chain);
        let piece = transact(store, Access::Read, move |unit| unit.audit().openings(after, BATCH))?;
        if piece.is_empty() {
            break;
        }
        for opening in piece {
            if !opening.follows(previous.as_ref()) {
                return Err(ChainViolation::Opening { chain: after_last(previous.as_ref()) }.into());
            }
            walk.chain(&opening)?;
            previous = Some(opening);
        }
    }
    if last_in_use > previous.map_or(0, |opening| opening.chain) {
        return Err(ChainViolation::OpeningGone { chain: last_in_use }.into());
    }
    Ok(walk.end()?)
}

/// The expected next chain.
fn after_last(previous: Option<&Opening>) -> u64 {
    previous.map_or(0, |opening| opening.chain) + 1
}

/// Heads kept elsewhere that the walk has not reached yet.
struct KnownHeads(HashMap<(u64, u64), Vec<(Digest, HeadSource)>>);

/// Where a head comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeadSource {
    Kept,
    Checkpoint,
}

impl KnownHeads {
    fn new(heads: &[Head]) -> Self {
        let mut noted = Self(HashMap::new());
        heads.iter().for_each(|head| noted.add(head, HeadSource::Kept));
        noted
    }

    fn add(&mut self, Head { chain, number, hash }: &Head, source: HeadSource) {
        self.0.entry((*chain, *number)).or_default().push((*hash, source));
    }

    fn meet(&mut self, head: &Head) -> Result<(), ChainViolation> {
        let hashes = self.0.remove(&(head.chain, head.number)).unwrap_or_default();
        if hashes.iter().all(|(hash, _)| *hash == head.hash) {
            Ok(())
        } else {
            Err(ChainViolation::Rewritten(head.clone()))
        }
    }

    /// Drops the heads of pruned entries: those before this one.
    fn forget_before(&mut self, beginning: &Head) {
        self.0.retain(|(chain, number), _| *chain != beginning.chain || *number >= beginning.number);
    }

    fn all_met(self) -> Result<(), ChainViolation> {
        let mut left: Vec<_> = self.0.into_iter().collect();
        left.sort_by_key(|(place, _)| *place);
        let heads = left.into_iter().flat_map(|((chain, number), hashes)| {
            hashes.into_iter().map(move |(hash, source)| (Head { chain, number, hash }, source))
        });
        // A checkpoint tells more: a copy is never without what its own checkpoint names.
        let is_kept = |source: &HeadSource| *source == HeadSource::Kept;
        match heads.min_by_key(|(_, source)| is_kept(source)) {
            Some((head, HeadSource::Kept)) => Err(ChainViolation::Shorter(head)),
            Some((head, HeadSource::Checkpoint)) => Err(ChainViolation::Cut(head)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
