//! The description of the API, held against every bare call of these tests: each response has a status, headers and a body
//! that stand in it, with no header and no field more; each request that was taken has a body that it allows.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use kopeck_adapter_http::operations;
use serde_json::{Value, json};

use crate::raw_http::{JSON, RawRequest, RawResponse};

static DOCUMENT: LazyLock<Document> = LazyLock::new(Document::read);

/// Holds a response against the description of what was called.
pub fn check(call: &RawRequest, got: &RawResponse) {
    if let Some((path, method)) = described(call) {
        DOCUMENT.check(&path, &method, call, got);
    }
}

/// Headers of HTTP itself, of which the document does not tell.
const OF_EVERY_ANSWER: [&str; 5] =
    ["connection", "content-length", "content-type", "date", "transfer-encoding"];

/// The document, and the compiled schemas.
struct Document {
    document: Value,
    /// Schemas of responses are closed: an unknown field is a fault.
    closed: Value,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

/// The path pattern and the method by which the document has what was called; `None` for paths and methods that do not
/// exist, and for heads.
fn described(call: &RawRequest) -> Option<(String, String)> {
    let path = call.target.split('?').next()?;
    let path = path.strip_prefix("http://kopeck").unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    let operation = operations().find(|operation| {
        let fits = |(pattern, segment): (&str, &str)| {
            pattern == segment || (pattern.starts_with('{') && !segment.is_empty())
        };
        operation.methods().any(|method| method == call.method)
            && operation.path.split('/').count() == path.split('/').count()
            && operation.path.split('/').zip(path.split('/')).all(fits)
    })?;
    Some((operation.path.to_owned(), call.method.to_lowercase()))
}

impl Document {
    fn read() -> Self {
        let document: Value = serde_json::from_str(&kopeck_adapter_http::openapi()).unwrap();
        let mut closed = document.clone();
        close(&mut closed);
        Self { document, closed, validators: Mutex::default() }
    }

    fn check(&self, path: &str, method: &str, call: &RawRequest, got: &RawResponse) {
        let operation = &self.document["paths"][path][method];
        let status = got.status.to_string();
        let told = operation["responses"].get(&status);
        let told = told.unwrap_or_else(|| panic!("{method} {path}: {status} is not described: {got:?}"));
        let told = self.resolve(told);
        for (name, header) in told["headers"].as_object().unwrap() {
            let required = self.resolve(header)["required"] == true;
            assert!(!required || got.header(name).is_some(), "{method} {path}: {status} without {name}");
        }
        for (name, _) in &got.headers {
            let known = OF_EVERY_ANSWER.contains(&name.as_str()) || told["headers"].get(name).is_some();
            assert!(known, "{method} {path}: {status} does not tell of {name}");
        }
        // UTF-8 goes without saying in the document.
        let media = got.header("content-type").unwrap().trim_end_matches("; charset=utf-8");
        assert!(told["content"].get(media).is_some(), "{method} {path}: {status} with {media}");
        let pointer = format!("/paths/{}/{method}/responses/{status}", path.replace('/', "~1"));
        let schema = |document: &Value| {
            let response = document.pointer(&pointer).unwrap();
            let response = response.get("$ref").map_or(response, |to| followed(document, to));
            response["content"][media]["schema"].clone()
        };
        // A file is no JSON.
        if media.ends_with("json") {
            self.validate(&format!("{pointer} {media}"), &schema(&self.closed), &self.closed, &got.json());
        }

        let clear =
            call.headers.iter().any(|(name, value)| name == "content-type" && value == JSON.as_bytes());
        let body = serde_json::from_slice::<Value>(&call.body).ok().filter(|body| !holds_sealed(body));
        if let (true, Some(body), 200..300) = (clear && method != "get", body, got.status) {
            let schema = &operation["requestBody"]["content"][JSON]["schema"];
            if !schema.is_null() {
                self.validate(&format!("{method} {path}"), schema, &self.document, &body);
            }
        }
    }

    /// Checks `value`; the schemas that are referred to are those of `document`.
    fn validate(&self, name: &str, schema: &Value, document: &Value, value: &Value) {
        let mut validators = self.validators.lock().unwrap();
        let validator = Arc::clone(validators.entry(name.to_owned()).or_insert_with(|| {
            let whole = json!({"allOf": [schema], "components": document["components"]});
            Arc::new(jsonschema::options().should_validate_formats(true).build(&whole).unwrap())
        }));
        drop(validators);
        let faults: Vec<String> =
            validator.iter_errors(value).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
        assert!(faults.is_empty(), "{name}: {value}\nis not as described: {faults:#?}");
    }

    fn resolve<'a>(&'a self, node: &'a Value) -> &'a Value {
        node.get("$ref").map_or(node, |to| followed(&self.document, to))
    }
}

fn followed<'a>(document: &'a Value, reference: &Value) -> &'a Value {
    document.pointer(&reference.as_str().unwrap()[1..]).unwrap()
}

/// Makes every object take the fields alone that it names. A list of codes beside a refusal names one of its fields.
fn close(node: &mut Value) {
    match node {
        Value::Object(map) => {
            if map.get("type").is_some_and(|kind| kind == "object") && map.contains_key("properties") {
                map.insert("additionalProperties".to_owned(), json!(false));
            }
            map.iter_mut().filter(|(name, _)| *name != "examples").for_each(|(_, value)| close(value));
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether a body or one of its fields is sealed, so that its schema is not that of the clear one.
fn holds_sealed(body: &Value) -> bool {
    let sealed = |value: &Value| value.as_str().is_some_and(|text| text.starts_with("s1."));
    body.as_object().is_some_and(|fields| fields.values().any(sealed))
}

/// Every example is of the schema beside it.
#[test]
fn the_examples_are_as_described() {
    fn walk(document: &Document, node: &Value, place: &str, seen: &mut usize) {
        if let (Some(schema), Some(examples)) = (node.get("schema"), node.get("examples")) {
            for example in examples.as_object().unwrap().values() {
                document.validate(place, schema, &document.document, &example["value"]);
                *seen += 1;
            }
        }
        match node {
            Value::Object(map) => {
                map.iter().for_each(|(name, value)| walk(document, value, &format!("{place}/{name}"), seen));
            }
            Value::Array(items) => items.iter().for_each(|value| walk(document, value, place, seen)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut seen = 0;
    walk(&DOCUMENT, &DOCUMENT.document["paths"], "", &mut seen);
    assert!(seen > 100, "{seen}");
}
