//! Telephone numbers.

use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::shape::{HasShape, Shape};

/// A telephone number of ten digits, without country code.
///
/// The service writes it as a string here and as an integer there, where its leading zeros are lost; both are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phone {
    digits: String,
    as_integer: bool,
}

impl Phone {
    /// The same number, written as an integer.
    #[must_use]
    pub fn written_as_integer(self) -> Self {
        Self { as_integer: true, ..self }
    }
}

impl From<String> for Phone {
    fn from(digits: String) -> Self {
        Self { digits, as_integer: false }
    }
}

impl Deref for Phone {
    type Target = str;

    fn deref(&self) -> &str {
        &self.digits
    }
}

impl Serialize for Phone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.digits.parse() {
            Ok(number) if self.as_integer => serializer.serialize_u64(number),
            _ => serializer.serialize_str(&self.digits),
        }
    }
}

impl<'de> Deserialize<'de> for Phone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Text(String),
            Integer(u64),
        }
        Ok(Self::from(match Form::deserialize(deserializer)? {
            Form::Text(text) => text,
            Form::Integer(number) => format!("{number:010}"),
        }))
    }
}

impl HasShape for Phone {
    const SHAPE: Shape = Shape::Phone;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phones_are_taken_in_both_forms() {
        let phone = |json: &str| serde_json::from_str::<Option<Phone>>(json).unwrap();
        assert_eq!(phone("\"9031234567\"").as_deref(), Some("9031234567"));
        assert_eq!(phone("9031234567").as_deref(), Some("9031234567"));
        assert_eq!(phone("31234567").as_deref(), Some("0031234567"));
        assert_eq!(phone("null"), None);
    }

    #[test]
    fn a_phone_is_written_as_a_string_or_as_an_integer() {
        let phone = Phone::from("0031234567".to_owned());
        assert_eq!(serde_json::to_string(&phone).unwrap(), "\"0031234567\"");
        assert_eq!(serde_json::to_string(&phone.written_as_integer()).unwrap(), "31234567");
    }
}
