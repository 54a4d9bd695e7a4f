//! Categories of employees.

use std::fmt;

use crate::ids::CategoryId;
use crate::text::{self, partner_name};

partner_name! {
    /// The name of a category, unique per partner without regard to letter case and to how its letters are composed.
    CategoryName
}

impl CategoryName {
    /// The form in which two names are compared.
    #[must_use]
    pub fn folded(&self) -> String {
        text::folded(&self.0)
    }
}

impl fmt::Display for CategoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A category of employees: a plain record, whose rules are its name's.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Category {
    /// The service's identifier.
    pub id: CategoryId,
    /// Its name.
    pub name: CategoryName,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_trimmed_and_compared_without_letter_case() {
        let name = CategoryName::parse("  Обед Ё  ").unwrap();
        assert_eq!((name.as_str(), name.folded().as_str()), ("Обед Ё", "обед ё"));
        assert_eq!(name.to_string(), "Обед Ё");
        let twin = CategoryName::parse("ОБЕД Е\u{308}").unwrap();
        assert_eq!((twin.as_str(), twin.folded()), ("ОБЕД Ё", name.folded()));
        for text in ["", "  ", "a\nb", "a\u{200b}b", "\u{202e}ab", &"ж".repeat(129)] {
            assert!(CategoryName::parse(text).is_err(), "{text:?}");
        }
        assert!(CategoryName::parse(&format!(" {} ", "ж".repeat(128))).is_ok());
    }

    proptest! {
        #[test]
        fn parsing_twice_is_parsing_once(text in ".*") {
            if let Ok(name) = CategoryName::parse(&text) {
                prop_assert_eq!(CategoryName::parse(name.as_str()), Ok(name));
            }
        }
    }
}
