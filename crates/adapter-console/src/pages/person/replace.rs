//! A new card in the place of one that was lost: the order, and how far it is.

use kopeck_api::operations::{ORDER_LIST, ORDER_PLASTIC};
use kopeck_api::{Employee, Order, Page as ListPage};
use kopeck_domain::access::Scope;
use serde_json::json;

use crate::call::Problem;
use crate::pages::orders;
use crate::pages::orders::wizard::{plastic, type_field, with_address};
use crate::pages::people::full_name;
use crate::texts::Text;
use crate::view::{Block, Cell, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The longest reference of a request, in characters.
const MAX_REFERENCE: usize = 64;

/// What orders of a new card for this person are called.
fn reference(person: &Employee) -> String {
    format!("replace {}", person.custom_id).chars().take(MAX_REFERENCE).collect()
}

/// The form of the order.
pub(super) async fn show(visit: &Visit<'_>, id: &str, problem: Option<&Problem>) -> Outcome {
    visit.require(Scope::OrdersWrite)?;
    let person = super::person(visit, id).await?.employee;
    let phone = person.phone.as_deref().unwrap_or_default();
    let mut values = visit.form.clone();
    for (name, known) in [("recipient", &*full_name(&person)), ("phone", phone)] {
        values = if values.given(name).is_some() { values } else { values.with(name, known) };
    }
    let form = visit.post(&format!("/person/{id}/replace"), Text::ORDER_CARDS);
    let form = with_address(visit, form.field(type_field(visit, &values)), &values);
    let mut page = Page::new(visit.t(Text::REPLACE_CARD), "people");
    page.push(Block::Text(visit.t(Text::REPLACE_RULE).to_owned()));
    page.push(Block::Form(form));
    page.push(Block::Links(vec![Cell::link(visit.t(Text::BACK), &format!("/person/{id}"))]));
    Ok(Reply::Page(page.refused(problem)))
}

/// Orders the card.
pub(super) async fn order(visit: &Visit<'_>, id: &str) -> Outcome {
    let person = super::person(visit, id).await?.employee;
    let item = plastic(&visit.form, json!(1));
    let body = json!({"data": [item], "reference": reference(&person)});
    match visit.change(&ORDER_PLASTIC, &[], Some(body)).await {
        Ok(_) => Ok(Reply::SeeOther(format!("/person/{id}?done=ordered"))),
        Err(problem) if problem.status == 403 => Err(visit.hidden_alike(problem)),
        Err(problem) => show(visit, id, Some(&problem)).await,
    }
}

/// Pushes the orders of new cards for this person, and the way to another.
pub(super) async fn push(visit: &Visit<'_>, page: &mut Page, person: &Employee) -> Result<(), Problem> {
    if visit.may(Scope::OrdersWrite) {
        let path = format!("/person/{}/replace", person.id_employee);
        page.push(Block::Links(vec![Cell::link(visit.t(Text::REPLACE_CARD), &path)]));
    }
    let reference = reference(person);
    let query = [("reference", &*reference), ("per_page", "5")];
    let Ok(found) = visit.get::<ListPage<Order>>(&ORDER_LIST, &[], &query).await else { return Ok(()) };
    let columns = [Text::CREATED, Text::CARD_TYPE, Text::STATE].map(|text| (text, false));
    let mut table = Table::new(visit.t(Text::CARDS_ON_THEIR_WAY), visit.columns(&columns), "");
    for order in &found.data {
        table.rows.push(vec![
            Cell::link(visit.moment(order.created_at), &format!("/order/{}", order.order_id)),
            Cell::text(order.type_card.as_str()),
            Cell::text(orders::state_text(visit, &order.state)),
        ]);
    }
    if !table.rows.is_empty() {
        page.push(Block::Table(table));
    }
    Ok(())
}
