//! The walk along the chains.

use kopeck_audit::{Head, Mark, MarkKind, Opening, Record, Statement};
use kopeck_port_store::{Access, AuditSigner, SignatureCheck, Store, transact};

use super::{BATCH, ChainViolation, HeadSource, KnownHeads, VerificationReport, VerifyError};

/// The state of the verification.
pub(super) struct Walk<'a> {
    store: &'a dyn Store,
    signer: Option<&'a dyn AuditSigner>,
    noted: KnownHeads,
    /// The accepted number of unsigned entries.
    accept_unsigned: u64,
    /// Chain and number of the first entry that nothing vouches for.
    first_unsigned: Option<(u64, u64)>,
    verified: VerificationReport,
}

/// The state of one chain.
struct Chain {
    head: Head,
    checkpoint: Option<Head>,
    /// Whether any entry is signed.
    is_signed: bool,
    /// The first entry since the last valid signature that is signed under a key that is not known.
    unknown_key: Option<u64>,
    /// The first entry since then that is not signed, and how many there are.
    unsigned: Option<(u64, u64)>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        store: &'a dyn Store,
        signer: Option<&'a dyn AuditSigner>,
        noted: KnownHeads,
        accept_unsigned: u64,
    ) -> Self {
        let verified = VerificationReport::default();
        Self { store, signer, noted, accept_unsigned, first_unsigned: None, verified }
    }

    /// What was found, after the last chain.
    pub(super) fn end(self) -> Result<VerificationReport, ChainViolation> {
        self.noted.all_met()?;
        match self.first_unsigned {
            Some((chain, number))
                if self.signer.is_some() && self.verified.unsigned > self.accept_unsigned =>
            {
                Err(ChainViolation::Unsigned { chain, number })
            }
            _ => Ok(self.verified),
        }
    }

    /// Checks one chain.
    pub(super) fn chain(&mut self, opening: &Opening) -> Result<(), VerifyError> {
        let checkpoint = self.mark(opening.chain, MarkKind::Checkpoint)?.map(|mark| mark.head);
        if let Some(checkpoint) = &checkpoint {
            self.noted.add(checkpoint, HeadSource::Checkpoint);
        }
        let head = opening.head();
        self.noted.meet(&head)?;
        let mut chain = Chain { head, checkpoint, is_signed: false, unknown_key: None, unsigned: None };
        loop {
            let (number, after) = (chain.head.chain, chain.head.number);
            let piece =
                transact(self.store, Access::Read, move |unit| unit.audit().records(number, after, BATCH))?;
            let next = piece.first().map(|record| record.head.number);
            if next == Some(after + 1) {
                for record in piece {
                    // A gap is looked at when it is the first of a piece.
                    if record.head.number != chain.head.number + 1 {
                        break;
                    }
                    self.record(&mut chain, record)?;
                }
            } else if !self.skip_pruned(&mut chain)? {
                // A chain is opened together with its first entry.
                if next.is_some() || after == 0 {
                    return Err(ChainViolation::EntryGone { chain: number, number: after + 1 }.into());
                }
                break;
            }
        }
        Ok(self.end_of(chain)?)
    }

    fn record(&mut self, chain: &mut Chain, record: Record) -> Result<(), ChainViolation> {
        if !record.follows(&chain.head) {
            return Err(ChainViolation::Entry { chain: record.head.chain, number: record.head.number });
        }
        let check = record.signature.as_ref().map(|signature| match self.signer {
            Some(signer) => signer.check(&record.head.signed_bytes(Statement::Entry), signature),
            None => SignatureCheck::Valid,
        });
        chain.go_on(record.head, check)?;
        self.verified.entries += 1;
        self.noted.meet(&chain.head)
    }

    /// Goes on from where pruning has ended, if that is further on.
    fn skip_pruned(&mut self, chain: &mut Chain) -> Result<bool, VerifyError> {
        let Some(Mark { head, .. }) = self.mark(chain.head.chain, MarkKind::Beginning)? else {
            return Ok(false);
        };
        if head.number <= chain.head.number {
            return Ok(false);
        }
        self.verified.pruned += head.number - chain.head.number;
        self.noted.forget_before(&head);
        self.noted.meet(&head)?;
        (chain.head, chain.unknown_key, chain.unsigned) = (head, None, None);
        Ok(true)
    }

    /// The mark of this kind, after a look at its signature.
    fn mark(&self, chain: u64, kind: MarkKind) -> Result<Option<Mark>, VerifyError> {
        let marks = transact(self.store, Access::Read, move |unit| unit.audit().marks(chain))?;
        let Some(mark) = marks.into_iter().find(|mark| mark.kind == kind) else { return Ok(None) };
        let check = self.signer.map(|signer| signer.check(&mark.signed_bytes(), &mark.signature));
        match check {
            None | Some(SignatureCheck::Valid) => Ok(Some(mark)),
            Some(SignatureCheck::Wrong) => Err(ChainViolation::Mark { chain, kind }.into()),
            Some(SignatureCheck::UnknownKey) => {
                Err(ChainViolation::UnknownKey { chain, number: mark.head.number }.into())
            }
        }
    }

    /// Judges what nothing signed follows.
    fn end_of(&mut self, chain: Chain) -> Result<(), ChainViolation> {
        let Chain { head, checkpoint, is_signed, unknown_key, unsigned } = chain;
        let number = head.chain;
        if is_signed && checkpoint.is_none() {
            return Err(ChainViolation::MarkGone { chain: number });
        }
        if let Some(first) = unknown_key {
            return Err(ChainViolation::UnknownKey { chain: number, number: first });
        }
        if let Some((first, count)) = unsigned {
            if is_signed {
                return Err(ChainViolation::Unsigned { chain: number, number: first });
            }
            self.first_unsigned.get_or_insert((number, first));
            self.verified.unsigned += count;
        }
        self.verified.heads.push(head);
        Ok(())
    }
}

impl Chain {
    /// Goes on to `head`, whose signature was found to be so.
    fn go_on(&mut self, head: Head, check: Option<SignatureCheck>) -> Result<(), ChainViolation> {
        let number = head.number;
        self.is_signed |= check.is_some();
        match check {
            Some(SignatureCheck::Wrong) => {
                return Err(ChainViolation::Signature { chain: head.chain, number });
            }
            Some(SignatureCheck::UnknownKey) => {
                self.unknown_key.get_or_insert(number);
            }
            None => self.unsigned.get_or_insert((number, 0)).1 += 1,
            Some(SignatureCheck::Valid) => (self.unknown_key, self.unsigned) = (None, None),
        }
        if self.checkpoint.as_ref() == Some(&head) {
            (self.unknown_key, self.unsigned) = (None, None);
        }
        self.head = head;
        Ok(())
    }
}
