//! Orders of cards, the cards in stock, and activation codes, which are shown on demand and audited.

use kopeck_api::operations::{
    CARD_AVAILABLE, ORDER_CANCEL, ORDER_CONFIRM, ORDER_LIST, ORDER_PLASTIC, ORDER_RESULT, ORDER_STATUS,
    RUN_CREATE,
};
use kopeck_api::{
    AvailableCard, CardType, Order, OrderCreated, OrderKind, OrderResult, OrderState, Page as ListPage,
    RequestState, Run,
};
use kopeck_domain::access::Scope;
use serde_json::{Value, json};

use crate::call::{self, Problem};
use crate::texts::Text;
use crate::view::{Block, Cell, Field, FieldKind, Form, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The pages of this part, and what their forms do.
pub(crate) async fn route(visit: &Visit<'_>, segments: &[&str]) -> Outcome {
    match (visit.request.is_post, segments) {
        (false, ["orders"]) => show(visit, None).await,
        (true, ["orders", kind @ ("plastic" | "virtual")]) => create(visit, kind).await,
        (false, ["order", id]) => order(visit, id, None).await,
        (true, ["order", id, action]) => act(visit, id, action).await,
        _ => Err(visit.nothing()),
    }
}

/// The products that an order of plastic cards can have.
const PLASTIC: [CardType; 2] = [CardType::Mp4, CardType::Kkl];

/// The fields of an order of plastic cards that are texts.
const ADDRESS: [(&str, Text, usize); 3] = [
    ("deliveryAddress", Text::DELIVERY_ADDRESS, 512),
    ("recipient", Text::RECIPIENT, 128),
    ("phone", Text::PHONE, 16),
];

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

/// The orders, the stock, and the forms of new orders.
pub(crate) async fn show(visit: &Visit<'_>, problem: Option<&Problem>) -> Outcome {
    let mut page = Page::new(visit.t(Text::ORDERS), "orders");
    let query = [("page", visit.query.get("page")), ("per_page", "50")];
    let orders: ListPage<Order> = visit.get(&ORDER_LIST, &[], &query).await?;
    let mut table = order_table(visit, &orders.data);
    table.pages = visit.pages("/orders", &orders.meta);
    page.push(Block::Table(table));
    page.push(Block::Table(stock(visit).await?));
    if visit.may(Scope::OrdersWrite) {
        page.push(Block::Form(plastic_form(visit)));
        if visit.may(Scope::RunsWrite) {
            page.push(Block::Form(virtual_form(visit)));
        }
    }
    page.status = problem.map_or(200, |problem| problem.status);
    Ok(Reply::Page(page.noting(problem.map(Problem::notice).or_else(|| visit.done()))))
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
async fn stock(visit: &Visit<'_>) -> Result<Table, Problem> {
    let found: ListPage<AvailableCard> = visit.get(&CARD_AVAILABLE, &[], &[("per_page", "20")]).await?;
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
    Ok(table)
}

fn number_field(visit: &Visit<'_>) -> Field {
    Field::new("numberCards", visit.t(Text::HOW_MANY), FieldKind::Text)
        .value(visit.form.get("numberCards"))
        .max(6)
        .required()
}

fn plastic_form(visit: &Visit<'_>) -> Form {
    let types = PLASTIC.map(|kind| (kind.to_string(), kind.to_string()));
    let kind = Field::new("typeCard", visit.t(Text::CARD_TYPE), FieldKind::Select(types.to_vec()));
    let form = visit.post("/orders/plastic", Text::ORDER_CARDS).titled(visit.t(Text::PLASTIC_CARDS));
    let mut form = form.field(kind.value(visit.form.get("typeCard"))).field(number_field(visit));
    for (name, label, max) in ADDRESS {
        let field =
            Field::new(name, visit.t(label), FieldKind::Text).value(visit.form.get(name)).max(max).required();
        form = form.field(if name == "phone" { field.hint(visit.t(Text::PHONE_RULE)) } else { field });
    }
    form
}

fn virtual_form(visit: &Visit<'_>) -> Form {
    let amount = Field::new("rubles", visit.t(Text::AMOUNT_OF_EACH), FieldKind::Text).max(16).required();
    let form = visit.post("/orders/virtual", Text::CHECK).titled(visit.t(Text::VIRTUAL_CARDS));
    form.field(number_field(visit)).field(amount.value(visit.form.get("rubles")))
}

/// Orders plastic cards; an order of virtual ones is a run, which is shown before it is submitted.
pub(crate) async fn create(visit: &Visit<'_>, kind: &str) -> Outcome {
    let form = &visit.form;
    let made = if kind == "plastic" {
        let number: Value = form
            .get("numberCards")
            .parse::<u32>()
            .map_or_else(|_| json!(form.get("numberCards")), Value::from);
        let [address, recipient, phone] = ADDRESS.map(|(name, ..)| form.get(name));
        let item = json!({"typeCard": form.get("typeCard"), "numberCards": number, "deliveryAddress": address,
            "recipient": recipient, "phone": phone});
        visit.change(&ORDER_PLASTIC, &[], Some(json!({"data": [item]}))).await
    } else {
        let item = json!({"typeCard": CardType::Mlz.as_str(), "numberCards": form.get("numberCards"),
            "rubles": form.get("rubles")});
        visit.change(&RUN_CREATE, &[], Some(json!({"kind": "VIRTUAL_ORDER", "items": [item]}))).await
    };
    match made {
        Ok(response) if kind == "plastic" => {
            let made: OrderCreated = call::read(&response, visit.language)?;
            Ok(Reply::SeeOther(format!("/order/{}?done=saved", made.order_id)))
        }
        Ok(response) => {
            let run: Run = call::read(&response, visit.language)?;
            Ok(Reply::SeeOther(format!("/run/{}", run.id_run)))
        }
        Err(problem) if problem.status == 403 => Err(visit.hidden_alike(problem)),
        Err(problem) => show(visit, Some(&problem)).await,
    }
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
    page.status = problem.map_or(200, |problem| problem.status);
    Ok(Reply::Page(page.noting(problem.map(Problem::notice).or_else(|| visit.done()))))
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
