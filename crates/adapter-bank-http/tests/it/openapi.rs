//! docs/bank-openapi.json: whether it names what there is, and whether values are of its schemas.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::examples::protocol;

const DOCUMENT: &str = include_str!("../../../../docs/bank-openapi.json");

/// The document, with as much of JSON Schema as it uses: a keyword that is not known here fails the test.
pub struct OpenApi(Value);

impl OpenApi {
    pub fn read() -> Self {
        Self(serde_json::from_str(DOCUMENT).unwrap())
    }

    /// Whether a request body matches its schema.
    pub fn allows(&self, method: &str, path: &str, body: Option<&str>) -> bool {
        let operation = &self.0["paths"][path][method.to_lowercase()];
        match (operation.get("requestBody"), body) {
            (Some(described), Some(body)) => {
                let schema = &described["content"]["application/json"]["schema"];
                self.check(schema, &serde_json::from_str(body).unwrap(), path).is_ok()
            }
            (None, None) => true,
            (described, given) => panic!("{method} {path}: {described:?}, but {given:?}"),
        }
    }

    /// Checks a response body.
    pub fn check_answer(&self, method: &str, path: &str, status: u16, body: &str) {
        let answers = &self.0["paths"][path][method.to_lowercase()]["responses"];
        let described =
            answers.get(status.to_string()).unwrap_or_else(|| panic!("{method} {path}: {status}"));
        let schema = &self.resolve(described)["content"]["application/json"]["schema"];
        self.check(schema, &serde_json::from_str(body).unwrap(), path).unwrap();
    }

    fn resolve<'a>(&'a self, node: &'a Value) -> &'a Value {
        match node.get("$ref") {
            Some(reference) => {
                let pointer = reference.as_str().unwrap().strip_prefix('#').unwrap();
                self.0.pointer(pointer).unwrap_or_else(|| panic!("{pointer} leads nowhere"))
            }
            None => node,
        }
    }

    fn check(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let schema = self.resolve(schema);
        let keywords = schema.as_object().unwrap_or_else(|| panic!("{at}: no schema"));
        for (keyword, wanted) in keywords {
            let fits = match keyword.as_str() {
                "description" | "format" | "additionalProperties" | "examples" => true,
                "type" => type_of(value) == wanted.as_str().unwrap(),
                "const" => value == wanted,
                "enum" => wanted.as_array().unwrap().contains(value),
                "minimum" => value.as_i64().unwrap() >= wanted.as_i64().unwrap(),
                "maximum" => value.as_i64().unwrap() <= wanted.as_i64().unwrap(),
                "minItems" => value.as_array().unwrap().len() as u64 >= wanted.as_u64().unwrap(),
                "maxItems" => value.as_array().unwrap().len() as u64 <= wanted.as_u64().unwrap(),
                "minLength" => value.as_str().unwrap().chars().count() as u64 >= wanted.as_u64().unwrap(),
                "maxLength" => value.as_str().unwrap().chars().count() as u64 <= wanted.as_u64().unwrap(),
                "pattern" => matches(wanted.as_str().unwrap(), value.as_str().unwrap()),
                "required" => {
                    wanted.as_array().unwrap().iter().all(|name| value.get(name.as_str().unwrap()).is_some())
                }
                "properties" => {
                    for (name, value) in value.as_object().unwrap() {
                        let schema =
                            wanted.get(name).ok_or_else(|| format!("{at}.{name} is not described"))?;
                        self.check(schema, value, &format!("{at}.{name}"))?;
                    }
                    true
                }
                "items" => {
                    let items = value.as_array().unwrap().iter().enumerate();
                    for (index, item) in items {
                        self.check(wanted, item, &format!("{at}[{index}]"))?;
                    }
                    true
                }
                "oneOf" => {
                    let fitting =
                        wanted.as_array().unwrap().iter().filter(|one| self.check(one, value, at).is_ok());
                    fitting.count() == 1
                }
                other => panic!("{at}: the keyword {other} is not known to this test"),
            };
            if !fits {
                return Err(format!("{at}: {value} is not of {keyword} {wanted}"));
            }
        }
        Ok(())
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The patterns of the document, by hand.
fn matches(pattern: &str, text: &str) -> bool {
    let digits =
        |text: &str, length: usize| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    match pattern {
        "^[!-~]{1,100}$" => kopeck_bank_protocol::check_key(text).is_ok(),
        "^[1-9]([0-9]{9}|[0-9]{12})$" => kopeck_domain::card_number::CardNumber::parse(text).is_ok(),
        "^[0-9]{10}$" => digits(text, 10),
        "^[0-9]{4}(-[0-9]{4})?$" => kopeck_domain::limit::CategoryRange::parse(text).is_ok(),
        "^([01][0-9]|2[0-4]):[0-5][0-9]$" => {
            text.split_once(':').is_some_and(|(hour, minute)| digits(hour, 2) && digits(minute, 2))
        }
        other => panic!("the pattern {other} is not known to this test"),
    }
}

#[test]
fn it_names_every_operation_of_the_protocol_and_no_other() {
    let document = OpenApi::read();
    assert_eq!(document.0["openapi"], "3.1.0");
    let methods = |(path, item): (&String, &Value)| {
        let methods = item.as_object().unwrap().keys().filter(|name| *name != "parameters");
        methods.map(|method| (method.to_uppercase(), path.clone())).collect::<Vec<_>>()
    };
    let named: BTreeSet<_> = document.0["paths"].as_object().unwrap().iter().flat_map(methods).collect();
    let offered: BTreeSet<_> =
        protocol().map(|(method, path)| (method.to_owned(), path.to_owned())).collect();
    assert_eq!(named, offered);
}

#[test]
fn every_reference_leads_somewhere_and_every_operation_says_what_a_failure_means() {
    fn walk<'a>(value: &'a Value, references: &mut Vec<&'a Value>) {
        match value {
            Value::Object(map) => {
                references.extend(map.get("$ref").map(|_| value));
                map.values().for_each(|value| walk(value, references));
            }
            Value::Array(items) => items.iter().for_each(|value| walk(value, references)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let document = OpenApi::read();
    let mut references = Vec::new();
    walk(&document.0, &mut references);
    assert!(references.len() > 20);
    references.into_iter().for_each(|reference| drop(document.resolve(reference).clone()));
    for (method, path) in protocol() {
        let answers = &document.0["paths"][path][method.to_lowercase()]["responses"];
        for status in ["200", "401", "422", "500"] {
            assert!(answers.get(status).is_some(), "{method} {path}: {status}");
        }
    }
}

/// The words of the document are those of the wire types.
#[test]
fn its_words_are_those_of_the_program() {
    use kopeck_domain::card::{CardType, Standing};
    use kopeck_domain::limit::Period;
    use kopeck_domain::transaction::TransactionType;
    let document = OpenApi::read();
    let words = |schema: &str| {
        let words = &document.0["components"]["schemas"][schema]["enum"];
        words.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    assert_eq!(words("CardType"), all(&CardType::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>()));
    assert_eq!(words("Standing"), all(&Standing::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>()));
    assert_eq!(words("Period"), all(&Period::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>()));
    let kinds: Vec<_> = TransactionType::ALL.iter().map(|word| word.as_str()).collect();
    assert_eq!(words("TransactionType"), all(&kinds));
    let reasons = [
        "OVER_CARD_LIMIT",
        "BLOCKED",
        "BLOCKED_BY_PARTNER",
        "EXPIRED",
        "NOT_ACTIVATED",
        "CLOSED",
        "NOT_ENOUGH_ON_CARD",
        "REFUSED",
    ];
    assert_eq!(words("DeclineReason"), reasons);
}
