//! A JSON object with the exact text of each field, which sealed fields are bound to.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::json_text::JsonText;

/// The fields of a JSON object in their order.
#[derive(Debug, Default)]
pub(crate) struct Object<'a> {
    pub(crate) fields: Vec<(Cow<'a, str>, JsonText<'a>)>,
}

/// The most fields at the top level of a body.
const MAX_FIELDS: usize = 100;

impl<'a> Object<'a> {
    /// Reads a body: few fields with unique names, because for a duplicate one reader would take the first value and
    /// another the last.
    ///
    /// # Errors
    /// A text for the client that contains nothing of the body.
    pub(crate) fn parse(text: &'a [u8]) -> Result<Self, String> {
        serde_json::from_slice(text).map(|Body(object)| object).map_err(|error| match error.classify() {
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

    /// Reads an object within a body, whose names were checked with the body's.
    ///
    /// # Errors
    /// The text is no object.
    pub(super) fn of(text: &'a str) -> Result<Self, serde_json::Error> {
        let fields = serde_json::Deserializer::from_str(text).deserialize_map(Fields { most: usize::MAX })?;
        Ok(Self { fields })
    }

    /// The value of a field.
    pub(crate) fn get(&self, name: &str) -> Option<JsonText<'a>> {
        self.fields.iter().find(|(other, _)| other == name).map(|(_, value)| *value)
    }
}

/// The text that sealed fields are bound to: JSON, strings without quotes.
pub(crate) fn bound_text(value: JsonText<'_>) -> String {
    value.string().map_or_else(|| value.as_str().to_owned(), Cow::into_owned)
}

/// The object of a whole body.
struct Body<'a>(Object<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for Body<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = deserializer.deserialize_map(Fields { most: MAX_FIELDS })?;
        let mut names: Vec<&str> = fields.iter().map(|(name, _)| name.as_ref()).collect();
        names.sort_unstable();
        if !names.is_sorted_by(|one, next| one < next) {
            return Err(D::Error::custom("a field is given twice"));
        }
        Ok(Self(Object { fields }))
    }
}

struct Fields {
    most: usize,
}

impl<'de> Visitor<'de> for Fields {
    type Value = Vec<(Cow<'de, str>, JsonText<'de>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(name) = map.next_key_seed(Name)? {
            if fields.len() == self.most {
                return Err(A::Error::custom("there are too many fields"));
            }
            fields.push((name, JsonText::of(map.next_value::<&RawValue>()?)));
        }
        Ok(fields)
    }
}

/// The name of a field, without a copy if it has no escapes.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(body: &str) -> Vec<(String, String)> {
        let object = Object::parse(body.as_bytes()).unwrap();
        object.fields.iter().map(|(name, value)| (name.to_string(), bound_text(*value))).collect()
    }

    #[test]
    fn fields_keep_their_text_and_strings_lose_their_quotes() {
        let expected = [("a", "1.50"), ("b", "Ё\"x"), ("c", "[1, {\"k\":2}]"), ("d", "null")]
            .map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(texts(r#"{"a": 1.50, "b":"\u0401\"x", "c":[1, {"k":2}], "\u0064": null}"#), expected);
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
    fn an_object_has_its_fields_by_name() {
        let object = Object::of(r#"{"a":1,"\u0062":[2]}"#).unwrap();
        let text = |name| object.get(name).map(JsonText::as_str);
        assert_eq!((text("a"), text("b"), text("c")), (Some("1"), Some("[2]"), None));
    }
}
