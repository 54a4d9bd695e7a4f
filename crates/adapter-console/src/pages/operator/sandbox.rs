//! Controls of the sandbox: its clock, and the faults of its bank.

use std::time::Duration;

use kopeck_audit::Outcome as AuditOutcome;
use kopeck_port_bank::sandbox::{BankFaults, CommandKey, Sandbox, SandboxError};
use kopeck_port_store::{Access, StoreError};

use crate::call::Problem;
use crate::texts::Text;
use crate::view::{Block, Field, FieldKind, Page};
use crate::visit::{Outcome, Reply, Visit};

/// The page.
const PATH: &str = "/sandbox";
/// The farthest that the clock moves in one step: ten years, as by the API.
const MOST_HOURS: u64 = 10 * 365 * 24;
/// The rates of faults in percent, each with its name.
const RATES: [(&str, Text); 4] = [
    ("errorRate", Text::RATE_OF_ERRORS),
    ("loseRequestRate", Text::RATE_OF_LOST_REQUESTS),
    ("loseAnswerRate", Text::RATE_OF_LOST_ANSWERS),
    ("duplicateRate", Text::RATE_OF_DUPLICATES),
];

fn sandbox_of<'v>(visit: &'v Visit<'_>) -> Result<&'v Sandbox, Problem> {
    visit.parts.operators.sandbox.as_ref().ok_or_else(|| visit.nothing())
}

/// The page of the sandbox.
pub(super) fn show(visit: &Visit<'_>, problem: Option<&Problem>) -> Outcome {
    sandbox_of(visit)?;
    let env = &visit.parts.env;
    let mut page = Page::new(visit.t(Text::SANDBOX), "service");
    page.push(Block::Text(visit.t(Text::SANDBOX_ABOUT).to_owned()));
    let ahead = env.clock.ahead().whole_hours();
    page.push(Block::Facts(
        visit
            .facts([(Text::SERVICE_CLOCK, visit.instant(env.now())), (Text::HOURS_AHEAD, ahead.to_string())]),
    ));
    let hours = Field::new("hours", visit.t(Text::HOURS), FieldKind::Text).max(6).required();
    let clock = visit.post(&format!("{PATH}/clock"), Text::MOVE_CLOCK).titled(visit.t(Text::MOVE_CLOCK));
    page.push(Block::Form(clock.field(hours.hint(visit.t(Text::CLOCK_HINT)))));
    let mut faults =
        visit.post(&format!("{PATH}/faults"), Text::SET_FAULTS).titled(visit.t(Text::BANK_FAULTS));
    faults = faults.field(Field::new("down", visit.t(Text::BANK_DOWN), FieldKind::Check));
    faults = faults.field(Field::new("silentFeed", visit.t(Text::SILENT_FEED), FieldKind::Check));
    faults = faults.field(Field::new("latencyMs", visit.t(Text::LATENCY), FieldKind::Text).max(5).value("0"));
    for (name, label) in RATES {
        faults = faults.field(Field::new(name, visit.t(label), FieldKind::Text).max(3).value("0"));
    }
    page.push(Block::Form(faults));
    page.push(Block::Form(visit.post(&format!("{PATH}/faults"), Text::END_FAULTS)));
    visit.answer(page, problem)
}

/// Carries out a form of the sandbox.
pub(super) async fn act(visit: &Visit<'_>, action: &str) -> Outcome {
    let sandbox = sandbox_of(visit)?.clone();
    let done = match action {
        "clock" => advance(visit, sandbox).await,
        "faults" => inject(visit, sandbox).await,
        _ => return Err(visit.nothing()),
    };
    match done {
        Ok(()) => Ok(Reply::SeeOther(format!("{PATH}?done=saved"))),
        Err(problem) => show(visit, Some(&problem)),
    }
}

async fn advance(visit: &Visit<'_>, sandbox: Sandbox) -> Result<(), Problem> {
    let hours = visit.form.get("hours").parse::<u64>().ok().filter(|hours| (1..=MOST_HOURS).contains(hours));
    let hours = hours.ok_or_else(|| Problem::new(422, visit.language, Text::CLOCK_HINT))?;
    let since = visit.parts.env.settled() - visit.parts.env.settings.idempotency_retention;
    // The clock remembers which moves were made.
    let key = CommandKey { text: format!("console/{}", visit.key()?), since };
    let by = Duration::from_secs(hours * 3_600);
    let moved = visit.blocking(move || sandbox.clock.advance(by, &key).map(drop)).await?;
    note(visit, "sandbox.clock", format!("hours:{hours}"), moved).await?;
    // The time that has passed is not that of a user who was away.
    let (users, session) = (visit.parts.users.clone(), visit.session.clone());
    let touched = visit.in_store(Access::Write, move |unit| users.touch(unit, &session)).await;
    touched.map_err(|error| visit.failed(&error))
}

async fn inject(visit: &Visit<'_>, sandbox: Sandbox) -> Result<(), Problem> {
    let number = |name, most: u32| {
        let text = visit.form.given(name).unwrap_or("0");
        let number = text.parse::<u32>().ok().filter(|number| *number <= most);
        number.ok_or_else(|| Problem::new(422, visit.language, Text::FAULTS_HINT))
    };
    let [error_rate, lose_request_rate, lose_answer_rate, duplicate_rate] =
        RATES.map(|(name, _)| number(name, 100).map(|percent| f64::from(percent) / 100.0));
    let faults = BankFaults {
        latency: Duration::from_millis(number("latencyMs", 60_000)?.into()),
        error_rate: error_rate?,
        lose_request_rate: lose_request_rate?,
        lose_answer_rate: lose_answer_rate?,
        duplicate_rate: duplicate_rate?,
        silent_feed: visit.form.get("silentFeed") == "yes",
        down: visit.form.get("down") == "yes",
    };
    let set = visit.blocking(move || sandbox.bank.inject_faults(faults)).await?;
    note(visit, "sandbox.bank", String::new(), set).await
}

/// Writes the entry of a command, which has had its effect or not.
async fn note(
    visit: &Visit<'_>,
    action: &'static str,
    subject: String,
    done: Result<(), SandboxError>,
) -> Result<(), Problem> {
    let mut entry = visit.entry(action, None);
    entry.subject = subject;
    entry.outcome = if done.is_ok() { AuditOutcome::Done } else { AuditOutcome::Failed };
    visit.audited(entry, |_, _| Ok::<_, StoreError>(()), |error| visit.failed(error)).await?;
    done.map_err(|error| {
        log::warn!(error:%; "a command of the sandbox failed");
        Problem::new(503, visit.language, Text::BANK_DOES_NOT_ANSWER)
    })
}
