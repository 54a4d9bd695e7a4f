//! Requests whose outcome only the bank's people know.

use kopeck_audit::Entry;
use kopeck_domain::Kopecks;
use kopeck_domain::ids::CardId;
use kopeck_port_store::{Access, Subject, UnitOfWork};
use kopeck_service::stuck::{self, StuckError, StuckOutcome, StuckRequest};
use uuid::Uuid;

use super::partner::amount_of;
use crate::call::Problem;
use crate::texts::Text;
use crate::view::{Block, Cell, Field, FieldKind, Form, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The page.
const PATH: &str = "/stuck";

fn name(subject: Subject) -> (Text, Uuid) {
    match subject {
        Subject::Order(id) => (Text::ORDER, id.uuid()),
        Subject::Replenishment(id) => (Text::TOP_UP, id.uuid()),
        Subject::LimitChange(id) => (Text::LIMIT_CHANGES, id.uuid()),
        Subject::Closing(id) => (Text::SCOPE_CLOSINGS, id.uuid()),
        Subject::Withdrawal(id) => (Text::WITHDRAWALS, id.uuid()),
        Subject::Run(id) => (Text::RUNS, id.uuid()),
    }
}

/// The requests, each with its instructions and the form that books their outcome.
pub(super) async fn show(visit: &Visit<'_>, problem: Option<&Problem>) -> Outcome {
    let found = visit.in_store(Access::Read, stuck::list).await.map_err(|error| visit.failed(&error))?;
    let mut page = Page::new(visit.t(Text::STUCK), "service");
    page.push(Block::Text(visit.t(Text::STUCK_ABOUT).to_owned()));
    if found.is_empty() {
        page.push(Block::Text(visit.t(Text::NOTHING_STUCK).to_owned()));
    }
    for one in &found {
        let (kind, id) = name(one.subject);
        page.push(Block::Heading(format!("{} {id}", visit.t(kind))));
        page.push(Block::Facts(visit.facts([
            (Text::PARTNER, one.partner.to_string()),
            (Text::WAITS_SINCE, visit.instant(one.since)),
        ])));
        page.push(Block::Table(instructions(visit, one)));
        page.push(Block::Form(form(visit, one, id)));
    }
    visit.answer(page, problem)
}

fn instructions(visit: &Visit<'_>, one: &StuckRequest) -> Table {
    let columns = [(Text::BANK_KEY, false), (Text::CARD_NUMBER, false), (Text::HELD, true)];
    let mut table = Table::new(visit.t(Text::INSTRUCTIONS), visit.columns(&columns), "");
    for instruction in &one.instructions {
        table.rows.push(vec![
            Cell::text(instruction.key.as_str()),
            Cell::text(instruction.card.map(|(_, number)| number.to_string()).unwrap_or_default()),
            Cell::number(instruction.held.map(|held| visit.money(held.get())).unwrap_or_default()),
        ]);
    }
    table
}

fn form(visit: &Visit<'_>, one: &StuckRequest, id: Uuid) -> Form {
    let outcomes = visit.options(&[("refused", Text::BANK_REFUSED), ("applied", Text::BANK_APPLIED)]);
    let cards = one.instructions.iter().filter_map(|instruction| instruction.card);
    let cards: Vec<_> = visit
        .options(&[("", Text::ALL)])
        .into_iter()
        .chain(cards.map(|(id, number)| (id.to_string(), number.to_string())))
        .collect();
    let returned = Field::new("returned", visit.t(Text::RETURNED_ROUBLES), FieldKind::Text).max(24);
    visit
        .post(PATH, Text::BOOK_OUTCOME)
        .hide("request", id.to_string())
        .hide("partner", one.partner.to_string())
        .field(Field::new("outcome", visit.t(Text::OUTCOME), FieldKind::Select(outcomes)))
        .field(Field::new("card", visit.t(Text::CARD), FieldKind::Select(cards)))
        .field(returned.hint(visit.t(Text::RETURNED_HINT)))
        .field(Field::new("sure", visit.t(Text::BOOK_SURE), FieldKind::Check).required())
        .dangerous()
}

/// Books what an operator found out at the bank.
pub(super) async fn settle(visit: &Visit<'_>) -> Outcome {
    match settled(visit).await {
        Ok(()) => Ok(Reply::SeeOther(format!("{PATH}?done=saved"))),
        Err(problem) => show(visit, Some(&problem)).await,
    }
}

async fn settled(visit: &Visit<'_>) -> Result<(), Problem> {
    let incomplete = || Problem::new(422, visit.language, Text::FORM_INCOMPLETE);
    if visit.form.get("sure") != "yes" {
        return Err(incomplete());
    }
    let request: Uuid = visit.form.get("request").parse().map_err(|_| incomplete())?;
    let partner = super::partner::id_of(visit, visit.form.get("partner"))?;
    let card: Option<CardId> =
        visit.form.given("card").map(str::parse).transpose().map_err(|_| incomplete())?;
    let returned: Option<Kopecks> =
        visit.form.given("returned").map(|_| amount_of(visit, "returned")).transpose()?;
    let outcome = match (visit.form.get("outcome"), returned) {
        ("applied", None) => StuckOutcome::Applied,
        ("applied", Some(amount)) => StuckOutcome::Returned(amount),
        ("refused", None) => StuckOutcome::Refused,
        _ => return Err(incomplete()),
    };
    let env = visit.parts.env.clone();
    let mut entry = visit.entry("requests.settle", None);
    entry.subject = format!("request:{request}");
    let settle = move |unit: &mut dyn UnitOfWork, _: &mut Entry| {
        let settled = stuck::settle(unit, &env, request, outcome, card)?;
        Ok::<_, StuckError>(serde_json::json!(settled))
    };
    visit.once(partner, entry, settle, |error| refusal(visit, error)).await.map(drop)
}

fn refusal(visit: &Visit<'_>, error: &StuckError) -> Problem {
    let problem = |status, text| Problem::new(status, visit.language, text);
    match error {
        StuckError::NotStuck(_) | StuckError::NotItsCard(_) => problem(404, Text::NOT_STUCK),
        StuckError::OrderApplied | StuckError::OrderCard | StuckError::OrderHasCards => {
            problem(409, Text::ORDER_ENDS_BY_ITSELF)
        }
        StuckError::AmountNeeded | StuckError::NoAmount => problem(422, Text::RETURNED_HINT),
        StuckError::MoreThanSpent(spent) => {
            let mut problem = problem(409, Text::MORE_THAN_SPENT);
            problem.lines.push(visit.money(*spent));
            problem
        }
        StuckError::Store(_) => visit.failed(error),
    }
}
