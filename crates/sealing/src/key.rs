//! Sealing keys and the ids that name them.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use zeroize::Zeroizing;

const PREFIX: &str = "sk_";
const ID_LEN: usize = 8;
const SECRET_LEN: usize = 32;

/// The name of a [`SealingKey`], which travels in every sealed value. Not a secret.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId([u8; ID_LEN]);

impl KeyId {
    /// The id with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; ID_LEN]) -> Self {
        Self(bytes)
    }

    /// The bytes of the id.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; ID_LEN] {
        &self.0
    }
}

/// Lower-case hexadecimal digits.
impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

/// A partner's sealing key: a secret of 32 bytes and the id that names it.
///
/// `Debug` shows the id only, and the secret is wiped from memory when the key is dropped.
#[derive(Clone)]
pub struct SealingKey {
    id: KeyId,
    secret: Zeroizing<[u8; SECRET_LEN]>,
}

impl SealingKey {
    /// A key of its parts.
    #[must_use]
    pub fn new(id: KeyId, secret: [u8; SECRET_LEN]) -> Self {
        Self { id, secret: Zeroizing::new(secret) }
    }

    /// Reads the text form, `sk_` and base64url of id and secret.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the text is anything else. The error never holds any of the text.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let encoded = text.strip_prefix(PREFIX).ok_or(KeyError::Prefix)?;
        if encoded.len() != encoded_len() {
            return Err(KeyError::Length);
        }
        let mut bytes = Zeroizing::new([0_u8; ID_LEN + SECRET_LEN]);
        URL_SAFE_NO_PAD.decode_slice(encoded, &mut bytes[..]).map_err(|_| KeyError::Encoding)?;
        let mut id = [0; ID_LEN];
        let mut secret = Zeroizing::new([0; SECRET_LEN]);
        let (head, tail) = bytes.split_at(ID_LEN);
        id.copy_from_slice(head);
        secret.copy_from_slice(tail);
        Ok(Self { id: KeyId(id), secret })
    }

    /// The text form, as it is shown to the partner once.
    #[must_use]
    pub fn to_text(&self) -> Zeroizing<String> {
        let mut bytes = Zeroizing::new([0_u8; ID_LEN + SECRET_LEN]);
        let (head, tail) = bytes.split_at_mut(ID_LEN);
        head.copy_from_slice(&self.id.0);
        tail.copy_from_slice(&self.secret[..]);
        // The capacity is exact: a String that grows would leave copies that are not wiped.
        let mut text = Zeroizing::new(String::with_capacity(PREFIX.len() + encoded_len()));
        text.push_str(PREFIX);
        URL_SAFE_NO_PAD.encode_string(&bytes[..], &mut text);
        text
    }

    /// The id that names the key.
    #[must_use]
    pub const fn id(&self) -> KeyId {
        self.id
    }

    /// The secret, to store it.
    #[must_use]
    pub fn expose_secret(&self) -> &[u8; SECRET_LEN] {
        &self.secret
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealingKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Why a text is no sealing key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum KeyError {
    /// The text does not start with `sk_`.
    #[error("a sealing key starts with sk_")]
    Prefix,
    /// The text is too short or too long.
    #[error("a sealing key has 54 characters after sk_")]
    Length,
    /// The text is not base64url without padding.
    #[error("a sealing key is base64url without padding")]
    Encoding,
}

const fn encoded_len() -> usize {
    ((ID_LEN + SECRET_LEN) * 4).div_ceil(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> SealingKey {
        SealingKey::new(KeyId::from_bytes([0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0xF6, 0x07, 0x18]), [7; 32])
    }

    #[test]
    fn the_text_comes_back() {
        let text = key().to_text();
        assert!(text.starts_with("sk_obLD1OX2Bxg"), "{}", *text);
        let parsed = SealingKey::parse(&text).unwrap();
        assert_eq!(parsed.id(), key().id());
        assert_eq!(parsed.expose_secret(), &[7; 32]);
    }

    #[test]
    fn other_texts_are_errors() {
        let text = key().to_text();
        let error = |text: &str| SealingKey::parse(text).map(|key| key.id()).unwrap_err();
        assert_eq!(error(""), KeyError::Prefix);
        assert_eq!(error(&text["sk_".len()..]), KeyError::Prefix);
        assert_eq!(error("sk_"), KeyError::Length);
        assert_eq!(error(&text[..text.len() - 1]), KeyError::Length);
        assert_eq!(error(&format!("{}A", *text)), KeyError::Length);
        assert_eq!(error(&format!("{}=", &text[..text.len() - 1])), KeyError::Encoding);
        assert_eq!(error(&format!("{}/", &text[..text.len() - 1])), KeyError::Encoding);
        // The last character carries bits beyond the 40 bytes; they have to be zero.
        assert_eq!(error(&format!("{}_", &text[..text.len() - 1])), KeyError::Encoding);
        assert_eq!(error(&format!("sk_{}", "ж".repeat(27))), KeyError::Encoding);
    }

    #[test]
    fn debug_shows_no_secret() {
        assert_eq!(format!("{:?}", key()), "SealingKey { id: KeyId(a1b2c3d4e5f60718), .. }");
    }
}
