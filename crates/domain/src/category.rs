//! Categories of employees.

use std::fmt;

use crate::draft::Invalid;
use crate::ids::CategoryId;

/// The name of a category: 1..=128 characters after trimming, unique per partner without regard to letter case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CategoryName(String);

impl CategoryName {
    /// The most characters, without the blanks around them.
    pub const MAX_CHARS: usize = 128;

    /// Reads a name; blanks around it are cut off.
    ///
    /// # Errors
    /// [`Invalid`] with the rule that is broken.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(Invalid::new("must not be empty"));
        }
        if trimmed.chars().nth(Self::MAX_CHARS).is_some() {
            return Err(Invalid::new(format!("must have at most {} characters", Self::MAX_CHARS)));
        }
        if trimmed.chars().any(char::is_control) {
            return Err(Invalid::new("must not hold control characters"));
        }
        Ok(Self(trimmed.to_owned()))
    }

    /// The name as the partner spelt it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The form in which two names are compared.
    #[must_use]
    pub fn folded(&self) -> String {
        self.0.to_lowercase()
    }
}

impl fmt::Display for CategoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A category of employees.
#[derive(Debug, Clone, PartialEq, Eq)]
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
        for text in ["", "  ", "a\nb", &"ж".repeat(129)] {
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
