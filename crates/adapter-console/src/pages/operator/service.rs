//! The service itself: what is ready, what waits, and how the bank responds.

use crate::chart::{Chart, Point};
use crate::host::{StatusReport, StatusSample};
use crate::texts::Text;
use crate::view::{Block, Cell, Notice, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

use super::log;

/// The page.
pub(super) async fn show(visit: &Visit<'_>) -> Outcome {
    let report = visit.parts.operators.status.report().await;
    let mut page = Page::new(visit.t(Text::SERVICE), "service");
    page.push(log::tools(visit));
    page.push(Block::Table(parts(visit, &report)));
    if let Some(work) = &report.work {
        page.push(Block::Facts(visit.facts([
            (Text::OPEN_REQUESTS, work.open.to_string()),
            (Text::DUE, work.due.to_string()),
            (Text::OLDEST_DUE, work.oldest_due_seconds.to_string()),
            (Text::WITHOUT_RESPONSE, work.failing.to_string()),
            (Text::STUCK, work.stuck.to_string()),
            (Text::HELD, visit.money(work.held)),
            (Text::DELIVERIES_PENDING, work.pending_deliveries.to_string()),
            (Text::WEBHOOKS_FAILING, work.failing_webhooks.to_string()),
            (Text::WORKER_THREADS, report.threads.to_string()),
            (Text::SILENCE, report.silence_seconds.to_string()),
        ])));
    }
    charts(visit, &report.samples, &mut page);
    page.push(Block::Table(bank(visit, &report)));
    let warnings =
        (!report.warnings.is_empty()).then(|| Notice { is_problem: true, lines: report.warnings.clone() });
    Ok(Reply::Page(page.noting(warnings)))
}

fn parts(visit: &Visit<'_>, report: &StatusReport) -> Table {
    let columns = [Text::PART, Text::STATE].map(|text| (text, false));
    let mut table = Table::new(visit.t(Text::READINESS), visit.columns(&columns), "");
    for (name, trouble) in &report.parts {
        let state = trouble.clone().unwrap_or_else(|| visit.t(Text::READY).to_owned());
        table.rows.push(vec![Cell::text(*name), Cell::text(state)]);
    }
    table
}

/// Requests to the bank since the process started.
fn bank(visit: &Visit<'_>, report: &StatusReport) -> Table {
    let columns = [
        (Text::BANK_CALL, false),
        (Text::CARRIED_OUT, true),
        (Text::DECLINED_CALLS, true),
        (Text::NOT_REACHED, true),
        (Text::RESPONSE_LOST, true),
        (Text::MILLISECONDS, true),
    ];
    let mut table = Table::new(visit.t(Text::BANK_CALLS), visit.columns(&columns), "");
    for call in &report.bank {
        let numbers = [call.done, call.declined, call.unavailable, call.unknown, call.mean_milliseconds];
        let numbers = numbers.map(|number| Cell::number(number.to_string()));
        table.rows.push(std::iter::once(Cell::text(call.name)).chain(numbers).collect());
    }
    table
}

/// How work and the bank went in the last hours, each with the table of its values.
fn charts(visit: &Visit<'_>, samples: &[StatusSample], page: &mut Page) {
    let of = |values: fn(&StatusSample) -> [u64; 2], is_alarm: fn(&StatusSample) -> bool| {
        let point = |sample: &StatusSample| Point {
            at: sample.at.unix_timestamp(),
            label: visit.instant(sample.at),
            values: values(sample).map(|value| i64::try_from(value).unwrap_or(i64::MAX)).to_vec(),
            is_alarm: is_alarm(sample),
        };
        samples.iter().map(point).collect::<Vec<_>>()
    };
    for (caption, names, points) in [
        (
            Text::WORK_OVER_TIME,
            [Text::DUE, Text::WITHOUT_RESPONSE],
            of(|sample| [sample.due, sample.failing], |sample| sample.failing > 0),
        ),
        (
            Text::BANK_OVER_TIME,
            [Text::BANK_CALLS, Text::WITHOUT_RESPONSE],
            of(|sample| [sample.calls, sample.lost], |sample| sample.lost > 0),
        ),
    ] {
        let names = names.map(|name| visit.t(name));
        let Some(chart) = Chart::new(visit.t(caption), &names, &points, |value| value.to_string()) else {
            continue;
        };
        let columns = [Text::DATE, Text::DUE, Text::WITHOUT_RESPONSE];
        let mut table = Table::new(visit.t(caption), visit.columns(&columns.map(|text| (text, false))), "");
        for (column, name) in table.columns.iter_mut().skip(1).zip(names) {
            *column = Cell::number(name);
        }
        table.rows.extend(points.iter().rev().map(|point| {
            let numbers = point.values.iter().map(|value| Cell::number(value.to_string()));
            std::iter::once(Cell::text(point.label.clone())).chain(numbers).collect()
        }));
        page.push(Block::Chart(Box::new(chart), table));
    }
}
