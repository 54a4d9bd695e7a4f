use serde_json::{Map, Value};

use super::*;
use crate::input::object::Object;
use crate::operations;

const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

fn body(text: &str) -> Option<CanonicalBody> {
    let object = Object::parse(text.as_bytes()).unwrap();
    CanonicalBody::of(object.fields.iter().map(|(name, value)| (name.as_ref(), *value)))
}

fn print(operation: &str, id: &str, text: &str) -> [u8; 32] {
    let ids = [("idEmployee", id.to_owned())];
    of(operations::named(operation).unwrap(), &ids, &body(text).unwrap())
}

#[test]
fn equal_requests_have_the_same_fingerprint() {
    let one = r#"{"a":[1,{"x":1,"y":null}],"b":"t"}"#;
    let two = r#"{ "b":"\u0074", "a":[1, {"y":null,"x":1}] }"#;
    assert_eq!(print("employee.update", ID, one), print("employee.update", &ID.to_uppercase(), two));
}

/// A response that was recorded before an update is found after it: the bytes are those of a sorted tree.
#[test]
fn the_bytes_of_a_body_never_change() {
    let text = r#"{"b":[{"y":-1.50,"x":{"ё":[],"а":{}}},true,null],"a":"Ё\n","bb":{"z":1e2,"za":false,"a":18446744073709551615}}"#;
    let mut expected = Vec::new();
    let Value::Object(tree) = serde_json::from_str(text).unwrap() else { panic!("an object") };
    object(&mut expected, &tree);
    assert_eq!(body(text).unwrap().0, expected);
    let hex: String = print("employee.update", ID, text).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "e5d048c4ff084874de0a4c7e36cc68b5c2f68e3cbfa8d4aff23937a0f2bd2018");
}

fn object(bytes: &mut Vec<u8>, fields: &Map<String, Value>) {
    length(bytes, fields.len());
    for (name, field) in fields {
        text(bytes, name);
        value(bytes, field);
    }
}

fn value(bytes: &mut Vec<u8>, of: &Value) {
    match of {
        Value::Null => bytes.push(b'n'),
        Value::Bool(value) => bytes.push(if *value { b't' } else { b'f' }),
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

#[test]
fn a_number_is_the_same_however_it_is_written() {
    let print_of = |text: &str| print("employee.add", ID, &format!(r#"{{"a":{text}}}"#));
    for (one, two) in
        [("1", "1.0"), ("100", "1e2"), ("-7", "-7.000"), ("0", "-0.0"), ("0", "-0"), ("0.5", "5e-1")]
    {
        assert_eq!(print_of(one), print_of(two), "{one} {two}");
    }
    for (one, two) in [("1", "1.5"), ("1", "-1"), ("9007199254740993", "9007199254740992.0"), ("1", "\"1\"")]
    {
        assert_ne!(print_of(one), print_of(two), "{one} {two}");
    }
}

#[test]
fn different_requests_have_different_fingerprints() {
    let base = print("employee.update", ID, r#"{"a":"1"}"#);
    for other in [
        print("employee.update", ID, r#"{"a":1}"#),
        print("employee.update", ID, r#"{"a":"1","b":null}"#),
        print("employee.update", ID, r#"{"a":["1"]}"#),
        print("employee.update", &ID.replace('0', "1"), r#"{"a":"1"}"#),
        print("employee.add", ID, r#"{"a":"1"}"#),
    ] {
        assert_ne!(base, other);
    }
    assert_ne!(print("employee.add", ID, r#"{"a":[[1],2]}"#), print("employee.add", ID, r#"{"a":[[1,2]]}"#));
}

/// Of two amounts for one card, one reader would take the first and another the last.
#[test]
fn a_name_that_is_given_twice_is_no_body_however_deep() {
    for value in [
        r#"{"a":1,"a":1}"#,
        r#"{"a":1,"\u0061":2}"#,
        r#"{"b":1,"a":1,"b":2}"#,
        r#"[{"a":{"b":null,"b":null}}]"#,
        r#"[{"idCard":"x","amount":1,"amount":500}]"#,
    ] {
        assert!(body(&format!(r#"{{"cards":{value}}}"#)).is_none(), "{value}");
    }
    assert!(body(r#"{"a":{"a":[{"a":1},{"a":1}]}}"#).is_some());
}

#[test]
fn values_that_have_no_meaning_are_no_body() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    for value in ["1e999", r#""\ud800""#, deep.as_str()] {
        assert!(body(&format!(r#"{{"a":{value}}}"#)).is_none(), "{value:.20}");
    }
}
