//! Encryption of the store's columns under the master keys.

use std::sync::Arc;

use kopeck_adapter_security::{KeyRing, MasterKeyBox};
use kopeck_port_security::{SecretBinding, SecretBox, SecurityError};
use kopeck_port_store::{ColumnCipher, ColumnPlace, StoreError};
use kopeck_port_system::Entropy;
use secrecy::{ExposeSecret as _, SecretSlice};

/// Encrypts columns as sealing keys are encrypted: under a key that is derived from the master key in use.
pub struct MasterKeyColumns(Arc<dyn SecretBox>);

impl MasterKeyColumns {
    /// Columns under `keys`, with nonces from `entropy`.
    #[must_use]
    pub fn new(keys: &Arc<KeyRing>, entropy: &Arc<dyn Entropy>) -> Self {
        Self(Arc::new(MasterKeyBox::new(Arc::clone(keys), Arc::clone(entropy))))
    }
}

fn secret_place(place: &ColumnPlace<'_>) -> SecretBinding {
    let ColumnPlace { table, column, partner, row } = *place;
    SecretBinding { table, column, partner, row: row.to_vec() }
}

fn refused(place: &ColumnPlace<'_>, error: SecurityError) -> StoreError {
    match error {
        SecurityError::NotAuthentic => StoreError::Corrupt(format!("{}.{}", place.table, place.column)),
        SecurityError::Failed(reason) => StoreError::Failed(reason),
    }
}

impl ColumnCipher for MasterKeyColumns {
    fn encrypt(&self, place: &ColumnPlace<'_>, plaintext: &[u8]) -> Result<Vec<u8>, StoreError> {
        let secret = SecretSlice::from(plaintext.to_vec());
        self.0.encrypt(&secret_place(place), &secret).map_err(|error| refused(place, error))
    }

    fn decrypt(&self, place: &ColumnPlace<'_>, stored: &[u8]) -> Result<Vec<u8>, StoreError> {
        let secret = self.0.decrypt(&secret_place(place), stored).map_err(|error| refused(place, error))?;
        Ok(secret.expose_secret().to_vec())
    }

    fn current_prefix(&self) -> Vec<u8> {
        self.0.current_prefix()
    }
}

#[cfg(test)]
mod tests {
    use kopeck_adapter_security::MasterKey;
    use kopeck_domain::ids::PartnerId;
    use kopeck_port_system::fake::SeededEntropy;
    use uuid::Uuid;

    use super::*;

    fn columns(keys: &[u8]) -> MasterKeyColumns {
        let keys: Vec<MasterKey> = keys.iter().map(|byte| MasterKey::from_bytes([*byte; 32])).collect();
        let (first, accepted) = keys.split_first().unwrap();
        let entropy: Arc<dyn Entropy> = Arc::new(SeededEntropy::new(1));
        MasterKeyColumns::new(&KeyRing::with_accepted(first, accepted), &entropy)
    }

    #[test]
    fn a_value_decrypts_in_its_place_alone() {
        let place = ColumnPlace {
            table: "employees",
            column: "phone",
            partner: PartnerId::new(Uuid::from_u128(1)),
            row: &[1],
        };
        let stored = columns(&[1]).encrypt(&place, b"9031234567").unwrap();
        assert!(stored.starts_with(&columns(&[1, 2]).current_prefix()));
        assert!(!stored.starts_with(&columns(&[2, 1]).current_prefix()));
        assert_eq!(columns(&[2, 1]).decrypt(&place, &stored), Ok(b"9031234567".to_vec()));
        let corrupt = |column: &str| Err(StoreError::Corrupt(column.to_owned()));
        assert_eq!(columns(&[2]).decrypt(&place, &stored), corrupt("employees.phone"));
        let elsewhere = ColumnPlace { row: &[2], ..place };
        assert_eq!(columns(&[1]).decrypt(&elsewhere, &stored), corrupt("employees.phone"));
        let elsewhere = ColumnPlace { column: "email", ..place };
        assert_eq!(columns(&[1]).decrypt(&elsewhere, &stored), corrupt("employees.email"));
    }
}
