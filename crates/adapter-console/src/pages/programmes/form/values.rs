//! Values of the form, and terms of the API.

use kopeck_api::{ProgrammePeriod, ProgrammeTerms};
use kopeck_domain::calendar::date_text;
use kopeck_domain::run::row::roubles;
use serde_json::{Map, Value, json};

use crate::format::plain_roubles;
use crate::request::Pairs;

/// The names of the form's fields.
pub(super) const NAMES: [&str; 19] = [
    "name",
    "audience",
    "idCategory",
    "people",
    "statuses",
    "grant",
    "rubles",
    "cap",
    "every",
    "weekday",
    "day",
    "month",
    "time",
    "shift",
    "proRata",
    "onShortage",
    "from",
    "until",
    "reference",
];

/// What a new programme begins with.
pub(super) fn of_new() -> Pairs {
    Pairs::from([
        ("audience", "all"),
        ("statuses", "WORK"),
        ("statuses", "VACATION"),
        ("statuses", "MEDICAL"),
        ("grant", "fixed"),
        ("every", "MONTH"),
        ("day", "1"),
        ("time", "09:00"),
        ("shift", "BEFORE"),
        ("onShortage", "NOTHING"),
    ])
}

/// The values of these terms; `people` are the personnel numbers of those whom they name.
pub(super) fn of_terms(terms: &ProgrammeTerms, people: &str) -> Pairs {
    let mut values: Vec<(&str, String)> = vec![("name", terms.name.clone()), ("people", people.to_owned())];
    let categories = terms.audience.id_category.iter().flatten();
    values.extend(categories.map(|id| ("idCategory", id.to_string())));
    let audience = match &terms.audience {
        whom if whom.id_category.is_some() => "categories",
        whom if whom.id_employee.is_some() => "people",
        _ => "all",
    };
    values.push(("audience", audience.to_owned()));
    values.extend(terms.statuses.iter().map(|status| ("statuses", status.to_string())));
    let amount = &terms.amount;
    for (grant, kopecks) in [("fixed", amount.fixed), ("upTo", amount.up_to), ("downTo", amount.down_to)] {
        if let Some(kopecks) = kopecks {
            values.extend([("grant", grant.to_owned()), ("rubles", plain_roubles(kopecks))]);
        }
    }
    values.push(("cap", amount.cap.map(plain_roubles).unwrap_or_default()));
    let day = if terms.every == ProgrammePeriod::Week { "weekday" } else { "day" };
    values.extend([
        ("every", terms.every.to_string()),
        (day, terms.day.to_string()),
        ("month", terms.month.map(|month| month.to_string()).unwrap_or_default()),
        ("time", terms.time.clone()),
        ("shift", terms.shift.to_string()),
        ("proRata", if terms.pro_rata { "yes" } else { "" }.to_owned()),
        ("onShortage", terms.on_shortage.to_string()),
        ("from", terms.from.map(date_text).unwrap_or_default()),
        ("until", terms.until.map(date_text).unwrap_or_default()),
        ("reference", terms.reference.clone().unwrap_or_default()),
    ]);
    values.into_iter().collect()
}

/// The terms as the API takes them. What cannot be read is passed on: the operation says what is wrong with it.
pub(super) fn to_terms(form: &Pairs, people: Vec<Value>) -> Map<String, Value> {
    let kopecks = |name| roubles(form.get(name)).map_or_else(|_| json!(form.get(name)), Value::from);
    let number = |name| form.get(name).parse::<i64>().map_or_else(|_| json!(form.get(name)), Value::from);
    let list = |name| form.all(name).filter(|value| !value.is_empty()).map(Value::from).collect::<Vec<_>>();
    let audience = match form.get("audience") {
        "categories" => json!({"idCategory": list("idCategory")}),
        "people" => json!({"idEmployee": people}),
        _ => json!({"all": true}),
    };
    let mut amount = Map::from_iter([(form.get("grant").to_owned(), kopecks("rubles"))]);
    if form.get("grant") == "fixed" && form.given("cap").is_some() {
        amount.insert("cap".to_owned(), kopecks("cap"));
    }
    let every = form.get("every");
    let day = if every == ProgrammePeriod::Week.as_str() { "weekday" } else { "day" };
    let month = if every == ProgrammePeriod::Year.as_str() { number("month") } else { Value::Null };
    let terms = [
        ("name", json!(form.get("name"))),
        ("for", audience),
        ("statuses", Value::Array(list("statuses"))),
        ("amount", Value::Object(amount)),
        ("every", json!(every)),
        ("day", number(day)),
        ("month", month),
        ("time", json!(form.get("time"))),
        ("shift", json!(form.get("shift"))),
        ("proRata", json!(form.get("proRata") == "yes")),
        ("onShortage", json!(form.get("onShortage"))),
        ("from", json!(form.given("from"))),
        ("until", json!(form.given("until"))),
        ("reference", json!(form.given("reference"))),
    ];
    terms.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use kopeck_api::{ProgrammeAmount, ProgrammeAudience};
    use serde_json::from_value;

    use super::*;

    #[test]
    fn terms_come_back_from_the_form_as_they_were() {
        let amount =
            ProgrammeAmount { fixed: Some(150_050), cap: Some(300_000), ..ProgrammeAmount::default() };
        let mut monthly = ProgrammeTerms::new("Meals & more", amount, ProgrammePeriod::Month, -1);
        monthly.pro_rata = true;
        monthly.reference = Some("meal-{period}".to_owned());
        let mut weekly = ProgrammeTerms { day: 3, every: ProgrammePeriod::Week, ..monthly.clone() };
        weekly.amount = ProgrammeAmount { down_to: Some(0), ..ProgrammeAmount::default() };
        weekly.from = kopeck_domain::calendar::parse_date("05.03.2026").ok();
        let mut yearly =
            ProgrammeTerms { every: ProgrammePeriod::Year, month: Some(12), day: 5, ..monthly.clone() };
        yearly.audience = ProgrammeAudience { all: None, id_category: Some(Vec::new()), id_employee: None };
        for terms in [monthly, weekly, yearly] {
            let sent = Pairs::parse(of_terms(&terms, "T-1").query().as_bytes());
            let read: ProgrammeTerms = from_value(Value::Object(to_terms(&sent, Vec::new()))).unwrap();
            assert_eq!(read, terms);
        }
    }

    #[test]
    fn what_cannot_be_read_is_passed_on() {
        let form = Pairs::from([("grant", "upTo"), ("rubles", "much"), ("day", "x"), ("audience", "people")]);
        let terms = to_terms(&form, vec![json!("id")]);
        assert_eq!(terms["amount"], json!({"upTo": "much"}));
        assert_eq!((&terms["day"], &terms["for"]), (&json!("x"), &json!({"idEmployee": ["id"]})));
    }
}
