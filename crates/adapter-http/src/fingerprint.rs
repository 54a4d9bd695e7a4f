//! The fingerprint of a request: SHA-256 over method, path and body by value.

use serde_json::{Map, Number, Value};
use sha2::{Digest as _, Sha256};

use crate::input::RequestInput;
use crate::operation::Operation;

/// The fingerprint of a decoded request. `PATCH` counts as `PUT`; sealing, the order of fields and the letter case of
/// identifiers do not matter.
pub(crate) fn of(operation: &Operation, input: &RequestInput) -> [u8; 32] {
    // Hashed at once: a digest of many short pieces takes several times as long.
    let mut bytes = Vec::new();
    text(&mut bytes, operation.method.as_str());
    text(&mut bytes, operation.path);
    for (name, id) in &input.ids {
        text(&mut bytes, name);
        text(&mut bytes, &id.to_ascii_lowercase());
    }
    object(&mut bytes, &input.body);
    Sha256::digest(&bytes).into()
}

/// Length-prefixed, so that no two lists of texts have the same bytes.
fn text(bytes: &mut Vec<u8>, text: &str) {
    length(bytes, text.len());
    bytes.extend_from_slice(text.as_bytes());
}

fn length(bytes: &mut Vec<u8>, length: usize) {
    bytes.extend_from_slice(&(length as u64).to_le_bytes());
}

/// The fields sorted by name.
fn object(bytes: &mut Vec<u8>, fields: &Map<String, Value>) {
    length(bytes, fields.len());
    let mut fields: Vec<_> = fields.iter().collect();
    fields.sort_unstable_by_key(|(name, _)| *name);
    for (name, field) in fields {
        text(bytes, name);
        value(bytes, field);
    }
}

/// A value with a tag of its type. The recursion is bounded: too deep values do not parse.
fn value(bytes: &mut Vec<u8>, of: &Value) {
    match of {
        Value::Null => bytes.push(b'n'),
        Value::Bool(true) => bytes.push(b't'),
        Value::Bool(false) => bytes.push(b'f'),
        Value::Number(number) => {
            bytes.push(b'#');
            text(bytes, &canonical(number));
        }
        Value::String(string) => {
            bytes.push(b's');
            text(bytes, string);
        }
        Value::Array(items) => {
            bytes.push(b'[');
            length(bytes, items.len());
            items.iter().for_each(|item| value(bytes, item));
        }
        Value::Object(fields) => {
            bytes.push(b'{');
            object(bytes, fields);
        }
    }
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
mod tests {
    use serde_json::json;

    use super::*;
    use crate::operations;

    const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

    fn print(operation: &str, id: &str, body: Value) -> [u8; 32] {
        let input = RequestInput {
            ids: vec![("idEmployee", id.to_owned())],
            body: body.as_object().cloned().unwrap(),
            ..RequestInput::default()
        };
        of(operations::named(operation).unwrap(), &input)
    }

    #[test]
    fn equal_requests_have_the_same_fingerprint() {
        let one: Value = serde_json::from_str(r#"{"a":[1,{"x":1,"y":null}],"b":"t"}"#).unwrap();
        let two: Value = serde_json::from_str(r#"{ "b":"\u0074", "a":[1, {"y":null,"x":1}] }"#).unwrap();
        assert_eq!(print("employee.update", ID, one), print("employee.update", &ID.to_uppercase(), two));
    }

    #[test]
    fn a_number_is_the_same_however_it_is_written() {
        let print_of = |text: &str| {
            let value: Value = serde_json::from_str(&format!(r#"{{"a":{text}}}"#)).unwrap();
            print("employee.add", ID, value)
        };
        for (one, two) in
            [("1", "1.0"), ("100", "1e2"), ("-7", "-7.000"), ("0", "-0.0"), ("0", "-0"), ("0.5", "5e-1")]
        {
            assert_eq!(print_of(one), print_of(two), "{one} {two}");
        }
        for (one, two) in
            [("1", "1.5"), ("1", "-1"), ("9007199254740993", "9007199254740992.0"), ("1", "\"1\"")]
        {
            assert_ne!(print_of(one), print_of(two), "{one} {two}");
        }
    }

    #[test]
    fn different_requests_have_different_fingerprints() {
        let base = print("employee.update", ID, json!({"a": "1"}));
        for other in [
            print("employee.update", ID, json!({"a": 1})),
            print("employee.update", ID, json!({"a": "1", "b": null})),
            print("employee.update", ID, json!({"a": ["1"]})),
            print("employee.update", &ID.replace('0', "1"), json!({"a": "1"})),
            print("employee.add", ID, json!({"a": "1"})),
        ] {
            assert_ne!(base, other);
        }
        assert_ne!(
            print("employee.add", ID, json!({"a": [[1], 2]})),
            print("employee.add", ID, json!({"a": [[1, 2]]}))
        );
    }
}
