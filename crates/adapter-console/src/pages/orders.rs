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

/// The products that an order of plastic cards can have.
const PLASTIC: [CardType; 2] = [CardType::Mp4, CardType::Kkl];

/// The fields of an order of plastic cards that are texts.
const ADDRESS: [(&str, Text, usize); 3] = [
    ("deliveryAddress", Text::DeliveryAddress, 512),
    ("recipient", Text::Recipient, 128),
    ("phone", Text::Phone, 16),
];

fn state_text<'s>(visit: &Visit<'_>, state: &'s RequestState) -> &'s str {
    match state {
        RequestState::New => visit.t(Text::Accepted),
        RequestState::InProcess => visit.t(Text::InProcess),
        RequestState::Success => visit.t(Text::Done),
        RequestState::PartSuccess => visit.t(Text::PartlyDone),
        RequestState::Decline => visit.t(Text::Declined),
        RequestState::Rejected => visit.t(Text::Rejected),
        RequestState::Confirmed => visit.t(Text::ReceiptConfirmed),
        other => other.as_str(),
    }
}

/// The orders, the stock, and the forms of new orders.
pub(crate) async fn show(visit: &Visit<'_>, problem: Option<&Problem>) -> Outcome {
    let mut page = Page::new(visit.t(Text::Orders), "orders");
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
        (Text::Created, false),
        (Text::Kind, false),
        (Text::CardType, false),
        (Text::State, false),
        (Text::Cards, true),
        (Text::Amount, true),
    ];
    let mut table = Table::new(visit.t(Text::Orders), visit.columns(&columns), visit.t(Text::NoOrders));
    for order in orders {
        let kind = match &order.kind {
            OrderKind::Plastic => visit.t(Text::PlasticCards),
            OrderKind::Virtual => visit.t(Text::VirtualCards),
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
    let columns = [Text::CardNumber, Text::CardType, Text::ValidUntil].map(|text| (text, false));
    let total = found.meta.total.unwrap_or_default();
    let caption = format!("{}: {total}", visit.t(Text::Stock));
    let mut table = Table::new(caption, visit.columns(&columns), visit.t(Text::NoCardToLink));
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
    Field::new("numberCards", visit.t(Text::HowMany), FieldKind::Text)
        .value(visit.form.get("numberCards"))
        .max(6)
        .required()
}

fn plastic_form(visit: &Visit<'_>) -> Form {
    let types = PLASTIC.map(|kind| (kind.to_string(), kind.to_string()));
    let kind = Field::new("typeCard", visit.t(Text::CardType), FieldKind::Select(types.to_vec()));
    let form = visit.post("/orders/plastic", Text::OrderCards).titled(visit.t(Text::PlasticCards));
    let mut form = form.field(kind.value(visit.form.get("typeCard"))).field(number_field(visit));
    for (name, label, max) in ADDRESS {
        let field =
            Field::new(name, visit.t(label), FieldKind::Text).value(visit.form.get(name)).max(max).required();
        form = form.field(if name == "phone" { field.hint(visit.t(Text::PhoneRule)) } else { field });
    }
    form
}

fn virtual_form(visit: &Visit<'_>) -> Form {
    let amount = Field::new("rubles", visit.t(Text::AmountOfEach), FieldKind::Text).max(16).required();
    let form = visit.post("/orders/virtual", Text::Check).titled(visit.t(Text::VirtualCards));
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
        Page::new(format!("{}: {}", visit.t(Text::Order), state_text(visit, &state.message)), "orders");
    let identifier = (visit.t(Text::Identifier).to_owned(), Cell::text(id));
    let reference = state.reference.clone().unwrap_or_default();
    page.push(Block::Facts(vec![identifier, (visit.t(Text::Reference).to_owned(), Cell::text(reference))]));
    let form = |action: &str, submit| visit.post(&format!("/order/{id}/{action}"), submit);
    let is_done = matches!(state.message, RequestState::Success | RequestState::Confirmed);
    if is_done && visit.may(Scope::OrdersWrite) {
        page.push(Block::Text(visit.t(Text::CodesAreAudited).to_owned()));
        page.push(Block::Form(form("codes", Text::ShowCards)));
    }
    if visit.may(Scope::OrdersWrite) {
        match state.message {
            RequestState::New => page.push(Block::Form(form("cancel", Text::CancelOrder).dangerous())),
            RequestState::Success => page.push(Block::Form(form("confirm", Text::ConfirmReceipt))),
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
        _ => return Err(Problem::hidden(404, visit.language)),
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
    let columns =
        [Text::CardNumber, Text::CardType, Text::ActivationCode, Text::ValidUntil].map(|text| (text, false));
    let mut table = Table::new(visit.t(Text::Cards), visit.columns(&columns), visit.t(Text::NoCards));
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
    let mut page = Page::new(visit.t(Text::Cards), "orders");
    page.push(Block::Table(table));
    page.push(Block::Links(vec![Cell::link(visit.t(Text::Back), &format!("/order/{id}"))]));
    Ok(Reply::Page(page))
}
