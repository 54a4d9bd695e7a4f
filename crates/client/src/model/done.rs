//! Responses without content.

use serde::Deserialize;
use serde::de::IgnoredAny;

/// A response without content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done;

impl<'de> Deserialize<'de> for Done {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_response_format_is_accepted_by_default() {
        for answer in ["null", "{}", r#"{"x":[1]}"#] {
            assert_eq!(serde_json::from_str::<Done>(answer).unwrap(), Done);
        }
    }
}
