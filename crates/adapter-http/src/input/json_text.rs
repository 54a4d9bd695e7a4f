//! JSON values of a request as text, which is read when a field is.
//!
//! A tree of the values would take up to 87 times the memory of the text. So none is built: a reader parses the fields
//! that it names, and skips the rest.

use std::borrow::Cow;
use std::fmt;

use actix_web::web::Bytes;
use kopeck_domain::Invalid;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::object::Object;

/// The text of a valid JSON value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonText<'a>(&'a str);

/// A [`JsonText`] that owns its text, or a part of a body: it keeps the memory of the whole body reserved.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct OwnedJson(Bytes);

impl<'a> JsonText<'a> {
    pub(crate) fn of(raw: &'a RawValue) -> Self {
        Self(raw.get())
    }

    pub(crate) const fn as_str(self) -> &'a str {
        self.0
    }

    pub(crate) fn is_null(self) -> bool {
        self.0 == "null"
    }

    pub(crate) fn is_list(self) -> bool {
        self.0.starts_with('[')
    }

    pub(crate) fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    pub(crate) fn is_number(self) -> bool {
        self.0.starts_with(|c: char| c == '-' || c.is_ascii_digit())
    }

    /// The value of a string, without a copy if it has no escapes.
    pub(crate) fn string(self) -> Option<Cow<'a, str>> {
        if !self.0.starts_with('"') {
            return None;
        }
        let plain = serde_json::from_str::<&str>(self.0).map(Cow::Borrowed);
        plain.or_else(|_| serde_json::from_str(self.0).map(Cow::Owned)).ok()
    }

    /// A number or a boolean.
    pub(crate) fn scalar<T: Deserialize<'a>>(self) -> Option<T> {
        serde_json::from_str(self.0).ok()
    }

    /// The fields of an object.
    pub(crate) fn object(self) -> Option<Object<'a>> {
        if self.is_object() { Object::of(self.0).ok() } else { None }
    }

    /// The items of a list, as far as `read` does not fail; `None` if it is no list.
    pub(crate) fn each(
        self,
        read: impl FnMut(JsonText<'a>) -> Result<(), Invalid>,
    ) -> Option<Result<(), Invalid>> {
        if !self.is_list() {
            return None;
        }
        let mut items = Items { read, fault: None };
        let read = serde_json::Deserializer::from_str(self.0).deserialize_seq(&mut items);
        match items.fault {
            Some(invalid) => Some(Err(invalid)),
            None => read.ok().map(Ok),
        }
    }

    /// The items of a list, those beyond `most` left out but for one; `None` if it is no list.
    pub(crate) fn list(self, most: usize) -> Option<Vec<JsonText<'a>>> {
        let mut items = Vec::new();
        let too_many = self.each(|item| {
            items.push(item);
            if items.len() > most { Err(Invalid::new("is too long")) } else { Ok(()) }
        });
        too_many.map(|_| items)
    }
}

/// Gives the items of a list to a function, one after the other.
struct Items<F> {
    read: F,
    fault: Option<Invalid>,
}

impl<'de, F: FnMut(JsonText<'de>) -> Result<(), Invalid>> Visitor<'de> for &mut Items<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element::<&RawValue>()? {
            if let Err(invalid) = (self.read)(JsonText::of(item)) {
                self.fault = Some(invalid);
                return Err(A::Error::custom("is faulty"));
            }
        }
        Ok(())
    }
}

impl OwnedJson {
    /// A value in `text`, without a copy.
    pub(crate) fn part(text: &Bytes, value: JsonText<'_>) -> Self {
        Self(text.slice_ref(value.0.as_bytes()))
    }

    /// The string `text`.
    pub(crate) fn string(text: &str) -> Self {
        // Serializing a string does not fail.
        Self(serde_json::to_vec(text).unwrap_or_default().into())
    }

    /// `text` if it is JSON, else the string `text`.
    pub(crate) fn or_string(text: &str) -> Self {
        match serde_json::from_str::<&RawValue>(text) {
            Ok(raw) => Self(Bytes::copy_from_slice(raw.get().as_bytes())),
            Err(_) => Self::string(text),
        }
    }

    pub(crate) fn text(&self) -> JsonText<'_> {
        // It comes from a text.
        JsonText(std::str::from_utf8(&self.0).unwrap_or_default())
    }
}

/// Values of requests are personal data.
impl fmt::Debug for JsonText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
}

impl fmt::Debug for OwnedJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
}

#[cfg(test)]
impl From<serde_json::Value> for OwnedJson {
    fn from(value: serde_json::Value) -> Self {
        Self(value.to_string().into())
    }
}

#[cfg(test)]
impl<'a> From<&'a str> for JsonText<'a> {
    fn from(text: &'a str) -> Self {
        let raw: &RawValue = serde_json::from_str(text).unwrap();
        Self::of(raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> JsonText<'_> {
        text.into()
    }

    #[test]
    fn a_value_is_read_as_what_it_is() {
        assert_eq!(text(r#""a\u0062 Ё""#).string().as_deref(), Some("ab Ё"));
        assert!(matches!(text(r#""ab""#).string(), Some(Cow::Borrowed("ab"))));
        assert_eq!(
            (text("7").string(), text("-7").scalar(), text("7.0").scalar::<i64>()),
            (None, Some(-7), None)
        );
        assert_eq!((text("true").scalar(), text("\"true\"").scalar::<bool>()), (Some(true), None));
        assert!(text(" null ").is_null() && !text("\"null\"").is_null());
        assert!(text("[]").object().is_none() && text("{}").object().is_some());
    }

    #[test]
    fn a_list_is_read_as_far_as_it_is_needed() {
        let items = |most| text("[1, [2], 3]").list(most).map(|items| items.len());
        assert_eq!((items(2), items(3), items(0)), (Some(3), Some(3), Some(1)));
        assert_eq!(text("{}").list(1), None);
        let mut seen = String::new();
        let read = text("[1, \"x\", 2]").each(|item| {
            seen.push_str(item.as_str());
            if item.string().is_some() { Err(Invalid::new("is text")) } else { Ok(()) }
        });
        assert_eq!((seen.as_str(), read), ("1\"x\"", Some(Err(Invalid::new("is text")))));
    }

    #[test]
    fn opened_text_is_json_or_a_string() {
        for (opened, value) in [(" [1] ", "[1]"), ("no json", "\"no json\""), ("1 2", "\"1 2\"")] {
            assert_eq!(OwnedJson::or_string(opened).text(), text(value));
        }
        assert_eq!(OwnedJson::string("a\"b").text(), text(r#""a\"b""#));
    }
}
