use super::types::VOCABULARIES;
use super::*;

api_type! {
    /// Something
    /// to test.
    struct Thing<'a> as "Thing" {
        /// First.
        a_long_name: &'a str,
        /// Second.
        #[serde(rename = "type")]
        kind: Option<u8>,
        #[serde(flatten)]
        rest: Option<Rest>,
    }
}

api_type! {
    /// Optional fields.
    struct Rest as "Rest" {
        /// Third.
        in_the_end: Vec<bool>,
    }
}

#[test]
fn the_domain_and_the_api_have_the_same_values() {
    for (words, shape) in VOCABULARIES {
        let Shape::Enum { values, .. } = shape else { panic!("{shape:?}") };
        assert_eq!(words(), *values);
    }
}

fn text(json: &Json) -> String {
    serde_json::to_string(json).unwrap()
}

#[test]
fn a_schema_names_fields_as_they_are_serialised() {
    let mut components = Components::default();
    assert_eq!(text(&Thing::schema(&mut components)), r##"{"$ref":"#/components/schemas/Thing"}"##);
    Thing::schema(&mut components);
    assert_eq!(
        text(&components.into_json()),
        concat!(
            r#"{"Thing":{"type":"object","required":["aLongName","type"],"properties":{"#,
            r#""aLongName":{"type":"string","description":"First."},"#,
            r#""type":{"type":["integer","null"],"minimum":0,"description":"Second."},"#,
            r#""inTheEnd":{"type":"array","items":{"type":"boolean"},"description":"Third."}},"#,
            r#""description":"Something to test."}}"#
        )
    );
    let thing = Thing { a_long_name: "x", kind: None, rest: Some(Rest { in_the_end: vec![true] }) };
    assert_eq!(serde_json::to_string(&thing).unwrap(), r#"{"aLongName":"x","type":null,"inTheEnd":[true]}"#);
}

#[test]
fn null_is_added_to_types_references_and_enums() {
    assert_eq!(
        text(&or_null(object! {"type": ["string", "integer"]})),
        r#"{"type":["string","integer","null"]}"#
    );
    assert_eq!(text(&or_null(words(["A"]))), r#"{"anyOf":[{"type":"string","enum":["A"]},{"type":"null"}]}"#);
}
