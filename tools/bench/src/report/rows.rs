//! What is required, and whether it is met.

use super::results::{Figure, Results};

/// What a row asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Need {
    /// Ours is at least so many times the yardstick.
    AtLeast(f64),
    /// Ours is at most so many times the yardstick.
    AtMost(f64),
    /// Ours is at most this.
    Below(f64),
}

/// A row of the report.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReportRow {
    /// What is measured.
    pub(super) what: &'static str,
    /// What it is compared with.
    pub(super) against: &'static str,
    pub(super) ours: Figure,
    pub(super) yardstick: Option<Figure>,
    pub(super) need: Need,
}

/// A row with its figures.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowResult {
    pub(super) row: ReportRow,
    pub(super) ours: f64,
    pub(super) yardstick: Option<f64>,
    /// What the need is about: a ratio, or our own figure.
    pub(super) value: f64,
    /// How far it is from what is needed: 1 is just met, more is better.
    pub(super) margin: f64,
    /// Whether calls failed, which makes the row void.
    pub(super) errors: bool,
}

impl RowResult {
    /// Whether what is required is met.
    pub(super) fn is_met(&self) -> bool {
        self.margin >= 1.0 && !self.errors
    }
}

const fn of(row: &'static str, side: &'static str, figure: &'static str) -> Figure {
    Figure { row, side, figure }
}

const fn ratio(what: &'static str, against: &'static str, row: &'static str, need: Need) -> ReportRow {
    let figure = match need {
        Need::AtLeast(_) => "per_second",
        _ => "seconds",
    };
    versus(what, against, of(row, "ours", figure), of(row, "yardstick", figure), need)
}

const fn versus(
    what: &'static str,
    against: &'static str,
    ours: Figure,
    yardstick: Figure,
    need: Need,
) -> ReportRow {
    ReportRow { what, against, ours, yardstick: Some(yardstick), need }
}

const fn below(what: &'static str, ours: Figure, most: f64) -> ReportRow {
    ReportRow { what, against: "", ours, yardstick: None, need: Need::Below(most) }
}

const ROWS: &[ReportRow] = &[
    ratio(
        "`GET /v1/employee/{id}` (2 cards), PostgreSQL",
        "pgbench, the same selects, 16 clients",
        "read-pg",
        Need::AtLeast(1.0),
    ),
    ratio(
        "sealed `POST /v1/employee/add`, PostgreSQL",
        "pgbench, the same statements in a transaction, 32 clients",
        "add-pg",
        Need::AtLeast(1.2),
    ),
    ratio(
        "sealed `POST /v1/replenishment` of 10 cards, PostgreSQL",
        "pgbench, the same statements in a transaction, 32 clients",
        "replenish-pg",
        Need::AtLeast(0.9),
    ),
    ratio(
        "reads of an employee, PostgreSQL 0.5 ms away",
        "the plain store with 32 connections, of which 16 read",
        "read-far",
        Need::AtLeast(1.5),
    ),
    ratio(
        "sealed adds, PostgreSQL 0.5 ms away",
        "the plain store with 32 connections, of which 16 write",
        "add-far",
        Need::AtLeast(1.5),
    ),
    ratio(
        "`GET /v1/employee/{id}`, SQLite",
        "the same without an identifier: token check and a 422, no database",
        "read-sqlite",
        Need::AtLeast(0.5),
    ),
    ratio(
        "sealed `POST /v1/employee/add`, SQLite, `synchronous=FULL`",
        "SQLite alone: the same rows, as many adds a transaction, one thread",
        "add-sqlite",
        Need::AtLeast(0.5),
    ),
    versus(
        "the same",
        "the plain store, a transaction a request",
        of("add-sqlite", "ours", "per_second"),
        of("add-sqlite", "plain-store", "per_second"),
        Need::AtLeast(2.0),
    ),
    ratio(
        "100,000 cards topped up, created to SUCCESS, PostgreSQL",
        "one `INSERT … SELECT` of the same rows and two updates",
        "top-ups",
        Need::AtMost(3.5),
    ),
    ratio(
        "virtual order of 100,000 cards, created to result read",
        "the same rows inserted in bulk",
        "order",
        Need::AtMost(4.0),
    ),
    versus(
        "p99 of reads while 100,000 cards are topped up",
        "p99 of reads alone",
        of("busy", "ours", "p99_us"),
        of("busy", "yardstick", "p99_us"),
        Need::AtMost(3.0),
    ),
    below("a file of 10,000 top-ups, upload to preview, PostgreSQL", of("preview", "ours", "seconds"), 2.0),
    below(
        "a file of 10,000 top-ups, upload to preview, SQLite",
        of("preview-sqlite", "ours", "seconds"),
        2.0,
    ),
    ratio(
        "a programme of 100,000 people, due to the last SUCCESS, PostgreSQL",
        "the same top-ups made by hand",
        "payday",
        Need::AtMost(1.3),
    ),
    ratio(
        "a programme of 100,000 people, due to the last SUCCESS, SQLite",
        "the same top-ups made by hand",
        "payday-sqlite",
        Need::AtMost(1.3),
    ),
    versus(
        "p99 of reads while 10 programmes each of 1,000 partners are due",
        "p99 of reads alone",
        of("paydays", "ours", "p99_us"),
        of("paydays", "yardstick", "p99_us"),
        Need::AtMost(3.0),
    ),
    below("the worst request of 64 KiB of any parser", of("parsers", "ours", "worst_ms"), 2.0),
    below("start to first response, empty database", of("start", "ours", "first_answer_ms"), 120.0),
    below("idle memory", of("start", "ours", "idle_mib"), 28.0),
    below("memory under 64 connections of mixed load, PostgreSQL", of("mixed", "ours", "peak_mib"), 48.0),
    below("memory beside mass work of 100,000 cards, SQLite", of("mass-sqlite", "ours", "peak_mib"), 120.0),
    below("memory on a payday of 100,000 people, PostgreSQL", of("payday", "ours", "peak_mib"), 160.0),
    below("memory on a payday of 100,000 people, SQLite", of("payday-sqlite", "ours", "peak_mib"), 160.0),
    below("memory on a payday of 1,000 partners, PostgreSQL", of("paydays", "runs", "peak_mib"), 160.0),
    below("binary", of("start", "ours", "binary_mib"), 36.0),
];

/// Each row whose figures are there.
pub(super) fn judge(results: &Results) -> Vec<RowResult> {
    ROWS.iter().filter_map(|row| judge_row(row, results)).collect()
}

fn judge_row(row: &ReportRow, results: &Results) -> Option<RowResult> {
    let ours = results.figure(row.ours)?;
    let yardstick = match row.yardstick {
        Some(figure) => Some(results.figure(figure)?),
        None => None,
    };
    let times = ours / yardstick.unwrap_or(1.0);
    let (value, margin) = match row.need {
        Need::AtLeast(least) => (times, times / least),
        Need::AtMost(most) => (times, most / times),
        Need::Below(most) => (ours, most / ours),
    };
    let failed = |figure: Figure| results.figure(Figure { figure: "errors", ..figure }).unwrap_or(0.0) > 0.0;
    let errors = failed(row.ours) || row.yardstick.is_some_and(failed);
    Some(RowResult { row: *row, ours, yardstick, value, margin, errors })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(lines: &str) -> Vec<RowResult> {
        judge(&Results::parse(lines).unwrap())
    }

    #[test]
    fn a_ratio_is_met_at_its_bound() {
        let rows = judged(
            "{\"row\":\"read-pg\",\"side\":\"ours\",\"per_second\":1000.0,\"errors\":0.0}\n\
            {\"row\":\"read-pg\",\"side\":\"yardstick\",\"per_second\":1000.0}",
        );
        let [row] = rows.as_slice() else { panic!("{rows:?}") };
        assert_eq!(row.value, 1.0);
        assert!(row.is_met());
    }

    #[test]
    fn less_is_better_where_time_counts() {
        let top_ups = |ours| {
            judged(&format!(
                "{{\"row\":\"top-ups\",\"side\":\"ours\",\"seconds\":{ours}}}\n\
                {{\"row\":\"top-ups\",\"side\":\"yardstick\",\"seconds\":2.0}}"
            ))
        };
        assert!(top_ups(7.0)[0].is_met());
        assert!(!top_ups(7.1)[0].is_met());
        assert_eq!(top_ups(14.0)[0].margin, 0.5);
    }

    #[test]
    fn failed_calls_make_a_row_void() {
        let rows = judged(
            "{\"row\":\"read-pg\",\"side\":\"ours\",\"per_second\":9000.0,\"errors\":1.0}\n\
            {\"row\":\"read-pg\",\"side\":\"yardstick\",\"per_second\":1000.0}",
        );
        assert!(rows[0].errors && !rows[0].is_met());
    }

    #[test]
    fn a_row_without_its_yardstick_is_not_shown() {
        assert!(judged("{\"row\":\"read-pg\",\"side\":\"ours\",\"per_second\":9000.0}").is_empty());
    }
}
