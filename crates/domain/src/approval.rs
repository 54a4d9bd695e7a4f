//! Approval: a second person agrees to what one person submits.
//!
//! Whatever moves more money than the partner's threshold waits, once it is submitted, for an actor that may approve and
//! has neither created nor submitted it. What they agree to is named by its [`Digest`].

use time::{Duration, OffsetDateTime};

use crate::Kopecks;
use crate::access::{Actor, Authority, Scope};
use crate::invalid::Invalid;

/// How long a submission waits for its approval.
pub const LIFETIME: Duration = Duration::hours(72);

/// SHA-256 over all that an approver agrees to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// 64 hexadecimal digits in lower case.
impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// As it is displayed; letters may be capitals.
impl std::str::FromStr for Digest {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new("must consist of 64 hexadecimal digits");
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(invalid());
        }
        let mut bytes = [0; 32];
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| invalid())?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| invalid())?;
        }
        Ok(Self(bytes))
    }
}

/// Whether moving `amount` needs an approval. A `threshold` of zero is none.
#[must_use]
pub fn is_needed(amount: Kopecks, threshold: Kopecks) -> bool {
    threshold.is_positive() && amount > threshold
}

/// What waits for its approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission<'a> {
    /// Names all that is submitted.
    pub digest: Digest,
    /// Who made it.
    pub creator: &'a Actor,
    /// Who submitted it.
    pub submitter: &'a Actor,
    /// When it was submitted.
    pub at: OffsetDateTime,
}

/// Why an actor cannot approve or refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ApprovalError {
    /// It may not approve, or it created or submitted what is to be approved.
    #[error("needs another actor that may approve")]
    Forbidden,
    /// It agrees to something else than was submitted.
    #[error("the digest is another one")]
    Changed,
    /// The submission has waited too long.
    #[error("the submission has expired")]
    Expired,
}

impl Submission<'_> {
    /// Whether it has waited longer than [`LIFETIME`].
    #[must_use]
    pub fn is_expired(&self, now: OffsetDateTime) -> bool {
        now - self.at >= LIFETIME
    }

    /// Whether `by` may approve or refuse it.
    ///
    /// # Errors
    /// [`ApprovalError::Forbidden`].
    pub fn permits(&self, by: &Authority) -> Result<(), ApprovalError> {
        let is_own = by.actor == *self.creator || by.actor == *self.submitter;
        if is_own || by.require(Scope::ApprovalsWrite).is_err() {
            return Err(ApprovalError::Forbidden);
        }
        Ok(())
    }

    /// Whether `by` approves it by naming `digest` at `now`.
    ///
    /// # Errors
    /// [`ApprovalError`], the first that applies in the order of its variants.
    pub fn approve(&self, by: &Authority, digest: Digest, now: OffsetDateTime) -> Result<(), ApprovalError> {
        self.permits(by)?;
        if digest != self.digest {
            return Err(ApprovalError::Changed);
        }
        if self.is_expired(now) { Err(ApprovalError::Expired) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Scopes;
    use uuid::Uuid;

    const DIGEST: Digest = Digest::from_bytes([0xa7; 32]);

    fn user(number: u128) -> Actor {
        Actor::User(Uuid::from_u128(number).into())
    }

    fn authority(actor: Actor) -> Authority {
        Authority { actor, scopes: Scopes::of(&[Scope::ApprovalsWrite]) }
    }

    fn submission<'a>(creator: &'a Actor, submitter: &'a Actor) -> Submission<'a> {
        Submission { digest: DIGEST, creator, submitter, at: OffsetDateTime::UNIX_EPOCH }
    }

    #[test]
    fn only_an_amount_above_the_threshold_needs_an_approval() {
        let is_needed = |amount, threshold| is_needed(Kopecks::new(amount), Kopecks::new(threshold));
        assert!(is_needed(101, 100) && is_needed(i64::MAX, 1));
        assert!(!is_needed(100, 100) && !is_needed(0, 100) && !is_needed(i64::MAX, 0));
    }

    #[test]
    fn neither_creator_nor_submitter_approves() {
        let (creator, submitter) = (user(1), Actor::Login);
        let submission = submission(&creator, &submitter);
        let approve = |actor| submission.approve(&authority(actor), DIGEST, submission.at);
        assert_eq!(approve(user(1)), Err(ApprovalError::Forbidden));
        assert_eq!(approve(Actor::Login), Err(ApprovalError::Forbidden));
        assert_eq!(approve(user(2)), Ok(()));
    }

    #[test]
    fn an_approver_needs_the_scope() {
        let (creator, submitter) = (user(1), user(2));
        let submission = submission(&creator, &submitter);
        let all_but = Scopes::of(&[Scope::RunsWrite, Scope::ReplenishmentsWrite]);
        let by = Authority { actor: user(3), scopes: all_but };
        assert_eq!(submission.approve(&by, DIGEST, submission.at), Err(ApprovalError::Forbidden));
        assert_eq!(submission.permits(&by), Err(ApprovalError::Forbidden));
    }

    #[test]
    fn an_approval_is_of_one_digest_and_in_time() {
        let (creator, submitter) = (user(1), user(2));
        let submission = submission(&creator, &submitter);
        let approve = |digest, hours| {
            submission.approve(&authority(user(3)), digest, submission.at + Duration::hours(hours))
        };
        assert_eq!(approve(Digest::from_bytes([0; 32]), 0), Err(ApprovalError::Changed));
        assert_eq!(approve(DIGEST, 71), Ok(()));
        assert_eq!(approve(DIGEST, 72), Err(ApprovalError::Expired));
    }

    #[test]
    fn a_digest_is_read_as_it_is_displayed() {
        let text = DIGEST.to_string();
        assert_eq!(text, "a7".repeat(32));
        assert_eq!(text.parse(), Ok(DIGEST));
        assert_eq!(text.to_uppercase().parse(), Ok(DIGEST));
        for text in ["", "a7", &"g".repeat(64), &"+7".repeat(32), &"é".repeat(32)] {
            assert!(text.parse::<Digest>().is_err(), "{text:?}");
        }
    }
}
