//! `kopeck calendar …`.

use std::collections::BTreeMap;

use anyhow::Context as _;
use kopeck_domain::calendar::{date_text, parse_date};
use kopeck_domain::programme::{DayKind, Workdays};
use kopeck_port_store::{Access, transact};
use serde_json::{Value, json};
use time::Date;

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
    let days = days(&text).map_err(|faults| {
        let more = if faults.len() > SHOWN { "\n  …" } else { "" };
        let shown: Vec<String> = faults.iter().take(SHOWN).map(|fault| format!("\n  {fault}")).collect();
        anyhow::anyhow!("nothing of {file} is taken, faults: {}{}{more}", faults.len(), shown.concat())
    })?;
    let application = existing_application(&args.store)?;
    let number = days.len();
    change(&application, "calendar.import", None, move |unit, entry| {
        entry.subject = format!("days:{number}");
        unit.programmes().set_workdays(&days)
    })?;
    say!("the calendar has {number} days")
}

fn list(args: &CalendarListArgs) -> anyhow::Result<()> {
    let application = existing_application(&args.store)?;
    let days: Workdays = transact(&*application.store, Access::Read, |unit| unit.programmes().workdays())?;
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

/// The days of a file, or all that is wrong with it.
fn days(text: &str) -> Result<Vec<(Date, DayKind)>, Vec<String>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_reader(text.as_bytes());
    let names = reader.headers().map_err(|error| vec![error.to_string()])?.clone();
    let place = |name: &str| names.iter().position(|given| given.eq_ignore_ascii_case(name));
    let (Some(date), Some(kind)) = (place("date"), place("kind")) else {
        return Err(vec!["line 1: the columns have to be named date and kind".to_owned()]);
    };
    let (mut days, mut faults) = (BTreeMap::new(), Vec::new());
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                faults.push(error.to_string());
                continue;
            }
        };
        let line = record.position().map_or(0, csv::Position::line);
        let value = |place: usize| record.get(place).unwrap_or_default();
        let day = parse_date(value(date)).map_err(|invalid| format!("line {line}: date {invalid}"));
        let kind = value(kind).parse::<DayKind>().map_err(|invalid| format!("line {line}: kind {invalid}"));
        match (day, kind) {
            (Ok(day), Ok(kind)) => {
                if days.insert(day, kind).is_some() {
                    faults.push(format!("line {line}: date stands twice"));
                }
            }
            (day, kind) => faults.extend([day.err(), kind.err()].into_iter().flatten()),
        }
    }
    if faults.is_empty() { Ok(days.into_iter().collect()) } else { Err(faults) }
}

#[cfg(test)]
mod tests {
    use time::macros::date;

    use super::*;

    #[test]
    fn days_are_read_by_the_names_of_the_columns() {
        let expected =
            vec![(date!(2026 - 12 - 31), DayKind::Holiday), (date!(2027 - 02 - 20), DayKind::Working)];
        for text in [
            "date,kind\n31.12.2026,holiday\n20.02.2027,working\n",
            "\u{feff}Kind , Date, note\r\nworking,20.02.2027,instead of Monday\r\n\r\nholiday , 31.12.2026\r\n",
        ] {
            assert_eq!(days(text).as_ref(), Ok(&expected), "{text:?}");
        }
        assert_eq!(days("date,kind\n"), Ok(Vec::new()), "an empty calendar");
    }

    #[test]
    fn every_faulty_row_is_named() {
        let text = "date,kind\n31.12.2026,holiday\n2027-01-01,holiday\n02.01.2027,free\n30.02.2027\n31.12.2026,working\n";
        let faults = days(text).unwrap_err();
        let lines: Vec<&str> = faults.iter().map(|fault| fault.split(' ').nth(1).unwrap()).collect();
        assert_eq!(lines, ["3:", "4:", "5:", "5:", "6:"], "{faults:?}");
        for text in ["", "day,kind\n31.12.2026,holiday\n", "31.12.2026,holiday\n"] {
            assert_eq!(days(text).unwrap_err().len(), 1, "{text:?}");
        }
    }
}
