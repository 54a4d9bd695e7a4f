//! The master key, and the keys derived from it.

use std::fmt;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hkdf::Hkdf;
use kopeck_port_system::Entropy;
use secrecy::SecretString;
use sha2::Sha256;
use zeroize::Zeroizing;

/// The length of a master key and of every derived key, in bytes.
pub(crate) const KEY_LEN: usize = 32;
/// The length of a key id, in bytes.
pub(crate) const KEY_ID_LEN: usize = 8;

/// Tools differ in the padding, so both forms are read.
const BASE64URL: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The master key of a deployment: 32 random bytes. Every instance on the same database has the same one.
///
/// `Debug` shows nothing of it, and dropping it wipes the memory.
#[derive(Clone)]
pub struct MasterKey(Zeroizing<[u8; KEY_LEN]>);

/// A text that is no master key. Holds none of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a master key is 32 bytes as base64url: 43 characters of A-Z a-z 0-9 - _")]
pub struct MasterKeyError;

impl MasterKey {
    /// The key with these bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; KEY_LEN]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// A new key.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = Zeroizing::new([0; KEY_LEN]);
        entropy.fill(&mut bytes[..]);
        Self(bytes)
    }

    /// Reads the text form, base64url with or without padding.
    ///
    /// # Errors
    /// [`MasterKeyError`] if the text is anything else than exactly 32 bytes.
    pub fn parse(text: &str) -> Result<Self, MasterKeyError> {
        let decoded = Zeroizing::new(BASE64URL.decode(text).map_err(|_| MasterKeyError)?);
        let bytes: &[u8; KEY_LEN] = decoded.as_slice().try_into().map_err(|_| MasterKeyError)?;
        Ok(Self::from_bytes(*bytes))
    }

    /// The text form, for the file that keeps the key.
    #[must_use]
    pub fn to_text(&self) -> SecretString {
        BASE64URL.encode(&self.0[..]).into()
    }

    /// The key for one purpose, independent of the others.
    pub(crate) fn derive(&self, purpose: Purpose) -> Zeroizing<[u8; KEY_LEN]> {
        let mut key = Zeroizing::new([0; KEY_LEN]);
        self.expand(purpose.label(), &mut key[..]);
        key
    }

    /// The key id in the header of a token; public.
    pub(crate) fn token_key_id(&self) -> String {
        let mut id = [0; 8];
        self.expand(b"kopeck/v1/token-key-id", &mut id);
        id.iter().fold(String::with_capacity(2 * id.len()), |mut text, byte| {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// The key id in audit signatures; public.
    pub(crate) fn audit_key_id(&self) -> [u8; KEY_ID_LEN] {
        let mut id = [0; KEY_ID_LEN];
        self.expand(b"kopeck/v1/audit-key-id", &mut id);
        id
    }

    /// The key id in encrypted secrets; public.
    pub(crate) fn secret_key_id(&self) -> [u8; KEY_ID_LEN] {
        let mut id = [0; KEY_ID_LEN];
        self.expand(b"kopeck/v1/secret-key-id", &mut id);
        id
    }

    #[expect(clippy::expect_used, reason = "HKDF-SHA256 fails above 8,160 bytes only")]
    fn expand(&self, label: &[u8], out: &mut [u8]) {
        Hkdf::<Sha256>::new(None, &self.0[..]).expand(label, out).expect("the length is valid");
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterKey([REDACTED])")
    }
}

/// The purpose of a derived key. Stored secrets depend on the labels, which never change.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    Tokens,
    Secrets,
    Fingerprints,
    Audit,
}

impl Purpose {
    const fn label(self) -> &'static [u8] {
        match self {
            Self::Tokens => b"kopeck/v1/tokens",
            Self::Secrets => b"kopeck/v1/secrets",
            Self::Fingerprints => b"kopeck/v1/fingerprints",
            Self::Audit => b"kopeck/v1/audit",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use kopeck_port_system::fake::SeededEntropy;
    use secrecy::ExposeSecret as _;

    use super::*;

    #[test]
    fn the_text_form_leads_back_to_the_key() {
        let key = MasterKey::generate(&SeededEntropy::new(1));
        let text = key.to_text();
        assert_eq!(text.expose_secret().len(), 43);
        assert_eq!(MasterKey::parse(text.expose_secret()).unwrap().0, key.0);
        assert_eq!(MasterKey::parse(&format!("{}=", text.expose_secret())).unwrap().0, key.0);
    }

    #[test]
    fn other_texts_are_no_key() {
        for text in
            ["", "A", &"A".repeat(42), &"A".repeat(44), &"+".repeat(43), &"я".repeat(43), &"B".repeat(43)]
        {
            assert_eq!(MasterKey::parse(text).map(|_| ()), Err(MasterKeyError), "{text}");
        }
    }

    #[test]
    fn debug_shows_nothing() {
        assert_eq!(format!("{:?}", MasterKey::from_bytes([7; 32])), "MasterKey([REDACTED])");
    }

    #[test]
    fn every_use_and_every_master_key_has_a_key_of_its_own() {
        let keys: HashSet<[u8; KEY_LEN]> = [[1; 32], [2; 32]]
            .into_iter()
            .flat_map(|bytes| {
                let master = MasterKey::from_bytes(bytes);
                [Purpose::Tokens, Purpose::Secrets, Purpose::Fingerprints, Purpose::Audit]
                    .map(|purpose| *master.derive(purpose))
            })
            .collect();
        assert_eq!(keys.len(), 8);
    }

    #[test]
    fn the_key_id_is_stable() {
        let id = MasterKey::from_bytes([1; 32]).token_key_id();
        assert_eq!(id.len(), 16);
        assert_eq!(id, MasterKey::from_bytes([1; 32]).token_key_id());
        assert_ne!(id, MasterKey::from_bytes([2; 32]).token_key_id());
    }
}
