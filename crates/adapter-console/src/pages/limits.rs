//! Limits of cards: what one allows, in words and as a week, and the form that prepares a run of limits.

use kopeck_api::operations::EMPLOYEE_LIST;
use kopeck_api::{CardLimit, CategoryWithCount, Employee, EmployeeStatus, LimitPeriod};
use kopeck_domain::access::Scope;
use kopeck_domain::run::row::roubles;
use serde_json::{Map, Value, json};

use super::people::categories;
use super::programmes::WEEKDAYS;
use super::runs::draft;
use crate::call::Problem;
use crate::request::Pairs;
use crate::texts::Text;
use crate::view::{Block, Cell, Field, FieldKind, Form, Page, Table};
use crate::visit::{Outcome, Reply, Visit};
use crate::week::Week;

/// The pages of this part, and what their forms do.
pub(crate) async fn route(visit: &Visit<'_>, segments: &[&str]) -> Outcome {
    match (visit.request.is_post, segments) {
        (false, ["limits"]) => {
            visit.require(Scope::RunsWrite)?;
            form_page(visit, &visit.query, None, None).await
        }
        (true, ["limits", "preview"]) => preview(visit).await,
        (true, ["limits"]) => create(visit).await,
        _ => Err(visit.nothing()),
    }
}

/// The names of the form's fields.
const NAMES: [&str; 11] = [
    "whom",
    "names",
    "people",
    "idCategory",
    "unlimited",
    "rubles",
    "period",
    "days",
    "times",
    "merchants",
    "codes",
];

const PERIODS: [(LimitPeriod, Text); 4] = [
    (LimitPeriod::Day, Text::A_DAY),
    (LimitPeriod::Week, Text::A_WEEK),
    (LimitPeriod::Month, Text::A_MONTH),
    (LimitPeriod::Quarter, Text::A_QUARTER),
];

/// What a limit allows, in words.
pub(crate) fn facts(visit: &Visit<'_>, limit: &CardLimit) -> Vec<(String, Cell)> {
    let mut parts = Vec::new();
    if let (Some(amount), Some(period)) = (limit.amount, &limit.period) {
        let known = PERIODS.iter().find(|(each, _)| each == period);
        let period = known.map_or(period.as_str(), |(_, text)| visit.t(*text));
        parts.push((Text::LIMIT, format!("{} {period}", visit.money(amount))));
    }
    if let Some(places) = &limit.merchant_categories {
        for (text, codes) in [(Text::PAYS_ONLY_AT, &places.only), (Text::PAYS_EXCEPT_AT, &places.except)] {
            if let Some(codes) = codes {
                parts.push((text, codes.join(", ")));
            }
        }
    }
    if parts.is_empty() && limit.days.is_empty() && limit.times.is_empty() {
        parts.push((Text::LIMIT, visit.t(Text::NO_LIMIT).to_owned()));
    }
    visit.facts(parts)
}

/// The week of a limit, if it has days or times; nothing if it pays at any time.
pub(crate) fn week(visit: &Visit<'_>, limit: &CardLimit) -> Option<Block> {
    if limit.days.is_empty() && limit.times.is_empty() {
        return None;
    }
    let week = Week::of(limit).ok()?;
    let columns = [Text::WEEKDAY, Text::PAYS_AT].map(|text| (text, false));
    let mut table = Table::new(visit.t(Text::WHEN_IT_PAYS), visit.columns(&columns), "");
    for (day, times) in WEEKDAYS.iter().zip(week.texts()) {
        let times = if times.is_empty() { visit.t(Text::DOES_NOT_PAY_THEN).to_owned() } else { times };
        table.rows.push(vec![Cell::text(visit.t(*day)), Cell::text(times)]);
    }
    Some(Block::Week(visit.t(Text::WHEN_IT_PAYS).to_owned(), week.path(), table))
}

/// The limit that the form says, as the API takes it. What cannot be read is passed on: the run says what is wrong with it.
fn limit_of(form: &Pairs) -> Value {
    if form.get("unlimited") == "yes" {
        return json!({"unlimited": true});
    }
    let mut limit = Map::new();
    if let Some(amount) = form.given("rubles") {
        let kopecks = roubles(amount).map_or_else(|_| json!(amount), Value::from);
        limit.extend([("amount".to_owned(), kopecks), ("period".to_owned(), json!(form.get("period")))]);
    }
    let days: Vec<Value> =
        form.all("days").filter_map(|day| day.parse::<u8>().ok()).map(Value::from).collect();
    if !days.is_empty() {
        limit.insert("days".to_owned(), Value::Array(days));
    }
    let split =
        |text: &'static str| form.get(text).split([',', ';', ' ', '\n']).filter(|part| !part.is_empty());
    let window = |text: &str| {
        let (from, to) = text.split_once(['-', '–']).unwrap_or((text, ""));
        json!({"from": from.trim(), "to": to.trim()})
    };
    let times: Vec<Value> = split("times").map(window).collect();
    if !times.is_empty() {
        limit.insert("times".to_owned(), Value::Array(times));
    }
    let codes: Vec<&str> = split("codes").collect();
    if !codes.is_empty() {
        let kind = if form.get("merchants") == "except" { "except" } else { "only" };
        limit.insert("merchantCategories".to_owned(), json!({kind: codes}));
    }
    Value::Object(limit)
}

/// Shows the week of the form's limit, and the form that prepares the run.
async fn preview(visit: &Visit<'_>) -> Outcome {
    visit.require(Scope::RunsWrite)?;
    match serde_json::from_value::<CardLimit>(limit_of(&visit.form)) {
        Ok(limit) if limit != CardLimit::default() => form_page(visit, &visit.form, Some(&limit), None).await,
        _ => {
            let problem = Problem::new(422, visit.language, Text::NO_LIMIT_GIVEN);
            form_page(visit, &visit.form, None, Some(&problem)).await
        }
    }
}

/// Prepares the run: nothing changes until it is submitted on its own page.
async fn create(visit: &Visit<'_>) -> Outcome {
    let made = async {
        let limit = limit_of(&visit.form);
        let item = |(name, value): (&str, String)| json!({name: value, "limit": limit});
        let items: Vec<Value> = whom(visit).await?.into_iter().map(item).collect();
        draft(visit, json!({"kind": "LIMIT", "items": items})).await
    };
    match made.await {
        Ok(drafted) => Ok(drafted),
        Err(problem) if problem.status == 403 => Err(visit.hidden_alike(problem)),
        Err(problem) => form_page(visit, &visit.form, None, Some(&problem)).await,
    }
}

/// The people of the form, each with the name of the field that names them.
async fn whom(visit: &Visit<'_>) -> Result<Vec<(&'static str, String)>, Problem> {
    let form = &visit.form;
    if form.get("whom") != "category" {
        let name = if form.get("names") == "customIdCard" { "customIdCard" } else { "customId" };
        let numbers =
            form.get("people").split(|letter: char| letter.is_whitespace() || [',', ';'].contains(&letter));
        return Ok(numbers
            .filter(|number| !number.is_empty())
            .map(|number| (name, number.to_owned()))
            .collect());
    }
    let people: Vec<Employee> = visit.all(&EMPLOYEE_LIST, &[("idCategory", form.get("idCategory"))]).await?;
    let stay = people.into_iter().filter(|person| person.status != EmployeeStatus::DontWork);
    Ok(stay.map(|person| ("customId", person.custom_id)).collect())
}

async fn form_page(
    visit: &Visit<'_>,
    values: &Pairs,
    limit: Option<&CardLimit>,
    problem: Option<&Problem>,
) -> Outcome {
    let mut page = Page::new(visit.t(Text::SET_LIMITS), "programmes");
    if let Some(limit) = limit {
        page.push(Block::Facts(facts(visit, limit)));
        match week(visit, limit) {
            Some(week) => page.push(week),
            None => page.push(Block::Text(visit.t(Text::PAYS_ANY_TIME).to_owned())),
        }
        page.push(Block::Text(visit.t(Text::NOTHING_HAPPENS_YET).to_owned()));
        let prepare = visit.post("/limits", Text::PREPARE_RUN).titled(visit.t(Text::SAVE_EXACTLY_THIS));
        page.push(Block::Form(values.hidden(prepare, &NAMES)));
    }
    let form = visit.post("/limits/preview", Text::SHOW_WEEK).titled(visit.t(Text::LIMIT));
    page.push(Block::Form(fields(visit, form, values, &categories(visit).await?)));
    Ok(Reply::Page(page.refused(problem)))
}

fn fields(visit: &Visit<'_>, form: Form, values: &Pairs, categories: &[CategoryWithCount]) -> Form {
    let field = |name: &'static str, label: Text, kind| {
        Field::new(name, visit.t(label), kind).value(values.all(name).collect::<Vec<_>>().join(" "))
    };
    let options = |each: &[(&str, Text)]| FieldKind::Select(visit.options(each));
    let whom = [("people", Text::THESE_PEOPLE), ("category", Text::A_CATEGORY)];
    let names = [("customId", Text::PERSONNEL_NUMBER), ("customIdCard", Text::CARD_NUMBER)];
    let each = |one: &CategoryWithCount| (one.id_category.to_string(), one.name_category.clone());
    let days =
        (1..).zip(WEEKDAYS).map(|(number, day): (u8, Text)| (number.to_string(), visit.t(day).to_owned()));
    let places = [("only", Text::PAYS_ONLY_AT), ("except", Text::PAYS_EXCEPT_AT)];
    let unlimited = vec![("yes".to_owned(), visit.t(Text::NO_LIMIT).to_owned())];
    form.field(field("whom", Text::PAYS_WHOM, options(&whom)))
        .field(field("people", Text::THESE_PEOPLE, FieldKind::Area).hint(visit.t(Text::NUMBERS_HINT)))
        .field(field("names", Text::PEOPLE_NAMED_BY, options(&names)))
        .field(field("idCategory", Text::CATEGORY, FieldKind::Select(categories.iter().map(each).collect())))
        .field(field("unlimited", Text::LIMIT, FieldKind::Many(unlimited)))
        .field(field("rubles", Text::AT_MOST, FieldKind::Text).max(20).hint(visit.t(Text::AT_MOST_HINT)))
        .field(field("period", Text::PERIOD, FieldKind::Select(visit.options(&PERIODS))))
        .field(field("days", Text::ON_DAYS, FieldKind::Many(days.collect())))
        .field(field("times", Text::AT_TIMES, FieldKind::Text).hint(visit.t(Text::AT_TIMES_HINT)))
        .field(field("merchants", Text::PLACE, options(&places)))
        .field(field("codes", Text::CODES, FieldKind::Text).max(1_200).hint(visit.t(Text::CODES_HINT)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_made_of_what_was_given() {
        let form = Pairs::from([
            ("rubles", "500,00"),
            ("period", "CDAY"),
            ("days", "1"),
            ("days", "5"),
            ("times", "08:00-20:00, 22:00–23:00"),
            ("merchants", "except"),
            ("codes", "5812 5411-5499"),
        ]);
        let limit = json!({"amount": 50_000, "period": "CDAY", "days": [1, 5],
            "times": [{"from": "08:00", "to": "20:00"}, {"from": "22:00", "to": "23:00"}],
            "merchantCategories": {"except": ["5812", "5411-5499"]}});
        assert_eq!(limit_of(&form), limit);
        assert_eq!(limit_of(&form.with("unlimited", "yes")), json!({"unlimited": true}));
        assert_eq!(limit_of(&Pairs::from([("rubles", "much"), ("period", "CDAY")]))["amount"], "much");
    }
}
