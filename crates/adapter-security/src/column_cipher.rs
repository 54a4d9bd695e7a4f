//! Encryption of the store's columns under the master keys.

use kopeck_port_security::{SecretBinding, SecretBox, SecurityError};
use kopeck_port_store::{ColumnCipher, ColumnPlace, StoreError};
use secrecy::{ExposeSecret as _, SecretSlice};

use crate::secret_box::MasterKeyBox;

fn binding(place: &ColumnPlace<'_>) -> SecretBinding {
    let ColumnPlace { table, column, partner, row } = *place;
    SecretBinding { table, column, partner, row: row.to_vec() }
}

fn refused(place: &ColumnPlace<'_>, error: SecurityError) -> StoreError {
    match error {
        SecurityError::NotAuthentic => StoreError::Corrupt(format!("{}.{}", place.table, place.column)),
        SecurityError::Failed(reason) => StoreError::Failed(reason),
    }
}

/// Encrypts columns as it encrypts secrets.
impl ColumnCipher for MasterKeyBox {
    fn encrypt(&self, place: &ColumnPlace<'_>, plaintext: &[u8]) -> Result<Vec<u8>, StoreError> {
        let secret = SecretSlice::from(plaintext.to_vec());
        SecretBox::encrypt(self, &binding(place), &secret).map_err(|error| refused(place, error))
    }

    fn decrypt(&self, place: &ColumnPlace<'_>, stored: &[u8]) -> Result<Vec<u8>, StoreError> {
        let secret =
            SecretBox::decrypt(self, &binding(place), stored).map_err(|error| refused(place, error))?;
        Ok(secret.expose_secret().to_vec())
    }

    fn digests(&self, column: &'static str, plaintext: &[u8]) -> Vec<[u8; 32]> {
        self.fingerprints(column, plaintext)
    }

    fn current_prefix(&self) -> Vec<u8> {
        SecretBox::current_prefix(self)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kopeck_domain::ids::PartnerId;
    use kopeck_port_system::fake::SeededEntropy;
    use uuid::Uuid;

    use super::*;
    use crate::{KeyRing, MasterKey};

    fn columns(keys: &[u8]) -> Arc<dyn ColumnCipher> {
        let keys: Vec<MasterKey> = keys.iter().map(|byte| MasterKey::from_bytes([*byte; 32])).collect();
        let (first, accepted) = keys.split_first().unwrap();
        let ring = KeyRing::with_accepted(first, accepted);
        Arc::new(MasterKeyBox::new(ring, Arc::new(SeededEntropy::new(1))))
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
        assert_eq!(columns(&[2, 1]).digests("users.login", b"a"), {
            let of = |key| columns(&[key]).digests("users.login", b"a");
            [of(2), of(1)].concat()
        });
        assert_ne!(columns(&[1]).digests("users.login", b"a"), columns(&[1]).digests("users.phone", b"a"));
        let elsewhere = ColumnPlace { column: "email", ..place };
        assert_eq!(columns(&[1]).decrypt(&elsewhere, &stored), corrupt("employees.email"));
    }
}
