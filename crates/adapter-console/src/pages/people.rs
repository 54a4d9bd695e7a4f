//! People: search, filters, and a new one.

mod export;

use kopeck_api::operations::{
    CARD_INFO, CARD_LIST, CATEGORY_LIST, EMPLOYEE_ADD, EMPLOYEE_GET, EMPLOYEE_LIST,
};
use kopeck_api::{
    Card, CategoryWithCount, Data, Employee, EmployeeStatus, EmployeeWithCards, Page as ListPage,
};
use kopeck_domain::access::Scope;
use serde_json::{Map, Value, json};

use crate::call::Problem;
use crate::request::Pairs;
use crate::texts::Text;
use crate::view::{Block, Cell, Field, FieldKind, Form, Page, Part, Region, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The pages of this part, and what their forms do.
pub(crate) async fn route(visit: &Visit<'_>, segments: &[&str]) -> Outcome {
    match (visit.request.is_post, segments) {
        (false, ["people"]) => list(visit).await,
        (false, ["fragment", "people"]) => fragment(visit).await,
        (false, ["people", "export"]) => export::file(visit).await,
        (false, ["people", "new"]) => new(visit, None).await,
        (true, ["people", "new"]) => add(visit).await,
        _ => Err(visit.nothing()),
    }
}

/// The states of a person, in the order in which forms offer them.
pub(crate) const STATUSES: [EmployeeStatus; 4] =
    [EmployeeStatus::Work, EmployeeStatus::Vacation, EmployeeStatus::Medical, EmployeeStatus::DontWork];

/// The fields of a person that are plain texts: name of the field, label, longest value.
const FIELDS: [(&str, Text, usize); 6] = [
    ("customId", Text::PERSONNEL_NUMBER, 64),
    ("surname", Text::SURNAME, 64),
    ("name", Text::GIVEN_NAME, 64),
    ("patronymic", Text::PATRONYMIC, 64),
    ("phone", Text::PHONE, 16),
    ("email", Text::EMAIL, 128),
];

/// The list, or the one person whom the search names exactly.
pub(crate) async fn list(visit: &Visit<'_>) -> Outcome {
    let sought = visit.query.get("q");
    if let Some(person) = find_exactly(visit, sought).await {
        return Ok(Reply::SeeOther(format!("/person/{person}")));
    }
    let found = search(visit).await;
    let categories = categories(visit).await?;
    let mut page = Page::new(visit.t(Text::PEOPLE), "people");
    page.push(Block::Form(search_form(visit, &categories)));
    if visit.may(Scope::EmployeesWrite) {
        let mut links = vec![Cell::link(visit.t(Text::NEW_PERSON), "/people/new")];
        if visit.may(Scope::RunsWrite) {
            links.push(Cell::link(visit.t(Text::PEOPLE_IMPORT), "/runs/new?kind=EMPLOYEES"));
        }
        page.push(Block::Links(links));
    }
    match found {
        Ok(found) => page.push(Block::Region(Box::new(region(visit, &found, &categories)))),
        Err(problem) if problem.status == 422 => {
            page.status = 422;
            return Ok(Reply::Page(page.noting(Some(problem.notice()))));
        }
        Err(problem) => return Err(problem),
    }
    Ok(Reply::Page(page.noting(visit.done())))
}

/// The filters of the page.
fn filter<'v>(visit: &'v Visit<'_>) -> [(&'static str, &'v str); 3] {
    ["q", "status", "idCategory"].map(|name| (name, visit.query.get(name)))
}

/// What the search finds.
async fn search(visit: &Visit<'_>) -> Result<ListPage<Employee>, Problem> {
    let page = [("page", visit.query.get("page")), ("per_page", "50")];
    visit.get(&EMPLOYEE_LIST, &[], &[&filter(visit)[..], &page].concat()).await
}

/// What the search finds, for the script.
async fn fragment(visit: &Visit<'_>) -> Outcome {
    visit.fragment(&region(visit, &search(visit).await?, &categories(visit).await?))
}

/// The part of the page that a search replaces.
fn region(visit: &Visit<'_>, found: &ListPage<Employee>, categories: &[CategoryWithCount]) -> Region {
    let says = format!("{}: {}", visit.t(Text::FOUND), found.meta.total.unwrap_or_default());
    let mut parts = vec![Part::Table(table(visit, found, categories))];
    if !found.data.is_empty() {
        let path = format!("/people/export?{}", visit.query.with("page", "").query());
        parts.push(Part::Links(vec![Cell::link(visit.t(Text::EXPORT_PEOPLE), &path)]));
    }
    Region { id: "found", source: "/fragment/people".to_owned(), poll: None, says, parts }
}

/// The person whose identifier, or the holder of the card whose identifier or number, is this text.
async fn find_exactly(visit: &Visit<'_>, sought: &str) -> Option<String> {
    if sought.len() == 36 {
        let person = visit.get::<Data<EmployeeWithCards>>(&EMPLOYEE_GET, &[sought], &[]).await;
        if let Ok(person) = person {
            return Some(person.data.employee.id_employee.to_string());
        }
        let card = visit.get::<Data<Card>>(&CARD_INFO, &[sought], &[]).await.ok()?;
        return card.data.id_employee.map(|id| id.to_string());
    }
    let is_number = [10, 13].contains(&sought.len()) && sought.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return None;
    }
    let cards = visit.get::<ListPage<Card>>(&CARD_LIST, &[], &[("customIdCard", sought)]).await.ok()?;
    cards.data.first()?.id_employee.map(|id| id.to_string())
}

/// The categories, up to the longest page of them.
pub(crate) async fn categories(visit: &Visit<'_>) -> Result<Vec<CategoryWithCount>, Problem> {
    let found: ListPage<CategoryWithCount> = visit.get(&CATEGORY_LIST, &[], &[("per_page", "500")]).await?;
    Ok(found.data)
}

fn category_options(visit: &Visit<'_>, categories: &[CategoryWithCount], none: Text) -> FieldKind {
    let none = (String::new(), visit.t(none).to_owned());
    let each = categories.iter().map(|each| (each.id_category.to_string(), each.name_category.clone()));
    FieldKind::Select(std::iter::once(none).chain(each).collect())
}

fn search_form(visit: &Visit<'_>, categories: &[CategoryWithCount]) -> Form {
    let all = (String::new(), visit.t(Text::ALL).to_owned());
    let each = STATUSES.iter().map(|status| (status.to_string(), status_text(visit, status).to_owned()));
    let statuses = FieldKind::Select(std::iter::once(all).chain(each).collect());
    let field = |name, label, kind| Field::new(name, visit.t(label), kind).value(visit.query.get(name));
    let form = Form { searches: Some("found"), ..Form::search("/people", visit.t(Text::SEARCH)) };
    form.field(field("q", Text::SEARCH_PEOPLE, FieldKind::Search).hint(visit.t(Text::SEARCH_HINT)).max(64))
        .field(field("status", Text::STATUS, statuses))
        .field(field("idCategory", Text::CATEGORY, category_options(visit, categories, Text::ALL)))
}

fn table(visit: &Visit<'_>, found: &ListPage<Employee>, categories: &[CategoryWithCount]) -> Table {
    let columns =
        [Text::PERSONNEL_NUMBER, Text::NAME, Text::CATEGORY, Text::STATUS].map(|text| (text, false));
    let mut table = Table::new(visit.t(Text::PEOPLE), visit.columns(&columns), visit.t(Text::NOBODY_FOUND));
    for person in &found.data {
        let category = categories.iter().find(|each| Some(each.id_category) == person.id_category);
        let path = format!("/person/{}", person.id_employee);
        table.rows.push(vec![
            Cell::link(person.custom_id.clone(), &path),
            Cell::text(full_name(person)),
            Cell::text(category.map(|each| each.name_category.clone()).unwrap_or_default()),
            Cell::text(status_text(visit, &person.status)),
        ]);
    }
    table.pages = visit.pages("/people", &found.meta);
    table
}

/// Surname, name and patronymic.
pub(crate) fn full_name(person: &Employee) -> String {
    let parts = [&person.surname, &person.name, &person.patronymic];
    parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ")
}

pub(crate) fn status_text<'s>(visit: &Visit<'_>, status: &'s EmployeeStatus) -> &'s str {
    match status {
        EmployeeStatus::Work => visit.t(Text::WORKS),
        EmployeeStatus::Vacation => visit.t(Text::ON_VACATION),
        EmployeeStatus::Medical => visit.t(Text::ON_SICK_LEAVE),
        EmployeeStatus::DontWork => visit.t(Text::LEFT),
        other => other.as_str(),
    }
}

/// The fields of a person with these values.
pub(crate) fn person_form(
    visit: &Visit<'_>,
    form: Form,
    values: &Pairs,
    categories: &[CategoryWithCount],
) -> Form {
    let mut form = form;
    for (name, label, max) in FIELDS {
        let field = Field::new(name, visit.t(label), FieldKind::Text).value(values.get(name)).max(max);
        form = form.field(match name {
            "customId" => field.required().hint(visit.t(Text::PERSONNEL_NUMBER_RULE)),
            "phone" => field.hint(visit.t(Text::PHONE_RULE)),
            _ => field,
        });
    }
    let kind = category_options(visit, categories, Text::NO_CATEGORY);
    form.field(Field::new("idCategory", visit.t(Text::CATEGORY), kind).value(values.get("idCategory")))
}

/// The fields of a person as the API takes them; an empty one is `null`.
pub(crate) fn person_body(form: &Pairs) -> Map<String, Value> {
    let names = FIELDS.iter().map(|(name, _, _)| *name).chain(["idCategory"]);
    let body = names.map(|name| (name.to_owned(), form.given(name).map_or(Value::Null, Value::from)));
    body.collect()
}

/// The form of a new person.
pub(crate) async fn new(visit: &Visit<'_>, problem: Option<&Problem>) -> Outcome {
    visit.require(Scope::EmployeesWrite)?;
    let mut page = Page::new(visit.t(Text::NEW_PERSON), "people");
    let form = visit.post("/people/new", Text::SAVE);
    page.push(Block::Form(person_form(visit, form, &visit.form, &categories(visit).await?)));
    Ok(Reply::Page(page.refused(problem)))
}

/// Adds a person.
pub(crate) async fn add(visit: &Visit<'_>) -> Outcome {
    let mut body = person_body(&visit.form);
    body.insert("status".to_owned(), json!(EmployeeStatus::Work.as_str()));
    match visit.change(&EMPLOYEE_ADD, &[], Some(Value::Object(body))).await {
        Ok(response) => {
            let made: Employee = crate::call::read(&response, visit.language)?;
            Ok(Reply::SeeOther(format!("/person/{}?done=saved", made.id_employee)))
        }
        Err(problem) if problem.status == 403 => Err(Problem::hidden(403, visit.language)),
        Err(problem) => new(visit, Some(&problem)).await,
    }
}
