//! A JSON object with the exact text of each field, which sealed fields are bound to.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::distinct;

/// The fields of a JSON object in their order, with unique names: for a duplicate one reader would take the first
/// value and another the last.
#[derive(Debug)]
pub(crate) struct Object<'a> {
    pub(crate) fields: Vec<(String, &'a RawValue)>,
}

impl<'a> Object<'a> {
    /// Reads a JSON text.
    ///
    /// # Errors
    /// A text for the client that contains nothing of the body.
    pub(crate) fn parse(text: &'a [u8]) -> Result<Self, String> {
        serde_json::from_slice(text).map_err(|error| match error.classify() {
            _ if text.starts_with("\u{feff}".as_bytes()) => {
                "must be JSON in UTF-8; it begins with a byte-order mark".to_owned()
            }
            _ if std::str::from_utf8(text).is_err() => "must be JSON in UTF-8; it is not UTF-8".to_owned(),
            serde_json::error::Category::Data => "must be a JSON object, each field given once".to_owned(),
            serde_json::error::Category::Syntax
            | serde_json::error::Category::Eof
            | serde_json::error::Category::Io => {
                format!("must be JSON; see line {}, column {}", error.line(), error.column())
            }
        })
    }
}

/// The value of a field. Fails as [`distinct::parse`] does.
pub(crate) fn value_of(raw: &RawValue) -> Option<Value> {
    distinct::parse(raw.get())
}

/// The text that sealed fields are bound to: JSON, strings without quotes.
pub(crate) fn bound_text(raw: &RawValue) -> String {
    serde_json::from_str::<String>(raw.get()).unwrap_or_else(|_| raw.get().to_owned())
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields: Vec<(String, &'de RawValue)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
                    if fields.len() == MAX_FIELDS {
                        return Err(A::Error::custom("there are too many fields"));
                    }
                    fields.push((name, value));
                }
                let mut names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
                names.sort_unstable();
                if !names.is_sorted_by(|one, next| one < next) {
                    return Err(A::Error::custom("a field is given twice"));
                }
                Ok(fields)
            }
        }

        deserializer.deserialize_map(Fields).map(|fields| Self { fields })
    }
}

/// The most fields at the top level of a body.
const MAX_FIELDS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(body: &str) -> Vec<(String, String)> {
        let object = Object::parse(body.as_bytes()).unwrap();
        object.fields.iter().map(|(name, raw)| (name.clone(), bound_text(raw))).collect()
    }

    #[test]
    fn fields_keep_their_text_and_strings_lose_their_quotes() {
        let expected = [("a", "1.50"), ("b", "Ё\"x"), ("c", "[1, {\"k\":2}]"), ("d", "null")]
            .map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(texts(r#"{"a": 1.50, "b":"\u0401\"x", "c":[1, {"k":2}], "d": null}"#), expected);
    }

    #[test]
    fn other_texts_are_refused_without_their_content() {
        for body in
            ["", "[1]", "7", "\"secret\"", "{", "{\"secret\":1,\"secret\":2}", "{\"a\":1}x", "\u{feff}{}"]
        {
            let error = Object::parse(body.as_bytes()).map(|_| ()).unwrap_err();
            assert!(!error.contains("secret") && error.starts_with("must be"), "{body}: {error}");
        }
    }

    #[test]
    fn another_encoding_is_called_so() {
        let refused = |body: &[u8]| Object::parse(body).map(|_| ()).unwrap_err();
        // `Водители` in Windows-1251, and UTF-16 with its mark.
        for body in [
            &b"{\"nameCategory\":\"\xc2\xee\xe4\xe8\xf2\xe5\xeb\xe8\"}"[..],
            b"\xff\xfe{\0}\0",
            b"{\"a\":\"\xFF\"}",
        ] {
            assert_eq!(refused(body), "must be JSON in UTF-8; it is not UTF-8");
        }
        assert_eq!(
            refused("\u{feff}{}".as_bytes()),
            "must be JSON in UTF-8; it begins with a byte-order mark"
        );
        assert_eq!(
            refused("{\"nameCategory\":\"Водители\"".as_bytes()),
            "must be JSON; see line 1, column 34"
        );
    }

    #[test]
    fn deep_nesting_is_no_value() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
        let object = Object::parse(deep.as_bytes());
        assert!(object.map_or(true, |object| object.fields.iter().all(|(_, raw)| value_of(raw).is_none())));
    }
}
