//! Field types: from a value of a request to a value of the domain, with its schema.

use std::borrow::Cow;
use std::str::FromStr;

use kopeck_domain::Invalid;
use kopeck_domain::Kopecks;
use kopeck_port_store::page::Page;
use uuid::Uuid;

use super::Param;
use super::json_text::JsonText;
use crate::json::{Json, object};
use crate::schema::{Components, HasSchema};

/// A value of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum InputValue<'a> {
    /// Text of the path or the query.
    Text(&'a str),
    /// A value of a JSON body.
    Json(JsonText<'a>),
}

impl<'a> From<&'a Param> for InputValue<'a> {
    fn from(param: &'a Param) -> Self {
        match param {
            Param::Text(text) => Self::Text(text),
            Param::Json(value) => Self::Json(value.text()),
        }
    }
}

impl<'a> InputValue<'a> {
    pub(crate) fn as_text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Json(value) => value.string(),
        }
    }

    fn as_integer(self) -> Option<i64> {
        match self {
            Self::Text(text) => digits(text),
            Self::Json(value) => value.scalar(),
        }
    }

    /// The bound that an integer outside of `i64` exceeds.
    fn beyond(self) -> Option<i64> {
        let (is_integer, is_negative) = match self {
            Self::Text(text) => {
                let digits = text.strip_prefix('-').unwrap_or(text);
                (
                    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()),
                    text.starts_with('-'),
                )
            }
            Self::Json(value) => {
                let number: f64 = value.scalar().unwrap_or(0.5);
                (number.fract() == 0.0, number < 0.0)
            }
        };
        (is_integer && self.as_integer().is_none()).then_some(if is_negative { i64::MIN } else { i64::MAX })
    }

    /// The fault of a value other than a string: some identifiers are numbers in responses and strings in requests.
    fn no_string(self) -> Invalid {
        match self {
            Self::Json(value) if value.is_number() => {
                Invalid::new("must be a string: give the number in quotes")
            }
            _ => Invalid::new("must be a string"),
        }
    }
}

/// Reader and schema of a field. It allocates nothing, as each request constructs it.
#[derive(Clone, Copy)]
pub(crate) struct FieldType<R> {
    /// From a value of a request to a value of the domain.
    pub(crate) read: R,
    /// Its description for the OpenAPI document.
    pub(crate) schema: FieldSchema,
}

/// The description of a field.
#[derive(Clone, Copy)]
pub(crate) struct FieldSchema {
    pub(crate) schema: fn(&mut Components) -> Json,
    /// The content of a sealed value.
    pub(crate) encoding: FieldEncoding,
    /// Whether it may be plaintext beside sealed fields.
    pub(crate) may_be_clear: bool,
    /// The least and the greatest number.
    pub(crate) range: Option<(i64, i64)>,
    /// A sentence on its meaning.
    pub(crate) about: &'static str,
}

/// The content of a sealed value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldEncoding {
    /// A text, as it is.
    Text,
    /// JSON: a number or a list.
    Json,
}

impl<R> FieldType<R> {
    pub(crate) const fn new(schema: fn(&mut Components) -> Json, encoding: FieldEncoding, read: R) -> Self {
        Self { read, schema: FieldSchema { schema, encoding, may_be_clear: false, range: None, about: "" } }
    }

    /// Allows plaintext beside sealed fields: the interface does not mark the field as encrypted.
    pub(crate) fn may_be_clear(self) -> Self {
        Self { schema: FieldSchema { may_be_clear: true, ..self.schema }, ..self }
    }

    /// Adds a sentence on its meaning.
    pub(crate) fn about(self, about: &'static str) -> Self {
        Self { schema: FieldSchema { about, ..self.schema }, ..self }
    }

    /// Adds the range of its reader.
    pub(crate) fn between(self, least: i64, most: i64) -> Self {
        Self { schema: FieldSchema { range: Some((least, most)), ..self.schema }, ..self }
    }

    /// Replaces the schema of its type.
    pub(crate) fn looks_like(self, schema: fn(&mut Components) -> Json) -> Self {
        Self { schema: FieldSchema { schema, ..self.schema }, ..self }
    }
}

/// A string.
pub(crate) fn text<T: HasSchema>(
    parse: impl Fn(&str) -> Result<T, Invalid>,
) -> FieldType<impl Fn(InputValue<'_>) -> Result<T, Invalid>> {
    FieldType::new(T::schema, FieldEncoding::Text, move |given: InputValue<'_>| {
        parse(&given.as_text().ok_or_else(|| given.no_string())?)
    })
}

pub(crate) fn string_enum<T: HasSchema + FromStr<Err = Invalid>>()
-> FieldType<impl Fn(InputValue<'_>) -> Result<T, Invalid>> {
    text(str::parse)
}

/// A list of at least one string; doubles count once.
pub(crate) fn texts<T: HasSchema + PartialEq>(
    parse: impl Fn(&str) -> Result<T, Invalid>,
) -> FieldType<impl Fn(InputValue<'_>) -> Result<Vec<T>, Invalid>> {
    let schema = |components: &mut Components| {
        object! {"type": "array", "items": T::schema(components), "minItems": 1}
    };
    FieldType::new(schema, FieldEncoding::Json, move |given: InputValue<'_>| {
        let mut values = Vec::new();
        let each = |text: JsonText<'_>| {
            let text = text.string().ok_or_else(|| Invalid::new("must be a list of strings"))?;
            let value = parse(&text)?;
            if !values.contains(&value) {
                values.push(value);
            }
            Ok(())
        };
        let list = if let InputValue::Json(list) = given { list.each(each) } else { None };
        list.unwrap_or_else(|| Err(Invalid::new("must be a list")))?;
        if values.is_empty() { Err(Invalid::new("must not be empty")) } else { Ok(values) }
    })
}

pub(crate) fn integer<T>(
    parse: impl Fn(i64) -> Result<T, Invalid>,
) -> FieldType<impl Fn(InputValue<'_>) -> Result<T, Invalid>> {
    FieldType::new(i64::schema, FieldEncoding::Json, move |given: InputValue<'_>| {
        match (given.as_integer(), given.beyond()) {
            (Some(number), _) => parse(number),
            // The rule says what it could be.
            (None, Some(end)) => {
                Err(parse(end).err().unwrap_or_else(|| Invalid::new("must be a smaller integer")))
            }
            (None, None) => Err(Invalid::new("must be an integer")),
        }
    })
}

/// An integer from `least` to `most`.
pub(crate) fn integer_from(
    least: i64,
    most: i64,
) -> FieldType<impl Fn(InputValue<'_>) -> Result<i64, Invalid>> {
    let parse = move |number: i64| {
        let is_in_range = (least..=most).contains(&number);
        is_in_range.then_some(number).ok_or_else(|| Invalid::new(format!("must be from {least} to {most}")))
    };
    integer(parse).between(least, most)
}

/// An amount of at least one kopeck.
pub(crate) fn amount() -> FieldType<impl Fn(InputValue<'_>) -> Result<Kopecks, Invalid>> {
    integer(positive).between(1, i64::MAX)
}

fn positive(kopecks: i64) -> Result<Kopecks, Invalid> {
    if kopecks > 0 { Ok(Kopecks::new(kopecks)) } else { Err(Invalid::new("must be a positive integer")) }
}

/// An integer; in a body also a string of digits.
pub(crate) fn integer_or_digits<T>(
    parse: impl Fn(i64) -> Result<T, Invalid>,
) -> FieldType<impl Fn(InputValue<'_>) -> Result<T, Invalid>> {
    let schema = |_: &mut Components| object! {"type": ["integer", "string"], "pattern": "^[0-9]+$", "x-form": "digits"};
    FieldType::new(schema, FieldEncoding::Json, move |given: InputValue<'_>| {
        let number = given.as_integer().or_else(|| given.as_text().and_then(|text| digits(&text)));
        parse(number.ok_or_else(|| Invalid::new("must be an integer or a string of digits"))?)
    })
}

/// `true` or `false`.
pub(crate) fn boolean() -> FieldType<impl Fn(InputValue<'_>) -> Result<bool, Invalid>> {
    FieldType::new(bool::schema, FieldEncoding::Json, |given: InputValue<'_>| {
        let boolean = match given {
            InputValue::Text(text) => text.parse().ok(),
            InputValue::Json(value) => value.scalar(),
        };
        boolean.ok_or_else(|| Invalid::new("must be true or false"))
    })
}

/// A probability.
pub(crate) fn rate() -> FieldType<impl Fn(InputValue<'_>) -> Result<f64, Invalid>> {
    let read = |given: InputValue<'_>| {
        let rate = match given {
            InputValue::Text(text) => text.parse().ok(),
            InputValue::Json(value) => value.scalar(),
        };
        rate.filter(|rate| (0.0..=1.0).contains(rate))
            .ok_or_else(|| Invalid::new("must be a number from 0 to 1"))
    };
    FieldType::new(f64::schema, FieldEncoding::Json, read).between(0, 1)
}

/// An identifier: a uuid with hyphens.
pub(crate) fn id<T: HasSchema + From<Uuid>>() -> FieldType<impl Fn(InputValue<'_>) -> Result<T, Invalid>> {
    FieldType::new(T::schema, FieldEncoding::Text, |given: InputValue<'_>| {
        let text = given.as_text().filter(|text| text.len() == uuid::fmt::Hyphenated::LENGTH);
        text.and_then(|text| Uuid::try_parse(&text).ok())
            .map(T::from)
            .ok_or_else(|| Invalid::new("must be a uuid"))
    })
}

pub(crate) fn page_number() -> FieldType<impl Fn(InputValue<'_>) -> Result<u32, Invalid>> {
    let about = "Which page, from 1; one past the end is empty.";
    integer(Page::number_in_range).between(1, Page::MAX_NUMBER.into()).about(about)
}

pub(crate) fn page_size() -> FieldType<impl Fn(InputValue<'_>) -> Result<u32, Invalid>> {
    integer(Page::size_in_range).between(1, Page::MAX_SIZE.into()).about("Records on a page.")
}

/// A decimal number, without `+`.
fn digits(text: &str) -> Option<i64> {
    if text.starts_with('+') { None } else { text.parse().ok() }
}

#[cfg(test)]
mod tests {
    use kopeck_domain::ids::CardId;
    use serde_json::{Value, json};

    use super::super::json_text::OwnedJson;
    use super::*;

    fn json<T>(
        field: FieldType<impl Fn(InputValue<'_>) -> Result<T, Invalid>>,
        value: Value,
    ) -> Result<T, Invalid> {
        (field.read)(InputValue::Json(OwnedJson::from(value).text()))
    }

    fn any(number: i64) -> Result<i64, Invalid> {
        Ok(number)
    }

    #[test]
    fn a_number_is_a_number_in_a_body_and_digits_in_a_query() {
        assert_eq!((integer(any).read)(InputValue::Text("-12")), Ok(-12));
        assert_eq!(json(integer(any), json!(12)), Ok(12));
        for value in [
            json!("12"),
            json!(1.0),
            json!(1e30),
            json!(null),
            json!([1]),
            json!(9_223_372_036_854_775_808_u64),
        ] {
            assert!(json(integer(any), value.clone()).is_err(), "{value}");
        }
        for text in ["", "+1", "1.0", " 1", "1e3", "９", "9223372036854775808"] {
            assert!((integer(any).read)(InputValue::Text(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn an_amount_may_be_a_string_of_digits() {
        assert_eq!(json(integer_or_digits(any), json!("5000")), Ok(5_000));
        assert_eq!(json(integer_or_digits(any), json!(5000)), Ok(5_000));
        assert!(json(integer_or_digits(any), json!("5e3")).is_err());
    }

    #[test]
    fn a_rate_lies_between_none_and_all() {
        for (value, expected) in [(json!(0), 0.0), (json!(1), 1.0), (json!(0.25), 0.25), (json!(1e-3), 0.001)]
        {
            assert_eq!(json(rate(), value.clone()), Ok(expected));
        }
        for value in [json!(-0.1), json!(1.1), json!("0.5"), json!(true), json!(null)] {
            assert!(json(rate(), value.clone()).is_err(), "{value}");
        }
        assert!((rate().read)(InputValue::Text("NaN")).is_err());
    }

    #[test]
    fn a_boolean_is_no_number_and_no_text() {
        assert_eq!(
            (json(boolean(), json!(true)), (boolean().read)(InputValue::Text("false"))),
            (Ok(true), Ok(false))
        );
        for value in [json!(0), json!("true"), json!(null)] {
            assert!(json(boolean(), value.clone()).is_err(), "{value}");
        }
    }

    #[test]
    fn an_identifier_has_its_hyphens() {
        let text = "0F8FAD5B-D9CB-469F-A165-70867728950e";
        assert_eq!((id::<CardId>().read)(InputValue::Text(text)).unwrap().to_string(), text.to_lowercase());
        for text in ["", "x", "0f8fad5bd9cb469fa16570867728950e", "{0f8fad5b-d9cb-469f-a165-70867728950e}"] {
            assert!((id::<CardId>().read)(InputValue::Text(text)).is_err(), "{text}");
        }
        assert!(json(id::<CardId>(), json!(7)).is_err());
    }

    #[test]
    fn a_text_is_no_number() {
        assert!(json(text(|text| Ok(text.to_owned())), json!(7)).is_err());
        assert_eq!(json(text(|text| Ok(text.to_owned())), json!("7")), Ok("7".to_owned()));
    }
}
