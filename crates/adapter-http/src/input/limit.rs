//! A limit as a body has it.

use kopeck_domain::draft::Invalid;
use kopeck_domain::limit::{LimitDraft, Part, WindowDraft};
use serde_json::{Map, Value};

use super::kinds::{Given, boolean, integer, text};

/// The parts of a limit. `null` is the same as missing; what is of a wrong type says so in its place.
pub(crate) fn draft(limit: &Map<String, Value>) -> LimitDraft {
    LimitDraft {
        unlimited: part(limit, "unlimited", boolean),
        amount: part(limit, "amount", integer(Ok)),
        period: part(limit, "period", owned),
        days: part(limit, "days", |days| list(days)?.iter().map(number).collect()),
        times: part(limit, "times", |times| Ok(list(times)?.iter().map(window).collect())),
    }
}

fn window(value: &Value) -> Result<WindowDraft, Invalid> {
    let window = value.as_object().ok_or_else(|| Invalid::new("must be an object"))?;
    Ok(WindowDraft { from: part(window, "from", owned), to: part(window, "to", owned) })
}

fn part<T>(
    object: &Map<String, Value>,
    name: &str,
    kind: impl Fn(Given<'_>) -> Result<T, Invalid>,
) -> Part<T> {
    let value = object.get(name).filter(|value| !value.is_null())?;
    Some(kind(Given::Json(value)))
}

fn owned(given: Given<'_>) -> Result<String, Invalid> {
    text(|text| Ok(text.to_owned()))(given)
}

fn number(value: &Value) -> Result<i64, Invalid> {
    value.as_i64().ok_or_else(|| Invalid::new("must be a list of integers"))
}

fn list(given: Given<'_>) -> Result<&[Value], Invalid> {
    match given {
        Given::Json(Value::Array(list)) => Ok(list),
        Given::Json(_) | Given::Text(_) => Err(Invalid::new("must be a list")),
    }
}

#[cfg(test)]
mod tests {
    use kopeck_domain::limit::{Limit, LimitError};
    use serde_json::json;

    use super::*;

    /// The limit of a body, or its faulty fields.
    fn read(limit: &Value) -> Result<Limit, String> {
        Limit::parse(&draft(limit.as_object().unwrap()), "limit").map_err(|error| match error {
            LimitError::Faulty(faults) => {
                let fields: Vec<_> = faults.as_slice().iter().map(|fault| fault.field.as_str()).collect();
                fields.join(" ")
            }
            LimitError::Conflict(_) => "conflict".to_owned(),
        })
    }

    #[test]
    fn every_part_is_read() {
        let limit = read(&json!({
            "unlimited": false, "amount": 500_000, "period": "CMONTH", "days": [5, 1],
            "times": [{"from": "08:00", "to": "12:00"}, {"from": "22:00", "to": "06:00", "note": "unknown"}],
        }));
        let limit = limit.unwrap();
        assert_eq!(limit.allowance().map(|allowance| allowance.amount().get()), Some(500_000));
        assert_eq!(limit.days().numbers().collect::<Vec<_>>(), [1, 5]);
        assert_eq!(limit.windows().len(), 2);
        let nulls = json!({"unlimited": true, "amount": null, "period": null, "days": null, "times": null});
        assert_eq!(read(&nulls), Ok(Limit::Unlimited));
        assert_eq!(read(&json!({"unlimited": true, "days": [1]})), Err("conflict".to_owned()));
    }

    #[test]
    fn what_is_of_a_wrong_type_is_named() {
        for (limit, fields) in [
            (json!({}), "limit"),
            (json!({"unlimited": null}), "limit"),
            (json!({"unlimited": "true"}), "limit.unlimited"),
            (json!({"amount": "5", "period": 7}), "limit.amount limit.period"),
            (json!({"amount": 1.5, "period": "CDAY"}), "limit.amount"),
            (json!({"days": 1}), "limit.days"),
            (json!({"days": [1, "2"]}), "limit.days"),
            (json!({"days": [null]}), "limit.days"),
            (json!({"times": {"from": "08:00", "to": "12:00"}}), "limit.times"),
            (json!({"times": ["08:00-12:00"]}), "limit.times[0]"),
            (json!({"times": [{"from": 8, "to": null}]}), "limit.times[0].from limit.times[0].to"),
        ] {
            assert_eq!(read(&limit), Err(fields.to_owned()), "{limit}");
        }
    }
}
