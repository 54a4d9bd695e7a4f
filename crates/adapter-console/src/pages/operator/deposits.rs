//! Deposits by four eyes: one operator enters what has arrived, another one confirms it.

use std::collections::HashMap;

use kopeck_audit::Entry;
use kopeck_domain::access::Authority;
use kopeck_domain::approval::{ApprovalError, Digest};
use kopeck_domain::ids::PartnerId;
use kopeck_domain::ledger::TransferReference;
use kopeck_domain::pending_deposit::PendingDeposit;
use kopeck_port_store::{Access, UnitOfWork};
use kopeck_service::partners::{self, PartnerError, PendingDepositError, digest_of_deposit};

use super::partner as partner_page;
use super::partner::{amount_of, id_of};
use crate::call::Problem;
use crate::pages::names::Names;
use crate::pages::partner_problems::{faulty, partner_problem};
use crate::texts::Text;
use crate::view::{Block, Cell, Field, FieldKind, Form, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The page of what waits.
const PATH: &str = "/deposits";

/// The form by which a deposit is entered.
pub(super) fn form(visit: &Visit<'_>, partner: &str) -> Form {
    let value = |name| visit.form.get(name).to_owned();
    let amount = Field::new("deposited", visit.t(Text::AMOUNT_IN_ROUBLES), FieldKind::Text).max(24);
    let reference = Field::new("reference", visit.t(Text::REFERENCE), FieldKind::Text).max(64);
    visit
        .post(&format!("/partner/{partner}/deposit"), Text::ENTER)
        .titled(visit.t(Text::ENTER_DEPOSIT))
        .field(amount.required().value(value("deposited")))
        .field(reference.required().value(value("reference")).hint(visit.t(Text::DEPOSIT_HINT)))
}

/// What the refusal of a deposit says.
fn refusal(visit: &Visit<'_>, error: &PendingDepositError) -> Problem {
    let problem = |status, text| Problem::new(status, visit.language, text);
    match error {
        PendingDepositError::NotPending => problem(404, Text::NO_SUCH_DEPOSIT),
        PendingDepositError::ReferenceWaits => problem(409, Text::REFERENCE_WAITS),
        PendingDepositError::Approval(ApprovalError::Forbidden) => problem(403, Text::ANOTHER_CONFIRMS),
        PendingDepositError::Approval(ApprovalError::Changed) => problem(409, Text::DEPOSIT_CHANGED),
        PendingDepositError::Approval(ApprovalError::Expired) => problem(409, Text::DEPOSIT_EXPIRED),
        PendingDepositError::Partner(error) => partner_problem(visit, error),
    }
}

fn reference_of(visit: &Visit<'_>) -> Result<TransferReference, Problem> {
    TransferReference::parse(visit.form.get("reference"))
        .map_err(|invalid| faulty(visit, "reference", invalid))
}

/// Enters a deposit.
pub(super) async fn enter(visit: &Visit<'_>, operator: &Authority, id: &str) -> Outcome {
    let partner = id_of(visit, id)?;
    match entered(visit, operator, partner).await {
        Ok(()) => Ok(Reply::SeeOther(format!("{PATH}?done=entered"))),
        Err(problem) => partner_page::show(visit, id, Some(&problem)).await,
    }
}

async fn entered(visit: &Visit<'_>, operator: &Authority, partner: PartnerId) -> Result<(), Problem> {
    let (amount, reference) = (amount_of(visit, "deposited")?, reference_of(visit)?);
    let (env, by) = (visit.parts.env.clone(), operator.actor.clone());
    let mut entry = visit.entry("partner.deposit.enter", Some(partner));
    entry.subject = format!("transfer:{} amount:{}", reference.as_str(), amount.get());
    let enter = move |unit: &mut dyn UnitOfWork, _: &mut Entry| {
        partners::enter_deposit(unit, &env, &by, partner, amount, &reference).map(drop)
    };
    visit.audited(entry, enter, |error| refusal(visit, error)).await
}

/// What waits for another operator.
pub(super) async fn show(visit: &Visit<'_>, operator: &Authority, problem: Option<&Problem>) -> Outcome {
    let read = visit.in_store(Access::Read, |unit| {
        let waiting = partners::pending_deposits(unit)?;
        let names = partners::list(unit)?.into_iter().map(|partner| (partner.id, partner.name));
        Ok::<_, PartnerError>((waiting, names.collect::<HashMap<PartnerId, String>>()))
    });
    let (waiting, partners) = read.await.map_err(|error| partner_problem(visit, &error))?;
    let names = Names::of(visit).await;
    let mut page = Page::new(visit.t(Text::DEPOSITS_WAITING), "deposits");
    let columns = [
        (Text::PARTNER, false),
        (Text::AMOUNT, true),
        (Text::REFERENCE, false),
        (Text::ENTERED_BY, false),
        (Text::DATE, false),
    ];
    let mut table =
        Table::new(visit.t(Text::DEPOSITS_WAITING), visit.columns(&columns), visit.t(Text::NO_DEPOSITS));
    for one in &waiting {
        let name = partners.get(&one.partner).cloned().unwrap_or_default();
        table.rows.push(vec![
            Cell::link(name, &format!("/partner/{}", one.partner)),
            Cell::number(visit.money(one.amount.get())),
            Cell::text(one.reference.as_str()),
            Cell::text(names.show(visit, &one.by.to_string())),
            Cell::text(visit.instant(one.at)),
        ]);
    }
    page.push(Block::Table(table));
    for one in &waiting {
        let name = partners.get(&one.partner).map_or("", String::as_str);
        decisions(visit, operator, one, name, &mut page);
    }
    visit.answer(page, problem)
}

/// The forms by which one deposit is confirmed or refused.
fn decisions(visit: &Visit<'_>, operator: &Authority, one: &PendingDeposit, name: &str, page: &mut Page) {
    let title = format!("{name}: {}, {}", visit.money(one.amount.get()), one.reference.as_str());
    let form = |action: &str, submit| {
        visit
            .post(&format!("{PATH}/{action}"), submit)
            .titled(title.clone())
            .hide("partner", one.partner.to_string())
            .hide("reference", one.reference.as_str())
    };
    if one.is_expired(visit.parts.env.now()) {
        page.push(Block::Text(format!("{title}. {}", visit.t(Text::DEPOSIT_EXPIRED))));
    } else if one.by == operator.actor {
        page.push(Block::Text(format!("{title}. {}", visit.t(Text::ANOTHER_CONFIRMS))));
    } else {
        let confirm = form("confirm", Text::CONFIRM_DEPOSIT);
        page.push(Block::Form(confirm.hide("digest", digest_of_deposit(one).to_string())));
    }
    page.push(Block::Form(form("refuse", Text::REFUSE_DEPOSIT).dangerous()));
}

/// Confirms or refuses a deposit.
pub(super) async fn act(visit: &Visit<'_>, operator: &Authority, action: &str) -> Outcome {
    let done = match action {
        "confirm" => confirm(visit, operator).await.map(|()| "deposited"),
        "refuse" => refuse(visit).await.map(|()| "refuse"),
        _ => return Err(visit.nothing()),
    };
    match done {
        Ok(word) => Ok(Reply::SeeOther(format!("{PATH}?done={word}"))),
        Err(problem) => show(visit, operator, Some(&problem)).await,
    }
}

/// Both names stand in the entry: its actor, and who has entered the deposit.
fn note(entry: &mut Entry, deposit: &PendingDeposit) {
    entry.subject = format!(
        "transfer:{} amount:{} entered-by:{}",
        deposit.reference.as_str(),
        deposit.amount.get(),
        deposit.by
    );
}

async fn confirm(visit: &Visit<'_>, operator: &Authority) -> Result<(), Problem> {
    let (partner, reference) = (id_of(visit, visit.form.get("partner"))?, reference_of(visit)?);
    let seen = visit.form.get("digest").parse::<Digest>();
    let seen = seen.map_err(|_| Problem::new(422, visit.language, Text::FORM_INCOMPLETE))?;
    let (env, by) = (visit.parts.env.clone(), operator.clone());
    let entry = visit.entry("partner.deposit", Some(partner));
    let confirm = move |unit: &mut dyn UnitOfWork, entry: &mut Entry| {
        let booked = partners::confirm_deposit(unit, &env, &by, partner, &reference, seen)?;
        note(entry, &booked);
        Ok::<_, PendingDepositError>(serde_json::Value::Null)
    };
    visit.once(partner, entry, confirm, |error| refusal(visit, error)).await.map(drop)
}

async fn refuse(visit: &Visit<'_>) -> Result<(), Problem> {
    let (partner, reference) = (id_of(visit, visit.form.get("partner"))?, reference_of(visit)?);
    let entry = visit.entry("partner.deposit.refuse", Some(partner));
    let refuse = move |unit: &mut dyn UnitOfWork, entry: &mut Entry| {
        let refused = partners::refuse_deposit(unit, partner, &reference)?;
        note(entry, &refused);
        Ok::<_, PendingDepositError>(serde_json::Value::Null)
    };
    visit.once(partner, entry, refuse, |error| refusal(visit, error)).await.map(drop)
}
