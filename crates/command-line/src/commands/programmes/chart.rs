//! What is left of the balance after each period of a forecast, as bars of text.

use kopeck_client::ProgrammeForecast;

use crate::money;

/// Characters of the longest bar.
const WIDTH: i64 = 40;

/// The chart of a forecast: a bar a period, as long as its share of the largest balance, and what is short.
pub(super) fn of(rows: &[ProgrammeForecast]) -> String {
    let most = rows.iter().map(|row| row.available_after).max().unwrap_or_default().max(1);
    let date = |row: &ProgrammeForecast| {
        format!("{:02}.{:02}.{}", row.date.day(), u8::from(row.date.month()), row.date.year())
    };
    let period = rows.iter().map(|row| row.period.len()).max().unwrap_or_default();
    let line = |row: &ProgrammeForecast| {
        let left = i128::from(row.available_after.max(0)) * i128::from(WIDTH) / i128::from(most);
        let bar = "█".repeat(usize::try_from(left).unwrap_or_default());
        let left = money::shown(row.available_after);
        let short =
            if row.short > 0 { format!(", short of {}", money::shown(row.short)) } else { String::new() };
        let gap = if bar.is_empty() { "" } else { " " };
        format!("{} {:period$} {bar}{gap}{left}{short}", date(row), row.period)
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use kopeck_client::{Date, Uuid};
    use time::Month;

    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        let row = |day, period: &str, available_after, short| ProgrammeForecast {
            date: Date::from_calendar_date(2026, Month::March, day).unwrap(),
            id_programme: Uuid::nil(),
            period: period.to_owned(),
            people: 2,
            needed: 5,
            available_after,
            short,
        };
        let rows =
            [row(5, "2026-03", 100_000, 0), row(9, "2026-W11", 25_000, 0), row(10, "2026-Q1", 0, 12_345)];
        let expected = "\
05.03.2026 2026-03  ████████████████████████████████████████ 1 000.00
09.03.2026 2026-W11 ██████████ 250.00
10.03.2026 2026-Q1  0.00, short of 123.45";
        assert_eq!(of(&rows), expected);
    }
}
