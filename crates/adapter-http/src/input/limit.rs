//! A card limit in a body.

mod draft;

use kopeck_api::{HasShape as _, TimeWindow};
use kopeck_domain::Invalid;
use kopeck_domain::limit::{MAX_CATEGORIES, MAX_WINDOWS, Period};

pub(crate) use self::draft::LimitConflict;
use self::draft::{CategoriesDraft, LimitDraft, Part, WindowDraft};
use super::field_types::{InputValue, boolean, integer, text};
use super::json_text::JsonText;
use super::object::Object;
use crate::json::{Json, object};
use crate::patterns;
use crate::schema::{Components, HasSchema as _, integer as number_of, of_shape, or_null, pattern};

/// The parts of a limit. `null` means absent; a value of a wrong type is a fault of its part.
pub(crate) fn draft(limit: &Object<'_>) -> LimitDraft {
    LimitDraft {
        unlimited: part(limit, "unlimited", boolean().read),
        amount: part(limit, "amount", integer(Ok).read),
        period: part(limit, "period", owned),
        days: part(limit, "days", days),
        times: part(limit, "times", |times| Ok(list(times, MAX_WINDOWS)?.into_iter().map(window).collect())),
        categories: part(limit, "merchantCategories", categories),
    }
}

/// The schema. It describes in words which settings exclude each other.
pub(crate) fn schema(components: &mut Components) -> Json {
    let amount = object! {
        "type": ["integer", "null"], "format": "int64", "minimum": 1,
        "description": "Kopecks to spend in each period; goes with `period`.",
    };
    let days = object! {
        "type": ["array", "null"], "uniqueItems": true,
        "items": object! {"type": "integer", "minimum": 1, "maximum": 7},
        "description": "Weekdays on which the card pays, 1 (Monday) to 7 (Sunday). Empty: any day.",
    };
    let times = object! {
        "type": ["array", "null"], "maxItems": number_of(MAX_WINDOWS), "items": window_schema(components),
        "description": "Windows in which the card pays, none overlapping another. Empty: any time.",
    };
    let unlimited = object! {
        "type": ["boolean", "null"], "default": false,
        "description": "`true`: any time, any day, any merchant, as far as the card's balance goes, and no other setting beside it.",
    };
    let period = or_null(Period::schema(components)).with("description", "Goes with `amount`.");
    let categories = or_null(categories_schema(components));
    components.named("LimitRequest", |_| {
        object! {
            "type": "object",
            "properties": object! {
                "unlimited": unlimited, "amount": amount, "period": period, "days": days, "times": times,
                "merchantCategories": categories,
            },
            "description": "Either `unlimited`, or at least one of `amount` with `period`, `days`, `times` and `merchantCategories`.",
        }
    })
}

/// The schema of a window in a response, with the patterns that a request has to match.
fn window_schema(components: &mut Components) -> Json {
    let end = format!("{}|^24:00$", patterns::TIME);
    let properties = object! {
        "from": pattern(patterns::TIME, "HH:MM").with("description", "The first minute."),
        "to": pattern(&end, "HH:MM, up to 24:00").with("description", "The minute after the last one. Earlier than `from`: on the next day."),
    };
    of_shape(&TimeWindow::SHAPE, components).with("properties", properties)
}

/// The schema of merchant categories in a response, with what a request has to match.
fn categories_schema(components: &mut Components) -> Json {
    let list = |about: &str| {
        object! {
            "type": ["array", "null"], "minItems": 1, "maxItems": number_of(MAX_CATEGORIES),
            "items": pattern(patterns::CATEGORY_RANGE, "NNNN or NNNN-NNNN"),
            "description": about,
        }
    };
    components.named("MerchantCategoriesRequest", |_| {
        object! {
            "type": "object",
            "properties": object! {
                "only": list("The card pays only at merchants of these category codes (ISO 18245) and ranges of codes."),
                "except": list("The card pays at all merchants but these."),
            },
            "description": "Either `only` or `except`. A merchant without a four-digit code matches no list.",
        }
    })
}

fn categories(given: InputValue<'_>) -> Result<CategoriesDraft, Invalid> {
    let categories = if let InputValue::Json(value) = given { value.object() } else { None };
    let categories = categories.ok_or_else(|| Invalid::new("must be an object"))?;
    let texts = |given: InputValue<'_>| {
        Ok(list(given, MAX_CATEGORIES)?.into_iter().map(|text| owned(InputValue::Json(text))).collect())
    };
    Ok(CategoriesDraft { only: part(&categories, "only", texts), except: part(&categories, "except", texts) })
}

fn window(value: JsonText<'_>) -> Result<WindowDraft, Invalid> {
    let window = value.object().ok_or_else(|| Invalid::new("must be an object"))?;
    Ok(WindowDraft { from: part(&window, "from", owned), to: part(&window, "to", owned) })
}

fn part<T>(object: &Object<'_>, name: &str, kind: impl Fn(InputValue<'_>) -> Result<T, Invalid>) -> Part<T> {
    let value = object.get(name).filter(|value| !value.is_null())?;
    Some(kind(InputValue::Json(value)))
}

fn owned(given: InputValue<'_>) -> Result<String, Invalid> {
    (text(|text| Ok(text.to_owned())).read)(given)
}

fn days(given: InputValue<'_>) -> Result<Vec<i64>, Invalid> {
    let mut days = Vec::new();
    let day = |day: JsonText<'_>| {
        days.push(day.scalar().ok_or_else(|| Invalid::new("must be a list of integers"))?);
        Ok(())
    };
    let list = if let InputValue::Json(list) = given { list.each(day) } else { None };
    list.unwrap_or_else(|| Err(not_a_list()))?;
    Ok(days)
}

/// The items of a list, those beyond `most` left out but for one.
fn list(given: InputValue<'_>, most: usize) -> Result<Vec<JsonText<'_>>, Invalid> {
    match given {
        InputValue::Json(list) => list.list(most).ok_or_else(not_a_list),
        InputValue::Text(_) => Err(not_a_list()),
    }
}

fn not_a_list() -> Invalid {
    Invalid::new("must be a list")
}

#[cfg(test)]
mod tests {
    use kopeck_domain::limit::{Limit, MerchantCategories};
    use serde_json::{Value, json};

    use super::*;
    use crate::input::faults::Faults;

    /// The limit of a body, or its faulty fields.
    fn read(limit: &Value) -> Result<Limit, String> {
        let mut faults = Faults::new();
        let limit = limit.to_string();
        let limit = JsonText::from(limit.as_str()).object().unwrap();
        let read = draft(&limit).read("limit", &mut faults);
        let read = read.ok_or_else(|| {
            let fields: Vec<_> = faults.as_slice().iter().map(|fault| fault.field.as_str()).collect();
            fields.join(" ")
        });
        read?.map_err(|LimitConflict| "conflict".to_owned())
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
        for (categories, text) in [
            (json!({"only": ["5812", "5411-5499"]}), "only"),
            (json!({"only": null, "except": ["0000"], "note": 1}), "except"),
        ] {
            let limit = read(&json!({"merchantCategories": categories})).unwrap();
            assert_eq!(
                limit.merchant_categories().is_some_and(|some| matches!(some, MerchantCategories::Only(_))),
                text == "only"
            );
            let conflict = json!({"unlimited": true, "merchantCategories": categories});
            assert_eq!(read(&conflict), Err("conflict".to_owned()));
        }
        for none in [json!(null), json!({}), json!({"only": null}), json!({"only": null, "except": null})] {
            assert_eq!(read(&json!({"merchantCategories": none})), Err("limit".to_owned()));
            assert_eq!(read(&json!({"unlimited": true, "merchantCategories": none})), Ok(Limit::Unlimited));
        }
    }

    #[test]
    fn values_of_a_wrong_type_are_faults() {
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
            (json!({"merchantCategories": ["5812"]}), "limit.merchantCategories"),
            (json!({"merchantCategories": {"only": "5812"}}), "limit.merchantCategories.only"),
            (json!({"merchantCategories": {"except": ["5812", 5812]}}), "limit.merchantCategories.except[1]"),
            (json!({"times": [{"from": 8, "to": null}]}), "limit.times[0].from limit.times[0].to"),
        ] {
            assert_eq!(read(&limit), Err(fields.to_owned()), "{limit}");
        }
    }
}
