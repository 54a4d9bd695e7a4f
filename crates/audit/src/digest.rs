//! Hashes, and their text.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use kopeck_domain::Invalid;
use kopeck_domain::ids::PartnerId;

/// A SHA-256. Its text is hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The hash with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The hash of `bytes`.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || Invalid::new("must be 64 hexadecimal digits");
        let digits: Option<Vec<u8>> =
            text.chars().map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
        let digits: [u8; 64] = digits.and_then(|digits| digits.try_into().ok()).ok_or_else(wrong)?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = pair.iter().fold(0, |byte, digit| (byte << 4) | digit);
        }
        Ok(Self(bytes))
    }
}

/// The digest of an idempotency key, whose text is the partner's own and may be personal. The key leads to its entry; the
/// entry does not lead to the key, unless the key can be guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyDigest([u8; 16]);

impl KeyDigest {
    /// The digest of a partner's key. Equal keys of two partners have different digests.
    #[must_use]
    pub fn of(partner: PartnerId, key: &str) -> Self {
        let digest = Sha256::new().chain_update(partner.uuid()).chain_update(key).finalize();
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(digest).for_each(|(byte, from)| *byte = from);
        Self(bytes)
    }

    /// The one with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for KeyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_hash_is_read_as_it_is_written() {
        let hash = Digest::of(b"kopeck");
        assert_eq!(hash.to_string().parse::<Digest>(), Ok(hash));
        assert_eq!(hash.to_string().to_uppercase().parse::<Digest>(), Ok(hash));
        for wrong in ["", "00", &"0".repeat(63), &"0".repeat(65), &"g".repeat(64), &"é".repeat(64)] {
            assert!(wrong.parse::<Digest>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_key_is_its_partners_own() {
        let [one, two] = [1, 2].map(|id| PartnerId::new(Uuid::from_u128(id)));
        assert_eq!(KeyDigest::of(one, "k"), KeyDigest::of(one, "k"));
        assert_ne!(KeyDigest::of(one, "k"), KeyDigest::of(two, "k"));
        assert_ne!(KeyDigest::of(one, "k"), KeyDigest::of(one, "K"));
    }
}
