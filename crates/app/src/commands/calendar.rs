//! `kopeck calendar …`.

use anyhow::Context as _;
use kopeck_domain::calendar::date_text;
use kopeck_port_store::{Access, transact};
use kopeck_service::calendar;
use serde_json::{Value, json};

use super::audited::change;
use super::existing_application;
use crate::cli::{CalendarCommand, CalendarImportArgs, CalendarListArgs};
use crate::command_output::{aligned, print, say};

/// Faults that are shown of a file.
const SHOWN: usize = 20;

/// Runs a `calendar` command.
pub(super) fn run(command: CalendarCommand) -> anyhow::Result<()> {
    match command {
        CalendarCommand::Import(args) => import(&args),
        CalendarCommand::List(args) => list(&args),
    }
}

fn import(args: &CalendarImportArgs) -> anyhow::Result<()> {
    let file = args.file.display();
    let text = std::fs::read_to_string(&args.file).with_context(|| format!("cannot read {file}"))?;
    let days = calendar::parse(&text).map_err(|faults| {
        let more = if faults.len() > SHOWN { "\n  …" } else { "" };
        let shown: Vec<String> = faults.iter().take(SHOWN).map(|fault| format!("\n  {fault}")).collect();
        anyhow::anyhow!("nothing of {file} is taken, faults: {}{}{more}", faults.len(), shown.concat())
    })?;
    let application = existing_application(&args.store)?;
    let number = days.len();
    change(&application, "calendar.import", None, move |unit, entry| {
        entry.subject = format!("days:{number}");
        calendar::replace(unit, &days)
    })?;
    say!("the calendar has {number} days")
}

fn list(args: &CalendarListArgs) -> anyhow::Result<()> {
    let application = existing_application(&args.store)?;
    let days = transact(&*application.store, Access::Read, calendar::get)?;
    if args.json {
        let shown: Vec<Value> =
            days.iter().map(|(day, kind)| json!({"date": date_text(day), "kind": kind.as_str()})).collect();
        return say!("{}", serde_json::to_string_pretty(&shown)?);
    }
    let head = ["date", "kind"].map(str::to_owned);
    let rows = days.iter().map(|(day, kind)| [date_text(day), kind.as_str().to_owned()]);
    let lines: Vec<_> = std::iter::once(head).chain(rows).collect();
    print(format_args!("{}", aligned(&lines)))
}
