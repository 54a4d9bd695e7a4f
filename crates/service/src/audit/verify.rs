//! The check of the audit log.

use std::collections::HashMap;

use kopeck_domain::audit::{Digest, Head, Opening};
use kopeck_port_store::{Access, Store, StoreError, transact};

/// Rows that are read at once; the service is not held up by the check.
const PIECE: u32 = 1_000;

/// A log that is whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// How many entries it has.
    pub entries: u64,
    /// How far each chain goes, to be noted elsewhere.
    pub heads: Vec<Head>,
}

/// Where a log is not what was written: the first place that was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
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
    /// The chain does not go as far as it did when the head was noted.
    #[error("chain {}: it went as far as entry {}, and does not any more", .0.chain, .0.number)]
    Shorter(Head),
    /// The chain is whole, but another one than when the head was noted.
    #[error("chain {}, entry {}: not the one that was noted; the chain was written anew", .0.chain, .0.number)]
    Rewritten(Head),
}

/// Why a log could not be found to be whole.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// It is not.
    #[error(transparent)]
    Broken(#[from] Breach),
    /// It could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Checks every chain from its opening to its end, and that each goes at least as far as was `noted`. Entries that are
/// written meanwhile may be left out.
///
/// # Errors
/// [`VerifyError::Broken`] with the first breach.
pub fn verify(store: &dyn Store, noted: &[Head]) -> Result<Verified, VerifyError> {
    let mut noted = Noted::new(noted);
    let last_in_use = transact(store, Access::Read, |unit| unit.audit().last_chain_in_use())?;
    let mut verified = Verified { entries: 0, heads: Vec::new() };
    let mut previous: Option<Opening> = None;
    loop {
        let after = previous.as_ref().map_or(0, |opening| opening.chain);
        let openings = transact(store, Access::Read, move |unit| unit.audit().openings(after, PIECE))?;
        if openings.is_empty() {
            break;
        }
        for opening in openings {
            if !opening.follows(previous.as_ref()) {
                return Err(Breach::Opening { chain: after_last(previous.as_ref()) }.into());
            }
            let head = chain(store, &opening, &mut noted)?;
            verified.entries += head.number;
            verified.heads.push(head);
            previous = Some(opening);
        }
    }
    if last_in_use > previous.map_or(0, |opening| opening.chain) {
        return Err(Breach::OpeningGone { chain: last_in_use }.into());
    }
    noted.all_met()?;
    Ok(verified)
}

/// The chain that has to come next.
fn after_last(previous: Option<&Opening>) -> u64 {
    previous.map_or(0, |opening| opening.chain) + 1
}

/// Checks one chain; answers how far it goes.
fn chain(store: &dyn Store, opening: &Opening, noted: &mut Noted) -> Result<Head, VerifyError> {
    let mut head = opening.head();
    noted.meet(&head)?;
    loop {
        let (chain, after) = (head.chain, head.number);
        let piece = transact(store, Access::Read, move |unit| unit.audit().records(chain, after, PIECE))?;
        if piece.is_empty() {
            // A chain is opened together with its first entry.
            return if head.number == 0 {
                Err(Breach::EntryGone { chain, number: 1 }.into())
            } else {
                Ok(head)
            };
        }
        for record in piece {
            let number = head.number + 1;
            if record.head.number != number {
                return Err(Breach::EntryGone { chain, number }.into());
            }
            if !record.follows(&head) {
                return Err(Breach::Entry { chain, number }.into());
            }
            head = record.head;
            noted.meet(&head)?;
        }
    }
}

/// Heads that were noted, until they are met.
struct Noted(HashMap<(u64, u64), Vec<Digest>>);

impl Noted {
    fn new(heads: &[Head]) -> Self {
        let mut noted: HashMap<_, Vec<Digest>> = HashMap::new();
        for Head { chain, number, hash } in heads {
            noted.entry((*chain, *number)).or_default().push(*hash);
        }
        Self(noted)
    }

    fn meet(&mut self, head: &Head) -> Result<(), Breach> {
        let hashes = self.0.remove(&(head.chain, head.number)).unwrap_or_default();
        if hashes.iter().all(|hash| *hash == head.hash) {
            Ok(())
        } else {
            Err(Breach::Rewritten(head.clone()))
        }
    }

    fn all_met(self) -> Result<(), Breach> {
        let left = self.0.into_iter().min_by_key(|(place, _)| *place);
        match left.and_then(|((chain, number), hashes)| Some((chain, number, *hashes.first()?))) {
            Some((chain, number, hash)) => Err(Breach::Shorter(Head { chain, number, hash })),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
