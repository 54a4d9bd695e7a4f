//! Orders of cards, the cards in stock, and activation codes, which are shown on demand and audited.

pub(crate) mod wizard;

use kopeck_api::operations::{
    CARD_AVAILABLE, ORDER_CANCEL, ORDER_CONFIRM, ORDER_LIST, ORDER_RESULT, ORDER_STATUS,
};
use kopeck_api::{
    AvailableCard, Order, OrderKind, OrderResult, OrderState, Page as ListPage, PageMeta, RequestState,
};
use kopeck_domain::access::Scope;
use serde_json::json;

use crate::call::Problem;
use crate::texts::Text;
use crate::view::{Block, Cell, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The pages of this part, and what their forms do.
pub(crate) async fn route(visit: &Visit<'_>, segments: &[&str]) -> Outcome {
    match (visit.request.is_post, segments) {
        (false, ["orders"]) => show(visit).await,
        (false, ["orders", "stock"]) => stock_page(visit).await,
        (false, ["orders", "new"]) => wizard::show(visit).await,
        (true, ["orders", "new"]) => wizard::count(visit).await,
        (true, ["orders", kind @ ("plastic" | "virtual")]) => wizard::create(visit, kind).await,
        (false, ["order", id]) => order(visit, id, None).await,
        (true, ["order", id, action]) => act(visit, id, action).await,
        _ => Err(visit.nothing()),
    }
}

pub(super) fn state_text<'s>(visit: &Visit<'_>, state: &'s RequestState) -> &'s str {
    match state {
        RequestState::New => visit.t(Text::ACCEPTED),
        RequestState::InProcess => visit.t(Text::IN_PROCESS),
        RequestState::Success => visit.t(Text::DONE),
        RequestState::PartSuccess => visit.t(Text::PARTLY_DONE),
        RequestState::Decline => visit.t(Text::DECLINED),
        RequestState::Rejected => visit.t(Text::REJECTED),
        RequestState::Confirmed => visit.t(Text::RECEIPT_CONFIRMED),
        other => other.as_str(),
    }
}

/// The orders, and the beginning of the stock.
async fn show(visit: &Visit<'_>) -> Outcome {
    let mut page = Page::new(visit.t(Text::ORDERS), "orders");
    if visit.may(Scope::OrdersWrite) {
        page.push(Block::Links(vec![Cell::link(visit.t(Text::NEW_ORDER), "/orders/new")]));
    }
    let query = [("page", visit.query.get("page")), ("per_page", "50")];
    let orders: ListPage<Order> = visit.get(&ORDER_LIST, &[], &query).await?;
    let mut table = order_table(visit, &orders.data);
    table.pages = visit.pages("/orders", &orders.meta);
    page.push(Block::Table(table));
    let (stock, _) = stock(visit, &[("per_page", "20")]).await?;
    page.push(Block::Table(stock));
    page.push(Block::Links(vec![Cell::link(visit.t(Text::ALL_STOCK), "/orders/stock")]));
    Ok(Reply::Page(page.noting(visit.done())))
}

/// All cards in stock.
async fn stock_page(visit: &Visit<'_>) -> Outcome {
    let query = [("page", visit.query.get("page")), ("per_page", "100")];
    let (mut table, meta) = stock(visit, &query).await?;
    table.pages = visit.pages("/orders/stock", &meta);
    let mut page = Page::new(visit.t(Text::ALL_STOCK), "orders");
    page.push(Block::Table(table));
    page.push(Block::Links(vec![Cell::link(visit.t(Text::ORDERS), "/orders")]));
    Ok(Reply::Page(page))
}

fn order_table(visit: &Visit<'_>, orders: &[Order]) -> Table {
    let columns = [
        (Text::CREATED, false),
        (Text::KIND, false),
        (Text::CARD_TYPE, false),
        (Text::STATE, false),
        (Text::CARDS, true),
        (Text::AMOUNT, true),
    ];
    let mut table = Table::new(visit.t(Text::ORDERS), visit.columns(&columns), visit.t(Text::NO_ORDERS));
    for order in orders {
        let kind = match &order.kind {
            OrderKind::Plastic => visit.t(Text::PLASTIC_CARDS),
            OrderKind::Virtual => visit.t(Text::VIRTUAL_CARDS),
            other => other.as_str(),
        };
        table.rows.push(vec![
            Cell::link(visit.moment(order.created_at), &format!("/order/{}", order.order_id)),
            Cell::text(kind),
            Cell::text(order.type_card.as_str()),
            Cell::text(state_text(visit, &order.state)),
            Cell::number(order.number_cards.to_string()),
            Cell::number(visit.money(order.amount)),
        ]);
    }
    table
}

/// The cards that belong to nobody yet.
async fn stock(visit: &Visit<'_>, query: &[(&str, &str)]) -> Result<(Table, PageMeta), Problem> {
    let found: ListPage<AvailableCard> = visit.get(&CARD_AVAILABLE, &[], query).await?;
    let columns = [Text::CARD_NUMBER, Text::CARD_TYPE, Text::VALID_UNTIL].map(|text| (text, false));
    let total = found.meta.total.unwrap_or_default();
    let caption = format!("{}: {total}", visit.t(Text::STOCK));
    let mut table = Table::new(caption, visit.columns(&columns), visit.t(Text::NO_CARD_TO_LINK));
    for card in &found.data {
        table.rows.push(vec![
            Cell::text(card.custom_id_card.clone()),
            Cell::text(card.type_card.as_str()),
            Cell::text(visit.date(card.date_until)),
        ]);
    }
    Ok((table, found.meta))
}

/// An order and what can be done with it.
pub(crate) async fn order(visit: &Visit<'_>, id: &str, problem: Option<&Problem>) -> Outcome {
    let state: OrderState = visit.get(&ORDER_STATUS, &[id], &[]).await?;
    let mut page =
        Page::new(format!("{}: {}", visit.t(Text::ORDER), state_text(visit, &state.message)), "orders");
    let identifier = (visit.t(Text::IDENTIFIER).to_owned(), Cell::text(id));
    let reference = state.reference.clone().unwrap_or_default();
    page.push(Block::Facts(vec![identifier, (visit.t(Text::REFERENCE).to_owned(), Cell::text(reference))]));
    let form = |action: &str, submit| visit.post(&format!("/order/{id}/{action}"), submit);
    let is_done = matches!(state.message, RequestState::Success | RequestState::Confirmed);
    if is_done && visit.may(Scope::OrdersWrite) {
        page.push(Block::Text(visit.t(Text::CODES_ARE_AUDITED).to_owned()));
        page.push(Block::Form(form("codes", Text::SHOW_CARDS)));
    }
    if visit.may(Scope::OrdersWrite) {
        match state.message {
            RequestState::New => page.push(Block::Form(form("cancel", Text::CANCEL_ORDER).dangerous())),
            RequestState::Success => page.push(Block::Form(form("confirm", Text::CONFIRM_RECEIPT))),
            _ => {}
        }
    }
    visit.answer(page, problem)
}

/// Carries out a form of the page of an order.
pub(crate) async fn act(visit: &Visit<'_>, id: &str, action: &str) -> Outcome {
    let body = Some(json!({"orderId": id}));
    let done = match action {
        "codes" => return codes(visit, id).await,
        "confirm" => visit.change(&ORDER_CONFIRM, &[], body).await,
        "cancel" => visit.change(&ORDER_CANCEL, &[], body).await,
        _ => return Err(visit.nothing()),
    };
    match done {
        Ok(_) => Ok(Reply::SeeOther(format!("/order/{id}?done=saved"))),
        Err(problem) if [403, 404].contains(&problem.status) => Err(visit.hidden_alike(problem)),
        Err(problem) => order(visit, id, Some(&problem)).await,
    }
}

/// The cards of an order with their activation codes.
async fn codes(visit: &Visit<'_>, id: &str) -> Outcome {
    let result: OrderResult = visit.get(&ORDER_RESULT, &[id], &[]).await?;
    let columns = [Text::CARD_NUMBER, Text::CARD_TYPE, Text::ACTIVATION_CODE, Text::VALID_UNTIL]
        .map(|text| (text, false));
    let mut table = Table::new(visit.t(Text::CARDS), visit.columns(&columns), visit.t(Text::NO_CARDS));
    for card in &result.data {
        let activation = card.activation.as_ref();
        let code = activation.and_then(|one| one.activation_code.as_ref()).map(|code| code.0.clone());
        table.rows.push(vec![
            Cell::text(card.custom_id_card.clone()),
            Cell::text(card.type_card.as_str()),
            Cell::text(code.unwrap_or_default()),
            Cell::text(activation.map(|one| visit.date(one.validity_period)).unwrap_or_default()),
        ]);
    }
    let mut page = Page::new(visit.t(Text::CARDS), "orders");
    page.push(Block::Table(table));
    page.push(Block::Links(vec![Cell::link(visit.t(Text::BACK), &format!("/order/{id}"))]));
    Ok(Reply::Page(page))
}
