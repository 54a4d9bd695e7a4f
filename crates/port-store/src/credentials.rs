//! Scoped credentials of partners.
#![expect(clippy::missing_errors_doc, reason = "StoreError if the database fails")]

use kopeck_domain::credential::Credential;
use kopeck_domain::ids::{CredentialId, PartnerId};
use time::OffsetDateTime;

use crate::StoreError;

/// A scoped credential with what proves that a caller is it.
#[derive(Clone, PartialEq, Eq)]
pub struct CredentialRecord {
    /// The credential.
    pub credential: Credential,
    /// Its login.
    pub login: String,
    /// SHA-256 of its API key.
    pub api_key_hash: [u8; 32],
    /// argon2id text of its password.
    pub password_hash: String,
    /// The id of its sealing key.
    pub key_id: [u8; 8],
    /// The secret of its sealing key, encrypted under the master key.
    pub encrypted_secret: Vec<u8>,
}

/// Hashes stay out of logs.
impl std::fmt::Debug for CredentialRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CredentialRecord").field("credential", &self.credential).finish_non_exhaustive()
    }
}

/// Scoped credentials.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait CredentialRepository {
    /// Adds a credential.
    fn insert(&mut self, partner: PartnerId, record: &CredentialRecord) -> Result<(), StoreError>;
    /// The credential with this API key and its partner, unless it is revoked.
    fn by_api_key(
        &mut self,
        api_key_hash: &[u8; 32],
    ) -> Result<Option<(PartnerId, CredentialRecord)>, StoreError>;
    /// The credential with this identifier, also a revoked one.
    fn get(&mut self, partner: PartnerId, id: CredentialId) -> Result<Option<CredentialRecord>, StoreError>;
    /// The partner's credentials in the order of their creation, also revoked ones.
    fn list(&mut self, partner: PartnerId) -> Result<Vec<CredentialRecord>, StoreError>;
    /// Revokes a credential, unless it is.
    fn revoke(&mut self, partner: PartnerId, id: CredentialId, at: OffsetDateTime) -> Result<(), StoreError>;
    /// Stores the hash of its new password.
    fn set_password_hash(
        &mut self,
        partner: PartnerId,
        id: CredentialId,
        password_hash: &str,
    ) -> Result<(), StoreError>;
    /// Stores the secret of its sealing key as it is encrypted anew.
    fn reencrypt(
        &mut self,
        partner: PartnerId,
        id: CredentialId,
        encrypted_secret: &[u8],
    ) -> Result<(), StoreError>;
}
