//! Requests about runs, and about the settings that make some.

use serde_json::{Value, json};

/// The operation, the identifier in its path, and its body or query.
pub(super) fn samples() -> Vec<(&'static str, &'static str, Value)> {
    let none = || Value::Null;
    vec![
        ("run.create", "", json!({"kind": "TOP_UP", "items": [{"idCard": "<card>", "amount": 5}]})),
        ("run.get", "<run>", none()),
        ("run.items", "<run>", none()),
        ("run.submit", "<run>", json!({"digest": "[digest]"})),
        ("run.approve", "<waiting run>", json!({"digest": "[waiting digest]"})),
        ("run.refuse", "<waiting run>", json!({"reason": "[new]"})),
        ("run.cancel", "<run>", none()),
        ("run.result", "<run>", none()),
        ("run.list", "", json!({"kind": "TOP_UP"})),
        ("settings.get", "", none()),
        ("settings.update", "", json!({"leavers": {"freeze": true, "takeBackAfterDays": 30, "close": true}})),
    ]
}
