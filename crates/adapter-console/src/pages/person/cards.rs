//! The cards of a person.

use kopeck_api::operations::{CARD_AVAILABLE, CARD_CAN_PAY, CARD_INFO, CARD_TRANSACTIONS};
use kopeck_api::{
    AvailableCard, BankStatus, Card, CardStatus, Data, EmployeeCard, Page as ListPage, PaymentAnswer,
    Transaction, TransactionType,
};
use kopeck_domain::access::Scope;
use kopeck_domain::run::row::roubles;
use serde_json::{Value, json};

use crate::call::Problem;
use crate::pages::limits;
use crate::texts::{Text, code_text};
use crate::view::{Block, Cell, Field, FieldKind, Form, Page, Table};
use crate::visit::Visit;

/// The least payment: whether a card pays at all.
const LEAST: i64 = 1;

/// Pushes a card with its state, its transactions and its forms.
pub(super) async fn show(
    visit: &Visit<'_>,
    page: &mut Page,
    person: &str,
    linked: &EmployeeCard,
) -> Result<(), Problem> {
    let id = linked.id_card.to_string();
    let Data { data: card }: Data<Card> = visit.get(&CARD_INFO, &[&id], &[]).await?;
    let number = card.custom_card_id;
    page.push(Block::Heading(format!("{} {number}", visit.t(Text::CARD))));
    let answer: Result<PaymentAnswer, Problem> =
        visit.ask(&CARD_CAN_PAY, &[&id], json!({"amount": LEAST})).await;
    page.push(Block::Text(match &answer {
        Ok(answer) => sentence(visit, &card, answer),
        Err(problem) => problem.lines.join(" "),
    }));
    ask(visit, page, person, &card).await?;
    page.push(Block::Facts(facts(visit, &card)));
    page.push(Block::Facts(limits::facts(visit, &card.limit)));
    if let Some(week) = limits::week(visit, &card.limit) {
        page.push(week);
    }
    if visit.may(Scope::RunsWrite) && card.bank_status != BankStatus::Closed {
        let path = format!("/limits?names=customIdCard&people={number}");
        page.push(Block::Links(vec![Cell::link(visit.t(Text::CHANGE_LIMIT), &path)]));
    }
    let transactions: ListPage<Transaction> =
        visit.get(&CARD_TRANSACTIONS, &[&id], &[("per_page", "20")]).await?;
    page.push(Block::Table(transaction_table(visit, number, &transactions.data)));
    push_forms(visit, page, person, &card);
    Ok(())
}

/// The form that asks whether the card would pay an amount at a merchant, and its answer.
async fn ask(visit: &Visit<'_>, page: &mut Page, person: &str, card: &Card) -> Result<(), Problem> {
    let (id, query) = (card.id_card.to_string(), &visit.query);
    let is_asked = query.get("card") == id;
    if is_asked {
        let amount = query.get("rubles");
        let amount = roubles(amount).map_or_else(|_| json!(amount), Value::from);
        let body = json!({"amount": amount, "mcc": query.given("mcc"), "at": query.given("at")});
        let answer: Result<PaymentAnswer, Problem> = visit.ask(&CARD_CAN_PAY, &[&id], body).await;
        page.push(match answer {
            Ok(answer) if answer.allowed => Block::Text(visit.t(Text::WOULD_PAY).to_owned()),
            Ok(answer) => Block::Text(sentence(visit, card, &answer)),
            Err(problem) => Block::Notice(problem.notice()),
        });
    }
    let field = |name, label, max| {
        let field = Field::new(name, visit.t(label), FieldKind::Text).max(max);
        if is_asked { field.value(query.get(name)) } else { field }
    };
    let form =
        Form::search(&format!("/person/{person}"), visit.t(Text::ASK)).titled(visit.t(Text::WOULD_IT_PAY));
    page.push(Block::Form(
        form.hide("card", id)
            .field(field("rubles", Text::AMOUNT, 20).required())
            .field(field("mcc", Text::CATEGORY_CODE, 4))
            .field(field("at", Text::BY_WHEN, 16).hint(visit.t(Text::RUNS_AT_HINT))),
    ));
    Ok(())
}

/// What the card may buy now.
fn sentence(visit: &Visit<'_>, card: &Card, answer: &PaymentAnswer) -> String {
    let mut sentence = if answer.allowed {
        let most = answer.remaining.map_or(card.balance, |remaining| remaining.min(card.balance));
        format!("{} {}.", visit.t(Text::PAYS_UP_TO), visit.money(most))
    } else {
        let code = answer.code.as_deref().unwrap_or_default();
        let reason = code_text(visit.language, code, answer.reason.as_deref().unwrap_or_default());
        format!("{} {reason}", visit.t(Text::DOES_NOT_PAY))
    };
    if let Some(at) = answer.resets_at.filter(|_| answer.remaining.is_some()) {
        sentence.push_str(&format!(" {} {}.", visit.t(Text::LIMIT_RESETS), visit.moment(at)));
    }
    sentence
}

fn facts(visit: &Visit<'_>, card: &Card) -> Vec<(String, Cell)> {
    let status = card.status_card.as_ref().map_or("", |status| status_text(visit, status));
    let facts = [
        (Text::BALANCE, visit.money(card.balance)),
        (Text::CAN_BE_TOPPED_UP, visit.money(card.can_to_up)),
        (Text::CARD_TYPE, card.card_type.to_string()),
        (Text::STATUS, status.to_owned()),
        (Text::AT_THE_BANK, bank_text(visit, &card.bank_status).to_owned()),
        (Text::VALID_UNTIL, visit.date(card.date_until)),
        (Text::ACTIVATED, visit.t(if card.activated { Text::YES } else { Text::NO }).to_owned()),
    ];
    visit.facts(facts)
}

fn status_text<'s>(visit: &Visit<'_>, status: &'s CardStatus) -> &'s str {
    match status {
        CardStatus::Main => visit.t(Text::MAIN_CARD),
        CardStatus::Additional => visit.t(Text::ADDITIONAL_CARD),
        CardStatus::TemporarilyBlocked => visit.t(Text::FROZEN),
        other => other.as_str(),
    }
}

fn bank_text<'s>(visit: &Visit<'_>, status: &'s BankStatus) -> &'s str {
    match status {
        BankStatus::Open => visit.t(Text::OPEN),
        BankStatus::Blocking => visit.t(Text::FREEZING),
        BankStatus::Blocked => visit.t(Text::FROZEN),
        BankStatus::Unblocking => visit.t(Text::UNFREEZING),
        BankStatus::BlockedByBank => visit.t(Text::BLOCKED_BY_BANK),
        BankStatus::Closed => visit.t(Text::CLOSED),
        other => other.as_str(),
    }
}

fn transaction_table(visit: &Visit<'_>, number: u64, transactions: &[Transaction]) -> Table {
    let columns = [
        (Text::DATE, false),
        (Text::KIND, false),
        (Text::PLACE, false),
        (Text::CATEGORY_CODE, false),
        (Text::AMOUNT, true),
    ];
    let caption = format!("{} {number}", visit.t(Text::LATEST_TRANSACTIONS));
    let mut table = Table::new(caption, visit.columns(&columns), visit.t(Text::NO_TRANSACTIONS));
    for each in transactions {
        let (kind, is_income) = match &each.transaction_type {
            TransactionType::Replenishment => (visit.t(Text::TOP_UP), true),
            TransactionType::Payment => (visit.t(Text::PAYMENT), false),
            TransactionType::Refund => (visit.t(Text::REFUND), true),
            TransactionType::Reversal => (visit.t(Text::TAKEN_BACK), false),
            TransactionType::Correction => (visit.t(Text::CORRECTION), true),
            other => (other.as_str(), true),
        };
        table.rows.push(vec![
            Cell::text(visit.moment(each.date_execution_at.with_time(each.time_execution_at))),
            Cell::text(kind),
            Cell::text(each.place.clone().unwrap_or_default()),
            Cell::text(each.mcc.clone().unwrap_or_default()),
            Cell::number(visit.money(if is_income { each.amount } else { -each.amount })),
        ]);
    }
    table
}

fn push_forms(visit: &Visit<'_>, page: &mut Page, person: &str, card: &Card) {
    if card.bank_status == BankStatus::Closed {
        if visit.may(Scope::CardsWrite) {
            page.push(Block::Form(form(visit, person, "unlink", Text::UNLINK, card)));
        }
        return;
    }
    let is_frozen = card.status_card == Some(CardStatus::TemporarilyBlocked);
    if visit.may(Scope::CardsWrite) {
        if is_frozen {
            let status = Field::new("statusCard", visit.t(Text::AS), statuses(visit));
            page.push(Block::Form(form(visit, person, "switch", Text::UNFREEZE, card).field(status)));
        } else {
            page.push(Block::Form(form(visit, person, "freeze", Text::FREEZE, card)));
        }
    }
    if visit.may(Scope::RunsWrite) {
        let amount = || Field::new("rubles", visit.t(Text::AMOUNT), FieldKind::Text).max(20);
        if card.status_card == Some(CardStatus::Main) {
            page.push(Block::Form(
                form(visit, person, "topup", Text::TOP_UP_ONE, card).field(amount().required()),
            ));
        }
        if card.balance > 0 {
            let amount = amount().hint(visit.t(Text::ALL_OF_IT));
            page.push(Block::Form(form(visit, person, "withdraw", Text::TAKE_BACK, card).field(amount)));
        }
    }
    if visit.may(Scope::ClosingsWrite) {
        let reasons = [
            ("LOST", Text::LOST),
            ("STOLEN", Text::STOLEN),
            ("DAMAGED", Text::DAMAGED),
            ("LEAVER", Text::LEAVER),
            ("OTHER", Text::OTHER),
        ];
        let hint = visit.t(Text::CLOSE_HINT);
        let reason = Field::new("reason", visit.t(Text::REASON), FieldKind::Select(visit.options(&reasons)))
            .hint(hint);
        page.push(Block::Form(
            form(visit, person, "close", Text::CLOSE_CARD, card).field(reason).dangerous(),
        ));
    }
}

fn form(visit: &Visit<'_>, person: &str, action: &str, submit: Text, card: &Card) -> Form {
    let form = visit.post(&format!("/person/{person}/{action}"), submit);
    let title = format!("{} {}", visit.t(Text::CARD), card.custom_card_id);
    form.titled(title).hide("idCard", card.id_card.to_string())
}

fn statuses(visit: &Visit<'_>) -> FieldKind {
    let each = [("MAIN", Text::MAIN_CARD), ("ADDITIONAL", Text::ADDITIONAL_CARD)];
    FieldKind::Select(visit.options(&each))
}

/// The form that links a card which belongs to nobody.
pub(super) async fn link_form(visit: &Visit<'_>, person: &str) -> Result<Form, Problem> {
    let free: ListPage<AvailableCard> = visit.get(&CARD_AVAILABLE, &[], &[("per_page", "1")]).await?;
    let number = match free.data.first() {
        Some(card) => format!("{} {}", visit.t(Text::NEXT_CARD), card.custom_id_card),
        None => visit.t(Text::NO_CARD_TO_LINK).to_owned(),
    };
    let field = Field::new("customIdCard", visit.t(Text::CARD_NUMBER), FieldKind::Text).max(13);
    let form = visit.post(&format!("/person/{person}/link"), Text::LINK_CARD);
    let form = form.titled(visit.t(Text::LINK_CARD)).field(field.required().hint(number));
    Ok(form.field(Field::new("statusCard", visit.t(Text::AS), statuses(visit))))
}
