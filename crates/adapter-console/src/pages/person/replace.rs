//! A new card in the place of one that was lost: the order, and how far it is.

use kopeck_api::operations::{ORDER_LIST, ORDER_PLASTIC};
use kopeck_api::{CardType, Employee, Order, Page as ListPage};
use kopeck_domain::access::Scope;
use serde_json::json;

use crate::call::Problem;
use crate::pages::orders;
use crate::pages::people::full_name;
use crate::texts::Text;
use crate::view::{Block, Cell, Field, FieldKind, Page, Table};
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
    let given = |name: &str, known: String| visit.form.given(name).map_or(known, str::to_owned);
    let types = [CardType::Mp4, CardType::Kkl].map(|kind| (kind.to_string(), kind.to_string()));
    let phone = person.phone.as_deref().map(str::to_owned).unwrap_or_default();
    let text = |name, label, max| Field::new(name, visit.t(label), FieldKind::Text).max(max).required();
    let form = visit
        .post(&format!("/person/{id}/replace"), Text::ORDER_CARDS)
        .field(
            Field::new("typeCard", visit.t(Text::CARD_TYPE), FieldKind::Select(types.to_vec()))
                .value(visit.form.get("typeCard")),
        )
        .field(text("deliveryAddress", Text::DELIVERY_ADDRESS, 512).value(visit.form.get("deliveryAddress")))
        .field(text("recipient", Text::RECIPIENT, 128).value(given("recipient", full_name(&person))))
        .field(text("phone", Text::PHONE, 16).value(given("phone", phone)).hint(visit.t(Text::PHONE_RULE)));
    let mut page = Page::new(visit.t(Text::REPLACE_CARD), "people");
    page.push(Block::Text(visit.t(Text::REPLACE_RULE).to_owned()));
    page.push(Block::Form(form));
    page.push(Block::Links(vec![Cell::link(visit.t(Text::BACK), &format!("/person/{id}"))]));
    page.status = problem.map_or(200, |problem| problem.status);
    Ok(Reply::Page(page.noting(problem.map(Problem::notice))))
}

/// Orders the card.
pub(super) async fn order(visit: &Visit<'_>, id: &str) -> Outcome {
    let person = super::person(visit, id).await?.employee;
    let form = &visit.form;
    let item = json!({"typeCard": form.get("typeCard"), "numberCards": 1, "deliveryAddress": form.get("deliveryAddress"),
        "recipient": form.get("recipient"), "phone": form.get("phone")});
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
