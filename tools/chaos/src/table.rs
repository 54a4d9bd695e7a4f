//! Tables of the load and the findings.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets};
use kopeck_client::RequestState;

use crate::fault_kind::FaultKind;
use crate::journal::{Journal, Notes};
use crate::load::{Change, Partner, RequestKind, TrackedRequest};
use crate::settings::Settings;

/// Shows a whole run.
pub(crate) fn show(settings: &Settings, journal: &Journal, partners: &[Arc<Partner>]) {
    let notes = journal.notes();
    println!("\n{}", faults(&notes));
    println!("\n{}", calls(&notes));
    let requests: Vec<TrackedRequest> = partners
        .iter()
        .flat_map(|partner| partner.book().requests.values().cloned().collect::<Vec<_>>())
        .collect();
    println!("\n{}", ends(&requests));
    println!("calls repeated under their key after their answer: {}", notes.repeats);
    if let Some(longest) = longest_takeover(&notes, &requests) {
        println!(
            "in process when a process was killed, and ended after: at most {:.1} s",
            longest.as_secs_f64()
        );
    }
    let wrongs = notes.wrongs.len() as u64 + notes.more_wrongs;
    let Settings { seed, minutes, .. } = settings;
    if wrongs == 0 {
        println!(
            "\nseed {seed}, {minutes} min: nothing was lost, nothing was doubled, every kopeck is where it should be"
        );
        return;
    }
    println!("\nseed {seed}, {minutes} min: WRONG in {wrongs} places:");
    for wrong in &notes.wrongs {
        println!("  {wrong}");
    }
}

fn faults(notes: &Notes) -> Table {
    let mut table = table(&["fault", "times"], &[1]);
    for kind in FaultKind::ALL {
        if let Some(times) = notes.faults.get(&kind) {
            table.add_row([kind.to_string(), times.to_string()]);
        }
    }
    table.add_row(["all".to_owned(), notes.faults.values().sum::<u64>().to_string()]);
    table
}

fn calls(notes: &Notes) -> Table {
    let mut table = table(&["call", "tries", "median, ms", "99 %, ms", "answers"], &[1, 2, 3]);
    for (name, outcomes) in &notes.calls {
        // Latency is that of requests with a response.
        let answered = outcomes.iter().filter(|(outcome, _)| matches!(outcome.as_str(), "200" | "202"));
        let mut took: Vec<Duration> = answered.flat_map(|(_, took)| took.iter().copied()).collect();
        took.sort_unstable();
        let tries: usize = outcomes.values().map(Vec::len).sum();
        let by_outcome: Vec<String> =
            outcomes.iter().map(|(outcome, took)| format!("{outcome}: {}", took.len())).collect();
        let milliseconds =
            |part| quantile(&took, part).map_or_else(String::new, |took| took.as_millis().to_string());
        let (median, most) = (milliseconds(50), milliseconds(99));
        table.add_row([(*name).to_owned(), tries.to_string(), median, most, by_outcome.join(", ")]);
    }
    table
}

fn quantile(sorted: &[Duration], percent: usize) -> Option<Duration> {
    sorted.get(sorted.len().saturating_sub(1) * percent / 100).copied()
}

fn ends(requests: &[TrackedRequest]) -> Table {
    let mut kinds: BTreeMap<RequestKind, BTreeMap<String, u64>> = BTreeMap::new();
    let mut parts: BTreeMap<RequestKind, usize> = BTreeMap::new();
    for request in requests {
        *kinds.entry(request.kind).or_default().entry(request.state.to_string()).or_default() += 1;
        *parts.entry(request.kind).or_default() += cards(&request.call);
    }
    let mut table = table(&["request", "accepted", "cards", "ended"], &[1, 2]);
    for (kind, states) in kinds {
        let accepted: u64 = states.values().sum();
        let states: Vec<String> = states.iter().map(|(state, count)| format!("{state}: {count}")).collect();
        let cards = parts.get(&kind).copied().unwrap_or(0);
        table.add_row([format!("{kind:?}"), accepted.to_string(), cards.to_string(), states.join(", ")]);
    }
    table
}

fn cards(call: &Change) -> usize {
    match call {
        Change::TopUp(cards) => cards.len(),
        Change::Limit { cards, .. } => cards.len(),
        Change::Close(cards) => cards.len(),
        Change::Withdraw(cards) => cards.len(),
        Change::OrderVirtual { count, .. } | Change::OrderPlastic { count, .. } => *count as usize,
        _ => 0,
    }
}

/// The longest time from a kill to the end of a request that was in process then.
fn longest_takeover(notes: &Notes, requests: &[TrackedRequest]) -> Option<Duration> {
    let of_kill = |kill: &tokio::time::Instant| {
        requests
            .iter()
            .filter(|request| request.state != RequestState::Rejected)
            .filter_map(|request| request.in_process_at.zip(request.ended_at))
            .filter(|(in_process, ended)| in_process < kill && kill < ended)
            .map(|(_, ended)| ended - *kill)
            .max()
    };
    notes.kills.iter().filter_map(of_kill).max()
}

fn table(columns: &[&str], numbers: &[usize]) -> Table {
    let mut table = Table::new();
    // A table that a document can take as it is.
    table.load_style(presets::ASCII_MARKDOWN).set_header(columns);
    for number in numbers {
        if let Some(column) = table.column_mut(*number) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}
