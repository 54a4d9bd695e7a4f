//! Nonces of sealed requests.
#![expect(clippy::missing_errors_doc, reason = "the methods say with which rule they fail")]

use kopeck_domain::ids::PartnerId;
use time::OffsetDateTime;

use crate::StoreError;

/// The nonce of a sealed request whose response was 2xx.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpentNonce {
    /// The `Idempotency-Key` of the request; `None` if it had none.
    pub idempotency_key: Option<String>,
    /// When it was spent.
    pub spent_at: OffsetDateTime,
}

/// Nonces of sealed requests, each spent with one idempotency key or with none.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait SealedNonceRepository {
    /// How the nonce was spent, if it was.
    fn find(&mut self, partner: PartnerId, nonce: &str) -> Result<Option<SpentNonce>, StoreError>;
    /// Spends a nonce, also one that was spent before `stale_before`.
    /// `Rule::SealedNonce` if it was spent later.
    fn spend(
        &mut self,
        partner: PartnerId,
        nonce: &str,
        spent: &SpentNonce,
        stale_before: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Removes nonces spent before `moment`, `limit` at most, the oldest first.
    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError>;
}
