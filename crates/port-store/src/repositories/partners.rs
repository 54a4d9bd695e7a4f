//! Partners, their keys and their sessions.

use crate::session::{SessionHolder, SessionOverview, TokenPair};
use kopeck_domain::ids::{CredentialId, PartnerId, SessionId, TokenPairId};
use kopeck_domain::partner::{Partner, PartnerStatus, SealingPolicy};
use time::OffsetDateTime;

use crate::{Credentials, ReencryptionCursor, SealingKeyRecord, StoreError, StoredPair};

/// Partners and their keys.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait PartnerRepository {
    /// Adds a partner with empty accounts. `Rule::PartnerLogin` if the login is taken.
    fn insert(&mut self, credentials: &Credentials) -> Result<(), StoreError>;
    /// The partner with this API key, or with it as its former one if that is accepted at `now`.
    fn by_api_key(
        &mut self,
        api_key_hash: &[u8; 32],
        now: OffsetDateTime,
    ) -> Result<Option<Credentials>, StoreError>;
    /// Gives the partner another API key. Its present one is the former one now, accepted until `former_until`; the
    /// one before that ends.
    fn replace_api_key(
        &mut self,
        id: PartnerId,
        api_key_hash: &[u8; 32],
        former_until: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// The timestamp from which the partner's former API key is no longer accepted; `None` if it never had another.
    fn former_api_key_until(&mut self, id: PartnerId) -> Result<Option<OffsetDateTime>, StoreError>;
    /// The partner with this identifier.
    fn get(&mut self, id: PartnerId) -> Result<Option<Partner>, StoreError>;
    /// All partners, oldest first.
    fn list(&mut self) -> Result<Vec<Partner>, StoreError>;
    /// The partner with this identifier, with its hashes.
    fn credentials(&mut self, id: PartnerId) -> Result<Option<Credentials>, StoreError>;
    /// Stores another password hash.
    fn set_password_hash(&mut self, id: PartnerId, password_hash: &str) -> Result<(), StoreError>;
    /// Suspends or resumes.
    fn set_status(&mut self, id: PartnerId, status: PartnerStatus) -> Result<(), StoreError>;
    /// Stores whether the partner has to seal.
    fn set_sealing(&mut self, id: PartnerId, policy: SealingPolicy) -> Result<(), StoreError>;
    /// Gives the partner another name.
    fn set_name(&mut self, id: PartnerId, name: &str) -> Result<(), StoreError>;
    /// Removes the partner with everything that belongs to it, for good; its audit entries stay. The work grows with
    /// what it has.
    fn delete(&mut self, id: PartnerId) -> Result<(), StoreError>;
    /// The partner's sealing keys, newest first, also those no longer accepted.
    fn sealing_keys(&mut self, id: PartnerId) -> Result<Vec<SealingKeyRecord>, StoreError>;
    /// Adds a sealing key.
    fn add_sealing_key(&mut self, id: PartnerId, key: &SealingKeyRecord) -> Result<(), StoreError>;
    /// Sets the timestamp from which a key is no longer accepted.
    fn end_sealing_key(
        &mut self,
        id: PartnerId,
        key_id: [u8; 8],
        until: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Stores when the partner first sealed with a key, unless that is known.
    fn mark_sealing_key_used(
        &mut self,
        id: PartnerId,
        key_id: [u8; 8],
        at: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Looks at the next `limit` rows with encrypted columns, of any partners, from `cursor` on, and encrypts the values anew
    /// that are under another key than the current one. Returns how many those were, and where the next step begins; `None`
    /// at the end.
    fn reencrypt_columns(
        &mut self,
        cursor: ReencryptionCursor,
        limit: u32,
    ) -> Result<(u64, Option<ReencryptionCursor>), StoreError>;
    /// Stores the secret of a sealing key as it is encrypted anew.
    fn reencrypt_sealing_key(
        &mut self,
        id: PartnerId,
        key_id: [u8; 8],
        encrypted_secret: &[u8],
    ) -> Result<(), StoreError>;
}

/// Logins and token pairs.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait SessionRepository {
    /// Starts a session, of the technical login or of a scoped credential.
    fn insert(
        &mut self,
        partner: PartnerId,
        session: SessionId,
        credential: Option<CredentialId>,
        at: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Revokes a session and with it every token that grew from it.
    fn revoke(&mut self, partner: PartnerId, session: SessionId) -> Result<(), StoreError>;
    /// Adds a pair to a session.
    fn insert_pair(
        &mut self,
        partner: PartnerId,
        session: SessionId,
        pair: &TokenPair,
    ) -> Result<(), StoreError>;
    /// A pair with its session.
    fn pair(&mut self, partner: PartnerId, pair: TokenPairId) -> Result<Option<StoredPair>, StoreError>;
    /// Stores a changed pair.
    fn update_pair(&mut self, partner: PartnerId, pair: &TokenPair) -> Result<(), StoreError>;
    /// Revokes the holder's sessions but the `keep` latest. Returns the number of revoked sessions.
    fn revoke_all_but(
        &mut self,
        partner: PartnerId,
        holder: SessionHolder,
        keep: u32,
    ) -> Result<u64, StoreError>;
    /// Revokes the sessions of the login that began this one, but this one. Returns the number of revoked sessions.
    fn revoke_others(&mut self, partner: PartnerId, keep: SessionId) -> Result<u64, StoreError>;
    /// Stores a use of a session, unless a later one is stored.
    #[expect(clippy::needless_lifetimes, reason = "the mock needs its name")]
    fn touch<'a>(
        &mut self,
        partner: PartnerId,
        session: SessionId,
        at: OffsetDateTime,
        address: Option<&'a str>,
    ) -> Result<(), StoreError>;
    /// The sessions of the login that began `session`, neither revoked nor at their end at `now`, the oldest first; none if
    /// there is no such session.
    fn list(
        &mut self,
        partner: PartnerId,
        session: SessionId,
        now: OffsetDateTime,
    ) -> Result<Vec<SessionOverview>, StoreError>;
    /// How many sessions of the partner are neither revoked nor at their end at `now`.
    fn active(&mut self, partner: PartnerId, now: OffsetDateTime) -> Result<u64, StoreError>;
    /// Removes pairs whose refresh token ended before `moment`, and sessions without pairs; `limit` rows at most.
    fn forget_expired(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError>;
}
