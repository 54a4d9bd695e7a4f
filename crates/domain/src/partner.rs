//! Partners: the companies that run a card programme through the service.

use time::OffsetDateTime;

use crate::ids::PartnerId;
use crate::invalid::Invalid;
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
pub struct Partner {
    /// The service's identifier.
    pub id: PartnerId,
    /// Its name.
    pub name: String,
    /// Its login.
    pub login: String,
    /// Whether it may use the service.
    pub status: PartnerStatus,
    /// Whether it has to seal.
    pub sealing: SealingPolicy,
    /// The time of its creation.
    pub created_at: OffsetDateTime,
}

/// Reads a partner's name, in NFC: 1..=128 characters; blanks around it are cut off.
///
/// # Errors
/// [`Invalid`] with the rule that is broken.
pub fn parse_name(text: &str) -> Result<String, Invalid> {
    text::parse(text.trim(), 128)
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
}
