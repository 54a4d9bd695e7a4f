//! A person: data, cards, what each may buy now, transactions, and what can be done with them.

mod cards;
mod declines;
mod replace;

use kopeck_api::operations::{
    CARD_LINK, CARD_SWITCH, CARD_UNLINK, CLOSING_CREATE, EMPLOYEE_ERASE, EMPLOYEE_GET, EMPLOYEE_UPDATE,
};
use kopeck_api::{Data, Employee, EmployeeStatus, EmployeeWithCards};
use kopeck_domain::access::Scope;
use serde_json::{Value, json};

use super::people::{STATUSES, categories, full_name, person_body, person_form, status_text};
use super::runs::draft;
use crate::call::Problem;
use crate::request::Pairs;
use crate::texts::Text;
use crate::view::{Block, Cell, Field, FieldKind, Page};
use crate::visit::{Outcome, Reply, Visit};

/// The pages of this part, and what their forms do.
pub(crate) async fn route(visit: &Visit<'_>, segments: &[&str]) -> Outcome {
    match (visit.request.is_post, segments) {
        (false, ["person", id]) => show(visit, id, None).await,
        (false, ["person", id, "edit"]) => edit(visit, id, None).await,
        (false, ["person", id, "replace"]) => replace::show(visit, id, None).await,
        (true, ["person", id, "replace"]) => replace::order(visit, id).await,
        (true, ["person", id, kind @ ("topup" | "withdraw")]) => prepare(visit, id, kind).await,
        (true, ["person", id, action]) => act(visit, id, action).await,
        _ => Err(visit.nothing()),
    }
}

async fn person(visit: &Visit<'_>, id: &str) -> Result<EmployeeWithCards, Problem> {
    let found: Data<EmployeeWithCards> = visit.get(&EMPLOYEE_GET, &[id], &[]).await?;
    Ok(found.data)
}

/// The page of a person.
pub(crate) async fn show(visit: &Visit<'_>, id: &str, problem: Option<&Problem>) -> Outcome {
    let person = person(visit, id).await?;
    let employee = &person.employee;
    let name = full_name(employee);
    let title = if name.is_empty() { employee.custom_id.clone() } else { name };
    let mut page = Page::new(title, "people");
    page.push(Block::Facts(facts(visit, employee, &category(visit, employee).await?)));
    let may_change = visit.may(Scope::EmployeesWrite);
    if may_change {
        page.push(Block::Links(vec![Cell::link(visit.t(Text::EDIT), &format!("/person/{id}/edit"))]));
    }
    for linked in &person.cards {
        cards::show(visit, &mut page, id, linked).await?;
    }
    if person.cards.is_empty() {
        page.push(Block::Text(visit.t(Text::NO_CARDS).to_owned()));
    }
    if visit.may(Scope::CardsWrite) && employee.status != EmployeeStatus::DontWork {
        page.push(Block::Form(cards::link_form(visit, id).await?));
    }
    replace::push(visit, &mut page, employee).await?;
    declines::push(visit, &mut page, id).await?;
    if may_change {
        let rule = super::programmes::leavers::rule(visit).await?;
        push_changes(visit, &mut page, id, employee, &rule);
    }
    visit.answer(page, problem)
}

/// The forms that change the status of a person, or erase them.
fn push_changes(visit: &Visit<'_>, page: &mut Page, id: &str, employee: &Employee, rule: &str) {
    let each = STATUSES.iter().map(|status| (status.to_string(), status_text(visit, status).to_owned()));
    let status = Field::new("status", visit.t(Text::STATUS), FieldKind::Select(each.collect()));
    let form = visit.post(&format!("/person/{id}/status"), Text::SAVE).titled(visit.t(Text::CHANGE_STATUS));
    let hint = format!("{} {rule}", visit.t(Text::LEFT_HINT));
    page.push(Block::Form(form.field(status.value(employee.status.as_str()).hint(hint))));
    let sure = Field::new("sure", visit.t(Text::ERASE_SURE), FieldKind::Check).required();
    let erase = visit.post(&format!("/person/{id}/erase"), Text::ERASE).titled(visit.t(Text::ERASE_PERSON));
    page.push(Block::Form(erase.field(sure).dangerous()));
}

async fn category(visit: &Visit<'_>, employee: &Employee) -> Result<String, Problem> {
    let Some(id) = employee.id_category else { return Ok(String::new()) };
    let found = categories(visit).await?.into_iter().find(|category| category.id_category == id);
    Ok(found.map(|category| category.name_category).unwrap_or_default())
}

fn facts(visit: &Visit<'_>, employee: &Employee, category: &str) -> Vec<(String, Cell)> {
    let since = visit.date(employee.status_updated_at);
    let status = format!("{}, {} {since}", status_text(visit, &employee.status), visit.t(Text::SINCE));
    let phone = employee.phone.as_deref().map(|phone| format!("+7{phone}")).unwrap_or_default();
    let facts = [
        (Text::PERSONNEL_NUMBER, employee.custom_id.clone()),
        (Text::STATUS, status),
        (Text::CATEGORY, category.to_owned()),
        (Text::PHONE, phone),
        (Text::EMAIL, employee.email.clone().unwrap_or_default()),
        (Text::ADDED, visit.date(employee.created_at)),
    ];
    let given = facts.into_iter().filter(|(_, value)| !value.is_empty());
    visit.facts(given)
}

/// The form of a person's data.
pub(crate) async fn edit(visit: &Visit<'_>, id: &str, problem: Option<&Problem>) -> Outcome {
    visit.require(Scope::EmployeesWrite)?;
    let Employee { custom_id, surname, name, patronymic, phone, email, id_category, .. } =
        person(visit, id).await?.employee;
    let text = Option::unwrap_or_default;
    let stored = Pairs::from([
        ("customId", &*custom_id),
        ("surname", &text(surname)),
        ("name", &text(name)),
        ("patronymic", &text(patronymic)),
        ("phone", phone.as_deref().unwrap_or_default()),
        ("email", &text(email)),
        ("idCategory", &id_category.map(|id| id.to_string()).unwrap_or_default()),
    ]);
    let values = if problem.is_some() { &visit.form } else { &stored };
    let mut page = Page::new(visit.t(Text::EDIT), "people");
    let form = visit.post(&format!("/person/{id}/edit"), Text::SAVE);
    page.push(Block::Form(person_form(visit, form, values, &categories(visit).await?)));
    page.push(Block::Links(vec![Cell::link(visit.t(Text::BACK), &format!("/person/{id}"))]));
    Ok(Reply::Page(page.refused(problem)))
}

/// Prepares a run of one: its own page shows what it does, and submits it.
async fn prepare(visit: &Visit<'_>, id: &str, kind: &str) -> Outcome {
    let mut item = json!({"idCard": visit.form.get("idCard")});
    if let (Some(amount), Some(item)) = (visit.form.given("rubles"), item.as_object_mut()) {
        item.insert("rubles".to_owned(), json!(amount));
    }
    let kind = if kind == "topup" { "TOP_UP" } else { "WITHDRAW" };
    match draft(visit, json!({"kind": kind, "items": [item]})).await {
        Ok(drafted) => Ok(drafted),
        Err(problem) if problem.status == 403 => Err(Problem::hidden(403, visit.language)),
        Err(problem) => show(visit, id, Some(&problem)).await,
    }
}

/// Carries out a form of the page.
pub(crate) async fn act(visit: &Visit<'_>, id: &str, action: &str) -> Outcome {
    let form = &visit.form;
    let card = form.get("idCard");
    let switch = |status: &str| Some(json!({"idCard": card, "statusCard": status}));
    let done = match action {
        "edit" => {
            let body = Some(Value::Object(person_body(form)));
            visit.change(&EMPLOYEE_UPDATE, &[id], body).await.map(|_| "saved")
        }
        "status" => {
            let body = Some(json!({"status": form.get("status")}));
            visit.change(&EMPLOYEE_UPDATE, &[id], body).await.map(|_| "saved")
        }
        "link" => {
            let body =
                json!({"customIdCard": form.get("customIdCard"), "statusCard": form.get("statusCard")});
            visit.change(&CARD_LINK, &[id], Some(body)).await.map(|_| "linked")
        }
        "freeze" => visit.change(&CARD_SWITCH, &[id], switch("TEMPORARILY_BLOCKED")).await.map(|_| "frozen"),
        "switch" => visit.change(&CARD_SWITCH, &[id], switch(form.get("statusCard"))).await.map(|_| "saved"),
        "unlink" => visit.change(&CARD_UNLINK, &[id, card], None).await.map(|_| "saved"),
        "close" => {
            let body = json!({"data": [{"idCard": card, "reason": form.get("reason")}]});
            visit.change(&CLOSING_CREATE, &[], Some(body)).await.map(|_| "closing")
        }
        "erase" if form.get("sure") != "yes" => Err(Problem::new(422, visit.language, Text::FORM_INCOMPLETE)),
        "erase" => visit.change(&EMPLOYEE_ERASE, &[id], None).await.map(|_| "erased"),
        _ => return Err(visit.nothing()),
    };
    match done {
        Ok("erased") => Ok(Reply::SeeOther("/people?done=erased".to_owned())),
        Ok(done) => Ok(Reply::SeeOther(format!("/person/{id}?done={done}"))),
        Err(problem) if problem.status == 403 => Err(Problem::hidden(403, visit.language)),
        Err(problem) if action == "edit" => edit(visit, id, Some(&problem)).await,
        Err(problem) => show(visit, id, Some(&problem)).await,
    }
}
