//! API keys and sealing keys of a partner.

use kopeck_domain::ids::PartnerId;
use kopeck_domain::partner::Partner;
use kopeck_port_security::{SecretBinding, SecurityError};
use kopeck_port_store::{CredentialRecord, Credentials, SealingKeyRecord, StoreError, UnitOfWork};
use secrecy::SecretSlice;
use sha2::{Digest, Sha256};

use super::{AcceptedKey, ApiKeyOwner, TokenError, TokenService};

/// The column of a sealing key's secret; with the table a part of the associated data of each.
const SECRET_COLUMN: &str = "encrypted_secret";

/// The place of the secret of a partner's sealing key.
pub(crate) fn sealing_key_place(partner: PartnerId, key_id: [u8; 8]) -> SecretBinding {
    SecretBinding { table: "sealing_keys", column: SECRET_COLUMN, partner, row: key_id.to_vec() }
}

/// The place of the secret of a scoped credential's sealing key.
pub(crate) fn credential_key_place(partner: PartnerId, key_id: [u8; 8]) -> SecretBinding {
    SecretBinding { table: "credentials", column: SECRET_COLUMN, partner, row: key_id.to_vec() }
}

/// The stored hash of an API key. A key has 256 random bits, so one round of SHA-256 is enough, and the hash is its
/// look-up key.
#[must_use]
pub fn api_key_hash(api_key: &str) -> [u8; 32] {
    Sha256::digest(api_key.as_bytes()).into()
}

impl TokenService {
    /// The partner with this API key, its own or that of a scoped credential; also a suspended one.
    ///
    /// # Errors
    /// [`TokenError::Store`] or [`TokenError::Security`].
    pub fn identify(
        &self,
        unit: &mut dyn UnitOfWork,
        api_key: &str,
    ) -> Result<Option<ApiKeyOwner>, TokenError> {
        let hash = api_key_hash(api_key);
        if let Some(credentials) = unit.partners().by_api_key(&hash, self.env.now())? {
            let keys = self.accepted_keys(unit, credentials.partner.id)?;
            return Ok(Some(ApiKeyOwner { credentials, keys, credential: None }));
        }
        let Some((partner, record)) = unit.credentials().by_api_key(&hash)? else { return Ok(None) };
        let Some(partner) = unit.partners().get(partner)? else { return Ok(None) };
        let keys = vec![self.credential_key(partner.id, &record)?];
        let CredentialRecord { credential, login, api_key_hash, password_hash, .. } = record;
        let credentials = Credentials { partner: Partner { login, ..partner }, api_key_hash, password_hash };
        Ok(Some(ApiKeyOwner { credentials, keys, credential: Some(credential) }))
    }

    /// The sealing key of a scoped credential. It has no other, so it seals what the service seals unasked too.
    pub(super) fn credential_key(
        &self,
        partner: PartnerId,
        record: &CredentialRecord,
    ) -> Result<AcceptedKey, TokenError> {
        let place = credential_key_place(partner, record.key_id);
        let secret = self.open_secret(&place, &record.encrypted_secret)?;
        Ok(AcceptedKey { id: record.key_id, secret, is_default: true, is_used: true })
    }

    /// The partner's sealing keys that are accepted at present, newest first.
    ///
    /// The default key is the newest that the partner has used, so that it can open what the service seals unasked. If it
    /// has used none, it has the oldest for the longest time.
    pub(super) fn accepted_keys(
        &self,
        unit: &mut dyn UnitOfWork,
        partner: PartnerId,
    ) -> Result<Vec<AcceptedKey>, TokenError> {
        let now = self.env.now();
        let records = unit.partners().sealing_keys(partner)?;
        let accepted = records.iter().filter(|record| record.accepted_until.is_none_or(|until| until > now));
        let mut keys: Vec<AcceptedKey> =
            accepted.map(|record| self.open_key(partner, record)).collect::<Result<_, _>>()?;
        let default = keys.iter().position(|key| key.is_used).or_else(|| keys.len().checked_sub(1));
        if let Some(key) = default.and_then(|default| keys.get_mut(default)) {
            key.is_default = true;
        }
        Ok(keys)
    }

    /// A keyed digest of `value` for this purpose, the same on every instance with the same master key.
    #[must_use]
    pub fn fingerprint(&self, purpose: &'static str, value: &[u8]) -> [u8; 32] {
        self.secrets.fingerprint(purpose, value)
    }

    /// Notes that the partner has sealed with a key.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn mark_key_used(
        &self,
        unit: &mut dyn UnitOfWork,
        partner: PartnerId,
        key_id: [u8; 8],
    ) -> Result<(), StoreError> {
        unit.partners().mark_sealing_key_used(partner, key_id, self.env.now())
    }

    /// The key under which the partner's events are encrypted, if it has one.
    ///
    /// # Errors
    /// [`TokenError::Store`] or [`TokenError::Security`].
    pub fn default_key(
        &self,
        unit: &mut dyn UnitOfWork,
        partner: PartnerId,
    ) -> Result<Option<AcceptedKey>, TokenError> {
        Ok(self.accepted_keys(unit, partner)?.into_iter().find(|key| key.is_default))
    }

    fn open_key(&self, partner: PartnerId, record: &SealingKeyRecord) -> Result<AcceptedKey, TokenError> {
        let place = sealing_key_place(partner, record.key_id);
        let secret = self.open_secret(&place, &record.encrypted_secret)?;
        let is_used = record.first_used_at.is_some();
        Ok(AcceptedKey { id: record.key_id, secret, is_default: false, is_used })
    }

    fn open_secret(&self, place: &SecretBinding, encrypted: &[u8]) -> Result<SecretSlice<u8>, TokenError> {
        self.secrets.decrypt(place, encrypted).map_err(|error| match error {
            SecurityError::NotAuthentic => {
                TokenError::Store(StoreError::Corrupt(format!("{}.{}", place.table, place.column)))
            }
            SecurityError::Failed(_) => TokenError::Security(error),
        })
    }
}

#[cfg(test)]
mod tests;
