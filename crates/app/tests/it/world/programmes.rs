//! Requests about programmes.

use serde_json::{Value, json};

/// Programmes by the names that stand for them.
pub(super) const THINGS: [&str; 4] =
    ["programme", "spare programme", "waiting programme", "refused programme"];

/// The operation, the identifier in its path, and its body or query.
pub(super) fn samples() -> Vec<(&'static str, &'static str, Value)> {
    let none = || Value::Null;
    let terms = |audience: Value| terms("Meals", &audience);
    vec![
        ("programme.create", "", terms(json!({"idEmployee": ["<employee>"]}))),
        ("programme.create", "", terms(json!({"idCategory": ["<category>"]}))),
        ("programme.list", "", none()),
        ("programme.get", "<programme>", none()),
        ("programme.change", "<programme>", terms(json!({"idCategory": ["<category>"]}))),
        ("programme.pause", "<programme>", none()),
        ("programme.resume", "<programme>", none()),
        ("programme.approve", "<waiting programme>", none()),
        ("programme.refuse", "<refused programme>", none()),
        ("programme.runs", "<programme>", none()),
        ("run.list", "", json!({"idProgramme": "<programme>"})),
        ("programme.forecast", "", json!({"until": "05.03.2026"})),
        ("programme.preview", "", preview()),
        ("programme.preview", "", terms(json!({"idCategory": ["<category>"]}))),
        ("programme.delete", "<spare programme>", none()),
    ]
}

/// Other terms of the programme, for an employee.
fn preview() -> Value {
    let mut terms = terms("Meals", &json!({"idEmployee": ["<employee>"]}));
    terms["idProgramme"] = json!("<programme>");
    terms["forecastUntil"] = json!("05.03.2026");
    terms
}

/// The paths of programmes that stand in the way of new ones.
pub(super) fn too_many(list: &Value) -> impl Iterator<Item = String> {
    let all = list["data"].as_array().unwrap();
    let path = |one: &Value| format!("/v1/programme/{}", one["idProgramme"].as_str().unwrap());
    all.iter().take(all.len().saturating_sub(90)).map(path)
}

/// The terms of a programme for these.
pub(super) fn terms(name: &str, audience: &Value) -> Value {
    json!({"name": name, "for": audience, "amount": {"upTo": 5}, "every": "MONTH", "day": 1})
}
