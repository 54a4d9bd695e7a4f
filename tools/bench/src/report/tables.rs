//! The tables, as Markdown.

use std::fmt::Write as _;

use super::results::Results;
use super::rows::{Need, RowResult};

/// What is required, and what is there.
pub(super) fn ratios(judged: &[RowResult]) -> String {
    let mut table = String::from(
        "| what | against | ours | yardstick | | required | met |\n|---|---|---:|---:|---:|---:|---|\n",
    );
    for row in judged {
        let figure = row.row.ours.figure;
        let yardstick = row.yardstick.map_or_else(String::new, |value| show(value, figure));
        let (value, required) = match row.row.need {
            Need::AtLeast(least) => (format!("{:.2} ×", row.value), format!("≥ {least} ×")),
            Need::AtMost(most) => (format!("{:.2} ×", row.value), format!("≤ {most} ×")),
            Need::Below(most) => (String::new(), format!("≤ {}", show(most, figure))),
        };
        let met = match (row.errors, row.is_met()) {
            (true, _) => "void: calls failed",
            (false, true) => "yes",
            (false, false) => "**no**",
        };
        let ours = show(row.ours, figure);
        let (what, against) = (row.row.what, row.row.against);
        line(&mut table, &[what, against, &ours, &yardstick, &value, &required, met]);
    }
    table
}

/// Percentiles of every load.
pub(super) fn details(results: &Results) -> String {
    let mut table = String::from(
        "| row | side | calls/s | p50 | p90 | p99 | p99.9 | longest |\n\
        |---|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for record in results.loads() {
        let ms = |name: &str| record.figures.get(name).map_or_else(String::new, |us| show(*us, name));
        let rate = record.figures.get("per_second").map_or_else(String::new, |rate| thousands(*rate));
        line(
            &mut table,
            &[
                &record.row,
                &record.side,
                &rate,
                &ms("p50_us"),
                &ms("p90_us"),
                &ms("p99_us"),
                &ms("p999_us"),
                &ms("max_us"),
            ],
        );
    }
    table
}

fn line(table: &mut String, cells: &[&str]) {
    let _ = writeln!(table, "| {} |", cells.join(" | "));
}

/// A figure with its unit, which the end of its name says.
pub(super) fn show(value: f64, figure: &str) -> String {
    match figure.rsplit_once('_').map(|(_, unit)| unit) {
        Some("second") => format!("{} /s", thousands(value)),
        Some("us") if value < 1_000.0 => format!("{value:.0} µs"),
        Some("us") => format!("{:.1} ms", value / 1_000.0),
        Some("ms") => format!("{value:.0} ms"),
        Some("mib") => format!("{value:.1} MiB"),
        _ if figure == "seconds" => format!("{value:.2} s"),
        _ => format!("{value}"),
    }
}

/// A whole number with a comma at every thousand.
pub(super) fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::rows;
    use super::*;

    #[test]
    fn figures_have_their_units() {
        assert_eq!(show(12_345.6, "per_second"), "12,346 /s");
        assert_eq!(show(999.0, "p99_us"), "999 µs");
        assert_eq!(show(1_500.0, "p99_us"), "1.5 ms");
        assert_eq!(show(14.04, "binary_mib"), "14.0 MiB");
        assert_eq!(show(2.5, "seconds"), "2.50 s");
    }

    #[test]
    fn thousands_have_commas() {
        let shown = [0.0, 999.0, 1_000.0, 1_234_567.0].map(thousands);
        assert_eq!(shown, ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn a_row_that_is_not_met_says_so() {
        let results = Results::parse(
            "{\"row\":\"start\",\"side\":\"ours\",\"idle_mib\":29.0,\"binary_mib\":14.0,\"first_answer_ms\":50.0}",
        )
        .unwrap();
        let table = ratios(&rows::judge(&results));
        assert!(table.contains("| idle memory |  | 29.0 MiB |  |  | ≤ 28.0 MiB | **no** |"), "{table}");
        assert!(table.contains("| binary |  | 14.0 MiB |  |  | ≤ 36.0 MiB | yes |"), "{table}");
    }
}
