//! Partners: the companies that run a card programme through the service.

use time::OffsetDateTime;

use crate::draft::Invalid;
use crate::ids::PartnerId;
use crate::string_enum::serde_enum;
use crate::text;

serde_enum! {
    /// Whether a partner may use the service.
    PartnerStatus {
        /// Yes.
        Active = "ACTIVE",
        /// No token and no sealing key of it is accepted.
        Suspended = "SUSPENDED",
    }
}

serde_enum! {
    /// Whether a partner has to seal its bodies. The service decides; it is never negotiated.
    SealingPolicy {
        /// Every body must be sealed.
        Required = "required",
        /// Plaintext is accepted.
        Optional = "optional",
    }
}

/// A partner, without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Partner {
    /// The service's identifier.
    pub id: PartnerId,
    /// Its name.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "serde_form::name"))]
    pub name: String,
    /// Its login.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "serde_form::login"))]
    pub login: String,
    /// Whether it may use the service.
    pub status: PartnerStatus,
    /// Whether it has to seal.
    pub sealing: SealingPolicy,
    /// The time of its creation.
    #[cfg_attr(feature = "serde", serde(with = "time::serde::rfc3339"))]
    pub created_at: OffsetDateTime,
}

/// Reads a partner's name, in NFC: 1..=128 characters; blanks around it are cut off.
///
/// # Errors
/// [`Invalid`] with the rule that is broken.
pub fn parse_name(text: &str) -> Result<String, Invalid> {
    text::parse(text.trim(), 128)
}

/// Reads a login: 1..=64 visible ASCII characters.
///
/// # Errors
/// [`Invalid`] with the rule that is broken.
pub fn parse_login(text: &str) -> Result<String, Invalid> {
    if text.is_empty() || text.len() > 64 || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Invalid::new("must have 1 to 64 visible ASCII characters"));
    }
    Ok(text.to_owned())
}

#[cfg(feature = "serde")]
mod serde_form {
    //! Reads names and logins by the rules of their parsers.

    use serde::de::{Deserialize as _, Deserializer, Error as _};

    pub(super) fn name<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
        super::parse_name(&String::deserialize(from)?).map_err(D::Error::custom)
    }

    pub(super) fn login<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
        super::parse_login(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_1_to_128_characters() {
        assert_eq!(parse_name("  Обед е\u{308} ").unwrap(), "Обед ё");
        assert!(parse_name(&"ж".repeat(128)).is_ok());
        for text in ["", "  ", "a\nb", &"ж".repeat(129)] {
            assert!(parse_name(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_login_has_1_to_64_visible_ascii_characters() {
        let longest = "l".repeat(64);
        for text in ["d", "demo@kopeck", &longest] {
            assert_eq!(parse_login(text).unwrap(), text);
        }
        for text in ["", " ", "a b", "a\n", "é", &"l".repeat(65)] {
            assert!(parse_login(text).is_err(), "{text:?}");
        }
    }
}
