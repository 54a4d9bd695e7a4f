//! Deposits by four eyes: one operator enters a deposit, another one confirms it.

use time::OffsetDateTime;

use crate::Kopecks;
use crate::access::{Actor, Authority};
use crate::approval::{ApprovalError, Digest, Submission};
use crate::ids::PartnerId;
use crate::ledger::TransferReference;

/// A deposit that waits for another operator. It moves no money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingDeposit {
    /// The partner.
    pub partner: PartnerId,
    /// The reference of the payment, which deposits once.
    pub reference: TransferReference,
    /// Kopecks, above zero.
    pub amount: Kopecks,
    /// Who has entered it.
    pub by: Actor,
    /// When.
    pub at: OffsetDateTime,
}

impl PendingDeposit {
    /// As what waits for an approval. `digest` names partner, reference and amount.
    const fn submission(&self, digest: Digest) -> Submission<'_> {
        Submission { digest, creator: &self.by, submitter: &self.by, at: self.at }
    }

    /// Whether it has waited longer than [`approval::LIFETIME`](crate::approval::LIFETIME).
    #[must_use]
    pub fn is_expired(&self, now: OffsetDateTime) -> bool {
        self.submission(Digest::from_bytes([0; 32])).is_expired(now)
    }

    /// Whether `by`, who has seen `seen`, confirms it at `now`. `digest` names what it is.
    ///
    /// # Errors
    /// [`ApprovalError`]: who has entered it does not confirm it.
    pub fn confirm(
        &self,
        by: &Authority,
        digest: Digest,
        seen: Digest,
        now: OffsetDateTime,
    ) -> Result<(), ApprovalError> {
        self.submission(digest).approve(by, seen, now)
    }
}

#[cfg(test)]
mod tests {
    use time::Duration;
    use uuid::Uuid;

    use super::*;
    use crate::access::Scopes;

    #[test]
    fn another_operator_confirms_what_was_seen_in_time() {
        let operator = |number| Actor::User(Uuid::from_u128(number).into());
        let at = OffsetDateTime::UNIX_EPOCH;
        let deposit = PendingDeposit {
            partner: Uuid::nil().into(),
            reference: TransferReference::parse("INV-1").unwrap(),
            amount: Kopecks::new(100),
            by: operator(1),
            at,
        };
        let [digest, other] = [1, 2].map(|byte| Digest::from_bytes([byte; 32]));
        let confirm = |number, seen, hours| {
            let by = Authority { actor: operator(number), scopes: Scopes::ALL };
            deposit.confirm(&by, digest, seen, at + Duration::hours(hours))
        };
        assert_eq!(confirm(1, digest, 0), Err(ApprovalError::Forbidden));
        assert_eq!(confirm(2, other, 0), Err(ApprovalError::Changed));
        assert_eq!(confirm(2, digest, 72), Err(ApprovalError::Expired));
        assert_eq!(confirm(2, digest, 71), Ok(()));
        assert!(deposit.is_expired(at + Duration::hours(72)) && !deposit.is_expired(at));
    }
}
