//! Secrets at rest, and fingerprints.

use std::sync::Arc;

use chacha20poly1305::{AeadInOut as _, Key, KeyInit as _, Tag, XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac as _};
use kopeck_port_security::{SecretBinding, SecretBox, SecurityError};
use kopeck_port_system::Entropy;
use secrecy::{ExposeSecret as _, SecretSlice};
use sha2::Sha256;
use zeroize::{Zeroize as _, Zeroizing};

use crate::master_key::KEY_ID_LEN;
use crate::pae::pae;
use crate::ring::{DerivedKeys, KeyRing};

/// The first byte of what is stored: a later format can tell itself from this one.
const FORMAT: u8 = 2;
/// Long enough to be drawn at random for every secret.
const NONCE_LEN: usize = 24;
const TAG_LEN: usize = 16;
/// The length of the header before the ciphertext.
const HEAD_LEN: usize = 1 + KEY_ID_LEN + NONCE_LEN;

/// Encrypts secrets at rest: `format 0x02 | key id, 8 bytes | nonce, 24 bytes | ciphertext | tag, 16 bytes`,
/// XChaCha20-Poly1305.
///
/// The associated data is the format, the key id and the place (table, column, partner, row) in PASETO's pre-authentication
/// encoding, so that a secret copied to another row, partner or column does not open there.
pub struct MasterKeyBox {
    ring: Arc<KeyRing>,
    entropy: Arc<dyn Entropy>,
}

impl MasterKeyBox {
    /// Encrypts under the first key of `ring`, decrypts under all of them, with nonces from `entropy`.
    #[must_use]
    pub fn new(ring: Arc<KeyRing>, entropy: Arc<dyn Entropy>) -> Self {
        Self { ring, entropy }
    }
}

fn cipher(keys: &DerivedKeys) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(<&Key>::from(&*keys.secrets))
}

#[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
fn fingerprint(keys: &DerivedKeys, purpose: &str, value: &[u8]) -> [u8; 32] {
    Hmac::<Sha256>::new_from_slice(&keys.fingerprints[..])
        .expect("any length is valid")
        .chain_update(pae(&[purpose.as_bytes(), value]))
        .finalize()
        .into_bytes()
        .into()
}

impl MasterKeyBox {
    /// The fingerprints under every accepted key, the current one first.
    pub(crate) fn fingerprints(&self, purpose: &str, value: &[u8]) -> Vec<[u8; 32]> {
        self.ring.keys().iter().map(|keys| fingerprint(keys, purpose, value)).collect()
    }
}

impl SecretBox for MasterKeyBox {
    fn encrypt(&self, place: &SecretBinding, secret: &SecretSlice<u8>) -> Result<Vec<u8>, SecurityError> {
        let keys = self.ring.current();
        let mut nonce = [0; NONCE_LEN];
        self.entropy.fill(&mut nonce);
        let secret = secret.expose_secret();
        // Exactly as long as it gets: growing would leave a copy of the secret behind.
        let mut stored = Vec::with_capacity(HEAD_LEN + secret.len() + TAG_LEN);
        stored.push(FORMAT);
        stored.extend_from_slice(&keys.secret_id);
        stored.extend_from_slice(&nonce);
        stored.extend_from_slice(secret);
        let (_, text) = stored.split_at_mut(HEAD_LEN);
        let data = associated_data(&keys.secret_id, place);
        match cipher(&keys).encrypt_inout_detached(&XNonce::from(nonce), &data, text.into()) {
            Ok(tag) => stored.extend_from_slice(&tag),
            Err(_) => {
                stored.zeroize();
                return Err(SecurityError::Failed("the secret is too long to encrypt".to_owned()));
            }
        }
        Ok(stored)
    }

    fn decrypt(&self, place: &SecretBinding, stored: &[u8]) -> Result<SecretSlice<u8>, SecurityError> {
        let Parts { key_id, nonce, text, tag } = parts(stored).ok_or(SecurityError::NotAuthentic)?;
        let keys = self.ring.find(|keys| keys.secret_id == key_id).ok_or(SecurityError::NotAuthentic)?;
        let mut secret = Zeroizing::new(text.to_vec());
        cipher(&keys)
            .decrypt_inout_detached(
                &XNonce::from(nonce),
                &associated_data(&key_id, place),
                secret.as_mut_slice().into(),
                &Tag::from(tag),
            )
            .map_err(|_| SecurityError::NotAuthentic)?;
        Ok(std::mem::take(&mut *secret).into())
    }

    fn is_current(&self, stored: &[u8]) -> bool {
        stored.starts_with(&self.current_prefix())
    }

    fn current_prefix(&self) -> Vec<u8> {
        [&[FORMAT], self.ring.current().secret_id.as_slice()].concat()
    }

    fn fingerprint(&self, purpose: &'static str, value: &[u8]) -> [u8; 32] {
        fingerprint(&self.ring.current(), purpose, value)
    }
}

/// A stored secret in its parts.
struct Parts<'a> {
    key_id: [u8; KEY_ID_LEN],
    nonce: [u8; NONCE_LEN],
    text: &'a [u8],
    tag: [u8; TAG_LEN],
}

/// The parts of a stored secret, if it has the form of one.
fn parts(stored: &[u8]) -> Option<Parts<'_>> {
    let (&format, rest) = stored.split_first()?;
    let (key_id, rest) = rest.split_first_chunk()?;
    let (nonce, rest) = rest.split_first_chunk()?;
    let (text, tag) = rest.split_last_chunk()?;
    (format == FORMAT).then_some(Parts { key_id: *key_id, nonce: *nonce, text, tag: *tag })
}

fn associated_data(key_id: &[u8; KEY_ID_LEN], place: &SecretBinding) -> Vec<u8> {
    pae(&[
        &[FORMAT],
        key_id,
        place.table.as_bytes(),
        place.column.as_bytes(),
        place.partner.uuid().as_bytes(),
        &place.row,
    ])
}

#[cfg(test)]
mod tests {
    use kopeck_domain::ids::PartnerId;
    use kopeck_port_system::fake::SeededEntropy;
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::ring::testing::{self, ring};

    fn vault() -> MasterKeyBox {
        vault_over(&ring(&[1]).0)
    }

    fn vault_over(ring: &Arc<KeyRing>) -> MasterKeyBox {
        MasterKeyBox::new(Arc::clone(ring), Arc::new(SeededEntropy::new(1)))
    }

    fn place() -> SecretBinding {
        SecretBinding {
            table: "sealing_keys",
            column: "secret",
            partner: PartnerId::new(Uuid::from_u128(1)),
            row: vec![1, 2, 3],
        }
    }

    fn secret(bytes: &[u8]) -> SecretSlice<u8> {
        bytes.to_vec().into()
    }

    fn refused(vault: &MasterKeyBox, place: &SecretBinding, stored: &[u8]) -> bool {
        matches!(vault.decrypt(place, stored), Err(SecurityError::NotAuthentic))
    }

    #[test]
    fn a_secret_opens_where_it_was_put() {
        for bytes in [&b""[..], b"x", &[7; 32], &[9; 1000]] {
            let stored = vault().encrypt(&place(), &secret(bytes)).unwrap();
            assert_eq!(stored.len(), 1 + 8 + 24 + bytes.len() + 16);
            assert_eq!(vault().decrypt(&place(), &stored).unwrap().expose_secret(), bytes);
        }
    }

    #[test]
    fn a_moved_secret_does_not_open() {
        let vault = vault();
        let stored = vault.encrypt(&place(), &secret(&[7; 32])).unwrap();
        let places = [
            SecretBinding { table: "partners", ..place() },
            SecretBinding { column: "other", ..place() },
            SecretBinding { partner: PartnerId::new(Uuid::from_u128(2)), ..place() },
            SecretBinding { row: vec![1, 2, 4], ..place() },
            SecretBinding { row: vec![], ..place() },
            // The same bytes in a row, cut elsewhere.
            SecretBinding { table: "sealing_key", column: "ssecret", ..place() },
        ];
        for other in places {
            assert!(refused(&vault, &other, &stored), "{other:?}");
        }
    }

    #[test]
    fn another_master_key_does_not_open_it() {
        let stored = vault().encrypt(&place(), &secret(&[7; 32])).unwrap();
        assert!(refused(&vault_over(&ring(&[2]).0), &place(), &stored));
    }

    #[test]
    fn a_secret_opens_under_its_key_as_long_as_that_is_accepted() {
        let (ring, source) = ring(&[1]);
        let vault = vault_over(&ring);
        let old = vault.encrypt(&place(), &secret(&[7; 32])).unwrap();
        let opens = |stored: &[u8]| vault.decrypt(&place(), stored).is_ok();
        // Another process has the new key already; this one looks for it when it meets it.
        let new = vault_over(&testing::ring(&[2, 1]).0).encrypt(&place(), &secret(&[8; 32])).unwrap();
        source.put(&[2, 1]);
        assert!(vault.is_current(&old) && !vault.is_current(&new));
        assert!(opens(&new) && opens(&old));
        assert!(vault.is_current(&new) && !vault.is_current(&old));
        assert!(vault.is_current(&vault.encrypt(&place(), &secret(&[7; 32])).unwrap()));
        source.put(&[2]);
        assert!(ring.refresh());
        assert!(opens(&new) && !opens(&old));
        assert!(!vault.is_current(b"no secret"));
    }

    #[test]
    fn every_changed_byte_and_every_cut_is_noticed() {
        let vault = vault();
        let stored = vault.encrypt(&place(), &secret(&[7; 8])).unwrap();
        for index in 0..stored.len() {
            let mut changed = stored.clone();
            *changed.get_mut(index).unwrap() ^= 1;
            assert!(refused(&vault, &place(), &changed), "byte {index}");
            assert!(refused(&vault, &place(), stored.split_at(index).0), "cut to {index}");
        }
    }

    #[test]
    fn one_secret_is_stored_differently_each_time() {
        let vault = vault();
        let stored = || vault.encrypt(&place(), &secret(&[7; 32])).unwrap();
        assert_ne!(stored(), stored());
    }

    #[test]
    fn fingerprints_depend_on_key_purpose_and_value() {
        let vault = vault();
        let other = vault_over(&ring(&[2]).0);
        let mark = vault.fingerprint("login", b"demo");
        assert_eq!(mark, vault.fingerprint("login", b"demo"));
        assert_ne!(mark, vault.fingerprint("address", b"demo"));
        assert_ne!(mark, vault.fingerprint("login", b"demO"));
        assert_ne!(mark, vault.fingerprint("logind", b"emo"));
        assert_ne!(mark, other.fingerprint("login", b"demo"));
    }

    proptest! {
        #[test]
        fn opening_never_panics(stored in prop::collection::vec(any::<u8>(), 0..100)) {
            prop_assert!(refused(&vault(), &place(), &stored));
        }
    }
}
