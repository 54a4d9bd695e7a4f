//! The operator's calendar: holidays, and working days that are no weekdays.

use std::collections::BTreeMap;

use kopeck_domain::calendar::parse_date;
use kopeck_domain::programme::{DayKind, Workdays};
use kopeck_port_store::{StoreError, UnitOfWork};
use time::Date;

/// The days of a CSV file with the columns `date` and `kind`, or all that is wrong with it.
///
/// # Errors
/// A text for people for each fault; then nothing of the file is to be taken.
pub fn parse(text: &str) -> Result<Vec<(Date, DayKind)>, Vec<String>> {
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

/// The calendar.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn get(unit: &mut dyn UnitOfWork) -> Result<Workdays, StoreError> {
    unit.programmes().workdays()
}

/// Replaces the calendar by these days.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn replace(unit: &mut dyn UnitOfWork, days: &[(Date, DayKind)]) -> Result<(), StoreError> {
    unit.programmes().set_workdays(days)
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
            assert_eq!(parse(text).as_ref(), Ok(&expected), "{text:?}");
        }
        assert_eq!(parse("date,kind\n"), Ok(Vec::new()), "an empty calendar");
    }

    #[test]
    fn every_faulty_row_is_named() {
        let text = "date,kind\n31.12.2026,holiday\n2027-01-01,holiday\n02.01.2027,free\n30.02.2027\n31.12.2026,working\n";
        let faults = parse(text).unwrap_err();
        let lines: Vec<&str> = faults.iter().map(|fault| fault.split(' ').nth(1).unwrap()).collect();
        assert_eq!(lines, ["3:", "4:", "5:", "5:", "6:"], "{faults:?}");
        for text in ["", "day,kind\n31.12.2026,holiday\n", "31.12.2026,holiday\n"] {
            assert_eq!(parse(text).unwrap_err().len(), 1, "{text:?}");
        }
    }
}
