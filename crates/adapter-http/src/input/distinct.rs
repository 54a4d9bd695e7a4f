//! JSON values without duplicate names at any depth: of two amounts for one card, one reader would take the first and
//! another the last.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The value of a JSON text. `None` for duplicate names, invalid JSON, too deep nesting, numbers out of range and lone
/// surrogates.
pub(crate) fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().map(|Distinct(value)| value)
}

struct Distinct(Value);

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DistinctVisitor).map(Self)
    }
}

struct DistinctVisitor;

impl<'de> Visitor<'de> for DistinctVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Distinct(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, Distinct(value))) = fields.next_entry::<String, _>()? {
            if object.insert(name, value).is_some() {
                return Err(A::Error::custom("a name is given twice"));
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_given_twice_is_no_value_however_deep() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"[{"a":{"b":null,"b":null}}]"#,
            r#"{"cards":[{"idCard":"x","amount":1,"amount":500}]}"#,
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert!(parse(r#"{"a":{"a":[{"a":1},{"a":1}]}}"#).is_some());
    }

    #[test]
    fn invalid_json_has_no_value() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        for text in ["", "{", "[1,]", "1 2", "nan", "1e999", r#""\ud800""#, deep.as_str()] {
            assert_eq!(parse(text), None, "{text:.20}");
        }
    }

    #[test]
    fn valid_json_reads_as_with_serde_json() {
        for text in [
            "null",
            "[true, false]",
            "[0, -0, -9223372036854775808, 9223372036854775807, 18446744073709551615, 18446744073709551616]",
            "[1.0, -1.50, 1e3, 1e-400]",
            r#"["", "\"\\\u0401\ud83d\ude00\n", "Ё\u0000"]"#,
            r#"{"a": {"a": [], "b": {}}, "": [{"a": null}, {"a": 1.5}]}"#,
        ] {
            assert_eq!(parse(text), Some(serde_json::from_str(text).unwrap()), "{text}");
        }
    }
}
