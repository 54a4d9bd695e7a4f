use kopeck_api as api;
use serde_json::{Value, json};

use super::types::VOCABULARIES;
use super::*;

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
    let shape = &api::OrderedCard::SHAPE;
    let reference = r##"{"$ref":"#/components/schemas/OrderedCard"}"##;
    assert_eq!(text(&of_shape(shape, &mut components)), reference);
    of_shape(shape, &mut components);
    let schema = serde_json::to_value(components.into_json()).unwrap()["OrderedCard"].take();
    assert_eq!(schema["required"], json!(["typeCard", "customIdCard"]));
    assert_eq!(schema["properties"]["activationCode"]["type"], json!(["string", "null"]));
    assert_eq!(schema["description"], "One card of an order; a plastic one has its type and number alone.");
    let activation = api::Activation { activation_code: None, validity_period: time::Date::MIN, amount: 1 };
    let card = api::OrderedCard {
        type_card: api::CardType::Mlz,
        custom_id_card: "1234567890".to_owned(),
        activation: Some(activation),
    };
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&schema["properties"]), names(&serde_json::to_value(&card).unwrap()));
}

#[test]
fn null_is_added_to_types_references_and_enums() {
    assert_eq!(
        text(&or_null(object! {"type": ["string", "integer"]})),
        r#"{"type":["string","integer","null"]}"#
    );
    assert_eq!(text(&or_null(words(["A"]))), r#"{"anyOf":[{"type":"string","enum":["A"]},{"type":"null"}]}"#);
}
