//! API keys and sealing keys of a partner.

use kopeck_domain::ids::PartnerId;
use kopeck_port_security::{SecretBinding, SecurityError};
use kopeck_port_store::{SealingKeyRecord, StoreError, UnitOfWork};
use sha2::{Digest, Sha256};

use super::{AcceptedKey, ApiKeyOwner, TokenError, TokenService};

/// The table of sealing keys; part of the associated data of each encrypted secret.
pub(crate) const SEALING_KEY_TABLE: &str = "sealing_keys";
/// The column of [`SEALING_KEY_TABLE`].
pub(crate) const SEALING_KEY_COLUMN: &str = "encrypted_secret";

/// The stored hash of an API key. A key has 256 random bits, so one round of SHA-256 is enough, and the hash is its
/// look-up key.
#[must_use]
pub fn api_key_hash(api_key: &str) -> [u8; 32] {
    Sha256::digest(api_key.as_bytes()).into()
}

impl TokenService {
    /// The partner with this API key, also a suspended one.
    ///
    /// # Errors
    /// [`TokenError::Store`] or [`TokenError::Security`].
    pub fn identify(
        &self,
        unit: &mut dyn UnitOfWork,
        api_key: &str,
    ) -> Result<Option<ApiKeyOwner>, TokenError> {
        let Some(credentials) = unit.partners().by_api_key(&api_key_hash(api_key), self.env.now())? else {
            return Ok(None);
        };
        let keys = self.accepted_keys(unit, credentials.partner.id)?;
        Ok(Some(ApiKeyOwner { credentials, keys }))
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
        let place = SecretBinding {
            table: SEALING_KEY_TABLE,
            column: SEALING_KEY_COLUMN,
            partner,
            row: record.key_id.to_vec(),
        };
        let secret = self.secrets.decrypt(&place, &record.encrypted_secret).map_err(|error| match error {
            SecurityError::NotAuthentic => {
                TokenError::Store(StoreError::Corrupt(format!("{SEALING_KEY_TABLE}.{SEALING_KEY_COLUMN}")))
            }
            SecurityError::Failed(_) => TokenError::Security(error),
        })?;
        let is_used = record.first_used_at.is_some();
        Ok(AcceptedKey { id: record.key_id, secret, is_default: false, is_used })
    }
}

#[cfg(test)]
mod tests;
