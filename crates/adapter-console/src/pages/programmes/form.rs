//! The form of a programme: its values become the terms of the API, whose forecast is shown before anything is saved.

mod people;
mod values;

use kopeck_api::operations::{
    BALANCE, PROGRAMME_CHANGE, PROGRAMME_CREATE, PROGRAMME_GET, PROGRAMME_LIST, PROGRAMME_PREVIEW,
};
use kopeck_api::{Balance, CategoryWithCount, Data, Page as ListPage, Programme, ProgrammeForecast};
use kopeck_domain::access::Scope;
use kopeck_domain::calendar::date_text;
use serde_json::{Map, Value, json};

use super::forecast;
use super::terms::{PERIODS, SHIFTS, SHORTAGES, WEEKDAYS};
use crate::call::{self, Problem};
use crate::pages::people::{STATUSES, categories, status_text};
use crate::request::Pairs;
use crate::texts::Text;
use crate::view::{Block, Cell, Field, FieldKind, Form, Page};
use crate::visit::{Outcome, Reply, Visit};

/// The empty form of a new programme, or that of a programme with its terms.
pub(super) async fn open(visit: &Visit<'_>, id: Option<&str>) -> Outcome {
    visit.require(Scope::ProgrammesWrite)?;
    let values = match id {
        None => values::of_new(),
        Some(id) => {
            let programme: Programme = visit.get(&PROGRAMME_GET, &[id], &[]).await?;
            let terms = programme.proposed.unwrap_or(programme.terms);
            let numbers =
                people::numbers(visit, terms.audience.id_employee.as_deref().unwrap_or_default()).await?;
            values::of_terms(&terms, &numbers)
        }
    };
    show(visit, id, &values, None, None).await
}

/// The form again with the forecast of its values. Nothing is saved.
pub(super) async fn preview(visit: &Visit<'_>, id: Option<&str>) -> Outcome {
    visit.require(Scope::ProgrammesWrite)?;
    let found = async {
        let mut body = body(visit).await?;
        body.insert("forecastUntil".to_owned(), json!(date_text(visit.today() + forecast::AHEAD)));
        if let Some(id) = id {
            body.insert("idProgramme".to_owned(), json!(id));
        }
        visit.ask::<Data<Vec<ProgrammeForecast>>>(&PROGRAMME_PREVIEW, &[], Value::Object(body)).await
    };
    match found.await {
        Ok(found) => show(visit, id, &visit.form, Some(&found.data), None).await,
        Err(problem) if [403, 404].contains(&problem.status) => Err(visit.hidden_alike(problem)),
        Err(problem) => show(visit, id, &visit.form, None, Some(&problem)).await,
    }
}

/// Saves what the form says.
pub(super) async fn save(visit: &Visit<'_>, id: Option<&str>) -> Outcome {
    let saved = async {
        let body = Some(Value::Object(body(visit).await?));
        match id {
            Some(id) => visit.change(&PROGRAMME_CHANGE, &[id], body).await,
            None => visit.change(&PROGRAMME_CREATE, &[], body).await,
        }
    };
    match saved.await {
        Ok(response) => {
            let saved: Programme = call::read(&response, visit.language)?;
            Ok(Reply::SeeOther(format!("/programme/{}?done=saved", saved.id_programme)))
        }
        Err(problem) if [403, 404].contains(&problem.status) => Err(visit.hidden_alike(problem)),
        Err(problem) => show(visit, id, &visit.form, None, Some(&problem)).await,
    }
}

/// The terms of the form as the API takes them.
async fn body(visit: &Visit<'_>) -> Result<Map<String, Value>, Problem> {
    let form = &visit.form;
    let people = match form.get("audience") {
        "people" => people::identifiers(visit, form.get("people")).await?,
        _ => Vec::new(),
    };
    Ok(values::to_terms(form, people))
}

fn path(id: Option<&str>, end: &str) -> String {
    id.map_or_else(|| format!("/programmes/{end}"), |id| format!("/programme/{id}/{end}"))
}

/// The page: what would happen and the form that saves it, if there is a forecast; and the form.
async fn show(
    visit: &Visit<'_>,
    id: Option<&str>,
    values: &Pairs,
    rows: Option<&[ProgrammeForecast]>,
    problem: Option<&Problem>,
) -> Outcome {
    let title = if id.is_some() { Text::CHANGE_PROGRAMME } else { Text::NEW_PROGRAMME };
    let mut page = Page::new(visit.t(title), "programmes");
    if let Some(rows) = rows {
        let balance: Balance = visit.get(&BALANCE, &[], &[]).await?;
        let others: ListPage<Programme> = visit.get(&PROGRAMME_LIST, &[], &[("per_page", "100")]).await?;
        page.push(Block::Heading(visit.t(Text::FORECAST).to_owned()));
        page.push(Block::Text(visit.t(Text::NOTHING_SAVED_YET).to_owned()));
        page.push(forecast::block(visit, balance.available, rows, &others.data));
        let end = if id.is_some() { "edit" } else { "new" };
        let save = visit.post(&path(id, end), Text::SAVE).titled(visit.t(Text::SAVE_EXACTLY_THIS));
        page.push(Block::Form(values.hidden(save, &values::NAMES)));
    }
    let form = visit.post(&path(id, "preview"), Text::SHOW_FORECAST).titled(visit.t(Text::TERMS));
    page.push(Block::Form(fields(visit, form, values, &categories(visit).await?)));
    let back = id.map_or_else(|| "/programmes".to_owned(), |id| format!("/programme/{id}"));
    page.push(Block::Links(vec![Cell::link(visit.t(Text::BACK), &back)]));
    Ok(Reply::Page(page.refused(problem)))
}

/// The fields with these values.
fn fields(visit: &Visit<'_>, form: Form, values: &Pairs, categories: &[CategoryWithCount]) -> Form {
    let field = |name: &'static str, label: Text, kind| {
        Field::new(name, visit.t(label), kind).value(values.all(name).collect::<Vec<_>>().join(" "))
    };
    let select = |name, label, each| field(name, label, FieldKind::Select(each));
    let money = |name, label| field(name, label, FieldKind::Text).max(20);
    let whom =
        [("all", Text::EVERYBODY), ("categories", Text::THESE_CATEGORIES), ("people", Text::THESE_PEOPLE)];
    let name_of = |one: &CategoryWithCount| (one.id_category.to_string(), one.name_category.clone());
    let statuses = STATUSES.iter().map(|one| (one.to_string(), status_text(visit, one).to_owned())).collect();
    let grants = [("fixed", Text::ADDS), ("upTo", Text::FILLS_UP_TO), ("downTo", Text::TAKES_DOWN_TO)];
    let weekdays: Vec<(String, String)> = (1..)
        .zip(WEEKDAYS)
        .map(|(number, day): (u8, Text)| (number.to_string(), visit.t(day).to_owned()))
        .collect();
    let last = ("-1".to_owned(), visit.t(Text::LAST_DAY).to_owned());
    let numbers = |most: u8| (1..=most).map(|day| (day.to_string(), day.to_string()));
    let share = vec![("yes".to_owned(), visit.t(Text::GET_SHARE).to_owned())];
    let days = FieldKind::Select(numbers(28).chain([last]).collect());
    let mut form = form
        .field(field("name", Text::PROGRAMME_NAME, FieldKind::Text).max(64).required())
        .field(select("audience", Text::PAYS_WHOM, visit.options(&whom)));
    if !categories.is_empty() {
        let each = categories.iter().map(name_of).collect();
        form = form.field(field("idCategory", Text::THESE_CATEGORIES, FieldKind::Many(each)));
    }
    form.field(field("people", Text::THESE_PEOPLE, FieldKind::Area).hint(visit.t(Text::NUMBERS_HINT)))
        .field(field("statuses", Text::ONLY_WHO, FieldKind::Many(statuses)))
        .field(select("grant", Text::DOES_WHAT, visit.options(&grants)))
        .field(money("rubles", Text::AMOUNT).required())
        .field(money("cap", Text::NOT_ABOVE_FIELD).hint(visit.t(Text::CAP_HINT)))
        .field(select("every", Text::PAYS_WHEN, visit.options(&PERIODS)))
        .field(field("weekday", Text::WEEKDAY, FieldKind::Select(weekdays)).hint(visit.t(Text::WEEKDAY_HINT)))
        .field(field("day", Text::DAY_OF_PERIOD, days).hint(visit.t(Text::DAY_OF_PERIOD_HINT)))
        .field(
            field("month", Text::MONTH, FieldKind::Select(numbers(12).collect()))
                .hint(visit.t(Text::MONTH_OF_YEAR_HINT)),
        )
        .field(field("time", Text::AT_TIME, FieldKind::Text).max(5).required())
        .field(select("shift", Text::ON_DAY_OFF, visit.options(&SHIFTS)))
        .field(field("proRata", Text::ADDED_WITHIN, FieldKind::Many(share)))
        .field(select("onShortage", Text::IF_SHORT, visit.options(&SHORTAGES)))
        .field(field("from", Text::FROM_DAY, FieldKind::Text).max(10).hint(visit.t(Text::DAY_HINT_OPTIONAL)))
        .field(
            field("until", Text::UNTIL_DAY, FieldKind::Text).max(10).hint(visit.t(Text::DAY_HINT_OPTIONAL)),
        )
        .field(
            field("reference", Text::RUNS_ARE_CALLED, FieldKind::Text)
                .max(64)
                .hint(visit.t(Text::TEMPLATE_HINT)),
        )
}
