//! Days: reconciliation with the bank, and the calendar.

use std::sync::Arc;

use kopeck_audit::Outcome as AuditOutcome;
use kopeck_domain::Kopecks;
use kopeck_domain::calendar::{date_text, parse_date};
use kopeck_domain::programme::DayKind;
use kopeck_port_store::{Access, StoreError};
use kopeck_service::bank_reconciliation::{Difference, ReconcileError};
use kopeck_service::calendar as use_cases;
use time::{Date, Duration};

use crate::call::Problem;
use crate::pages::partner_problems::faulty;
use crate::texts::Text;
use crate::view::{Block, Cell, Field, FieldKind, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The most days of a comparison.
const MOST_DAYS: i64 = 31;
/// The most differences that are shown.
const MOST_DIFFERENCES: usize = 500;

/// The form of a comparison with the bank.
pub(super) fn reconciliation(visit: &Visit<'_>, problem: Option<&Problem>) -> Outcome {
    Ok(Reply::Page(compared_page(visit).refused(problem)))
}

fn compared_page(visit: &Visit<'_>) -> Page {
    let mut page = Page::new(visit.t(Text::RECONCILIATION), "service");
    page.push(Block::Text(visit.t(Text::RECONCILIATION_ABOUT).to_owned()));
    let yesterday = date_text(visit.parts.env.today() - Duration::DAY);
    let day = |name, label| {
        let given = visit.form.given(name).unwrap_or(&yesterday).to_owned();
        Field::new(name, visit.t(label), FieldKind::Text).max(10).required().value(given)
    };
    let form = visit.post("/reconciliation", Text::COMPARE);
    let from = day("from", Text::COMPARE_FROM).hint(visit.t(Text::COMPARE_HINT));
    page.push(Block::Form(form.field(from).field(day("to", Text::COMPARE_TO))));
    page
}

/// Compares days with the bank.
pub(super) async fn compare(visit: &Visit<'_>) -> Outcome {
    match differences(visit).await {
        Ok((differences, unread)) => {
            let mut page = compared_page(visit);
            let count = |text: Text, list: &[Difference]| {
                (visit.t(text).to_owned(), Cell::text(list.len().to_string()))
            };
            page.push(Block::Facts(vec![
                count(Text::DIFFERENCES, &differences),
                count(Text::UNREAD, &unread),
            ]));
            page.push(Block::Table(table(visit, Text::DIFFERENCES, Text::NO_DIFFERENCES, &differences)));
            if !unread.is_empty() {
                page.push(Block::Table(table(visit, Text::UNREAD, Text::NO_DIFFERENCES, &unread)));
            }
            Ok(Reply::Page(page))
        }
        Err(problem) => reconciliation(visit, Some(&problem)),
    }
}

async fn differences(visit: &Visit<'_>) -> Result<(Vec<Difference>, Vec<Difference>), Problem> {
    let day = |name| parse_date(visit.form.get(name)).map_err(|invalid| faulty(visit, name, invalid));
    let (from, to): (Date, Date) = (day("from")?, day("to")?);
    if from > to || (to - from).whole_days() >= MOST_DAYS {
        return Err(Problem::new(422, visit.language, Text::PERIOD_TOO_LONG));
    }
    let reconciler = Arc::clone(&visit.parts.operators.reconciler);
    let compared = visit.blocking(move || {
        let mut differences = Vec::new();
        let unread =
            reconciler.compare(&(from..=to), &|| false, &mut |difference| differences.push(difference));
        (differences, unread)
    });
    let (differences, unread) = compared.await?;
    let mut entry = visit.entry("bank.reconcile", None);
    entry.subject =
        format!("from:{} to:{} differences:{}", date_text(from), date_text(to), differences.len());
    entry.outcome = if unread.is_ok() { AuditOutcome::Done } else { AuditOutcome::Failed };
    visit.audited(entry, |_, _| Ok::<_, StoreError>(()), |error| visit.failed(error)).await?;
    let unread = unread.map_err(|error| match error {
        ReconcileError::NotSupported => Problem::new(409, visit.language, Text::NO_REGISTRY),
        ReconcileError::Bank(_) | ReconcileError::Stopped => {
            Problem::new(503, visit.language, Text::BANK_DOES_NOT_ANSWER)
        }
        ReconcileError::Store(error) => visit.failed(&error),
    })?;
    Ok((differences, unread))
}

fn table(visit: &Visit<'_>, caption: Text, empty: Text, list: &[Difference]) -> Table {
    let columns = [
        (Text::DATE, false),
        (Text::PARTNER, false),
        (Text::CARD_NUMBER, false),
        (Text::KIND, false),
        (Text::HERE, true),
        (Text::AT_BANK, true),
        (Text::BANK_KEY, false),
    ];
    let mut table = Table::new(visit.t(caption), visit.columns(&columns), visit.t(empty));
    let amount = |amount: Option<Kopecks>| amount.map(|amount| visit.money(amount.get())).unwrap_or_default();
    for one in list.iter().take(MOST_DIFFERENCES) {
        table.rows.push(vec![
            Cell::text(visit.date(one.day)),
            one.partner
                .map_or_else(Cell::default, |id| Cell::link(id.to_string(), &format!("/partner/{id}"))),
            Cell::text(one.card.to_string()),
            Cell::text(one.kind.name()),
            Cell::number(amount(one.here)),
            Cell::number(amount(one.there)),
            Cell::text(one.key.as_ref().map(|key| key.as_str().to_owned()).unwrap_or_default()),
        ]);
    }
    table
}

/// The calendar of holidays and working Saturdays.
pub(super) async fn calendar(visit: &Visit<'_>, problem: Option<&Problem>) -> Outcome {
    let days = visit.in_store(Access::Read, use_cases::get).await.map_err(|error| visit.failed(&error))?;
    let mut page = Page::new(visit.t(Text::CALENDAR), "service");
    let columns = [Text::DATE, Text::KIND].map(|text| (text, false));
    let mut table = Table::new(visit.t(Text::CALENDAR), visit.columns(&columns), visit.t(Text::NO_DAYS));
    let mut text = "date,kind\n".to_owned();
    for (day, kind) in days.iter() {
        let name = visit.t(if kind == DayKind::Holiday { Text::HOLIDAY } else { Text::WORKING_DAY });
        table.rows.push(vec![Cell::text(visit.date(day)), Cell::text(name)]);
        text.push_str(&format!("{},{}\n", date_text(day), kind.as_str()));
    }
    let given = visit.form.raw("days");
    let area = Field::new("days", visit.t(Text::CALENDAR_DAYS), FieldKind::Area).required();
    let area = area.value(if given.is_empty() { &text } else { given }).hint(visit.t(Text::CALENDAR_HINT));
    page.push(Block::Form(visit.post("/calendar", Text::REPLACE_CALENDAR).field(area)));
    page.push(Block::Table(table));
    visit.answer(page, problem)
}

/// Replaces the calendar.
pub(super) async fn replace_calendar(visit: &Visit<'_>) -> Outcome {
    let days = match use_cases::parse(visit.form.raw("days")) {
        Ok(days) => days,
        Err(faults) => return calendar(visit, Some(&Problem { status: 422, lines: faults })).await,
    };
    let mut entry = visit.entry("calendar.import", None);
    entry.subject = format!("days:{}", days.len());
    let replace =
        visit.audited(entry, move |unit, _| use_cases::replace(unit, &days), |error| visit.failed(error));
    replace.await?;
    Ok(Reply::SeeOther("/calendar?done=saved".to_owned()))
}
