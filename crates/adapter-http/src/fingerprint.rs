//! The fingerprint of a request: SHA-256 over method, path and body by value.

use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use sha2::{Digest as _, Sha256};

use crate::input::json_text::JsonText;
use crate::operation::Operation;

/// The bytes of a body, the same for the same value: the order of fields does not matter.
///
/// They are written while the text is read, without a tree of its values, and are at most five times as long.
pub(crate) struct CanonicalBody(Vec<u8>);

impl CanonicalBody {
    /// The bytes of these fields, whose names are unique. `None` for duplicate names within a value, too deep nesting,
    /// numbers out of range and lone surrogates.
    pub(crate) fn of<'f>(fields: impl IntoIterator<Item = (&'f str, JsonText<'f>)>) -> Option<Self> {
        let mut fields: Vec<_> = fields.into_iter().collect();
        fields.sort_unstable_by_key(|(name, _)| *name);
        let mut bytes = Vec::new();
        length(&mut bytes, fields.len());
        for (name, value) in fields {
            text(&mut bytes, name);
            let mut deserializer = serde_json::Deserializer::from_str(value.as_str());
            Canonical(&mut bytes).deserialize(&mut deserializer).ok()?;
        }
        Some(Self(bytes))
    }
}

impl CanonicalBody {
    /// The bytes of a file and of the parameters of its query, which are unique.
    pub(crate) fn of_file<'f>(file: &[u8], parameters: impl IntoIterator<Item = (&'f str, &'f str)>) -> Self {
        let mut parameters: Vec<_> = parameters.into_iter().collect();
        parameters.sort_unstable();
        let mut bytes = Vec::with_capacity(file.len());
        length(&mut bytes, parameters.len());
        for (name, value) in parameters {
            text(&mut bytes, name);
            text(&mut bytes, value);
        }
        // No JSON value begins so.
        bytes.push(b'f');
        bytes.extend_from_slice(file);
        Self(bytes)
    }
}

/// The fingerprint of an opened request. `PATCH` counts as `PUT`; sealing, the order of fields and the letter case of
/// identifiers do not matter.
pub(crate) fn of(operation: &Operation, ids: &[(&'static str, String)], body: &CanonicalBody) -> [u8; 32] {
    // Hashed at once: a digest of many short pieces takes several times as long.
    let mut head = Vec::new();
    text(&mut head, operation.method.as_str());
    text(&mut head, operation.path);
    for (name, id) in ids {
        text(&mut head, name);
        text(&mut head, &id.to_ascii_lowercase());
    }
    Sha256::new().chain_update(&head).chain_update(&body.0).finalize().into()
}

/// Length-prefixed, so that no two lists of texts have the same bytes.
fn text(bytes: &mut Vec<u8>, text: &str) {
    length(bytes, text.len());
    bytes.extend_from_slice(text.as_bytes());
}

fn length(bytes: &mut Vec<u8>, length: usize) {
    bytes.extend_from_slice(&(length as u64).to_le_bytes());
}

/// Writes a length that is known only after what it counts.
fn set_length(bytes: &mut [u8], at: usize, length: usize) {
    if let Some(place) = bytes.get_mut(at..at + size_of::<u64>()) {
        place.copy_from_slice(&(length as u64).to_le_bytes());
    }
}

/// Writes a value with a tag of its type. The recursion is bounded: too deep values do not parse.
struct Canonical<'b>(&'b mut Vec<u8>);

impl<'de> DeserializeSeed<'de> for Canonical<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Canonical<'_> {
    fn number(self, number: &Number) {
        self.0.push(b'#');
        text(self.0, &canonical(number));
    }
}

impl<'de> Visitor<'de> for Canonical<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.push(b'n');
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.0.push(if value { b't' } else { b'f' });
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.number(&value.into());
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.number(&value.into());
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number is out of range"))?;
        self.number(&number);
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.0.push(b's');
        text(self.0, value);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.0.push(b'[');
        let at = self.0.len();
        length(self.0, 0);
        let mut count = 0;
        while items.next_element_seed(Canonical(self.0))?.is_some() {
            count += 1;
        }
        set_length(self.0, at, count);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.0.push(b'{');
        let at = self.0.len();
        length(self.0, 0);
        let (first, mut fields) = (self.0.len(), Vec::new());
        while let Some(name) = map.next_key_seed(Name(self.0))? {
            let start = name.start - first - size_of::<u64>();
            map.next_value_seed(Canonical(self.0))?;
            let name = name.start - first..name.end - first;
            fields.push(Field { name, whole: start..self.0.len() - first });
        }
        set_length(self.0, at, fields.len());
        if sort(self.0, first, fields) { Ok(()) } else { Err(A::Error::custom("a name is given twice")) }
    }
}

/// A field of an object among its bytes, from its first field on.
struct Field {
    name: Range<usize>,
    whole: Range<usize>,
}

/// Writes the name of a field, and tells where it stands.
struct Name<'b>(&'b mut Vec<u8>);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Range<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Range<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        text(self.0, name);
        let end = self.0.len();
        Ok(end - name.len()..end)
    }
}

/// Sorts the fields that stand from `first` on by their names. Fails for equal names.
fn sort(bytes: &mut Vec<u8>, first: usize, mut fields: Vec<Field>) -> bool {
    let written = bytes.get(first..).unwrap_or_default();
    let name = |field: &Field| written.get(field.name.clone()).unwrap_or_default();
    if fields.is_sorted_by(|one, next| name(one) < name(next)) {
        return true;
    }
    fields.sort_unstable_by(|one, other| name(one).cmp(name(other)));
    if !fields.is_sorted_by(|one, next| name(one) < name(next)) {
        return false;
    }
    let mut sorted = Vec::with_capacity(written.len());
    for field in &fields {
        sorted.extend_from_slice(written.get(field.whole.clone()).unwrap_or_default());
    }
    bytes.truncate(first);
    bytes.append(&mut sorted);
    true
}

/// The same text for the same number: `1`, `1.0` and `1e0` are one.
fn canonical(number: &Number) -> String {
    /// Every smaller whole number has an exact double.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(double) if number.is_f64() && double.fract() == 0.0 && double.abs() < EXACT => {
            // Adding zero turns a negative zero into a positive one.
            format!("{:.0}", double + 0.0)
        }
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests;
