//! The logs of the processes: no 5xx response other than 503, no panic.

use std::collections::BTreeMap;

use crate::fleet::{Fleet, Role};
use crate::journal::Journal;

/// Reads the logs of the service's processes.
pub(super) fn check(fleet: &Fleet, journal: &Journal) -> anyhow::Result<()> {
    let mut errors: BTreeMap<String, u64> = BTreeMap::new();
    for role in fleet.roles() {
        let log = std::fs::read_to_string(fleet.installation.log(&role.to_string()))?;
        for line in log.lines() {
            let panicked = line.contains("panicked at");
            // An injected fault of the bank is a 500.
            let failed = role != Role::Bank && is_failure(line);
            journal.must(!panicked && !failed, || format!("{role}: {line}"));
            if let Some(message) = error(line) {
                *errors.entry(format!("{role}: {message}")).or_default() += 1;
            }
        }
    }
    if !errors.is_empty() {
        println!("\nlogged as errors:");
    }
    for (message, count) in errors {
        println!("{count:>6}  {message}");
    }
    Ok(())
}

/// Whether a line tells of a response with a status above 499 that is not 503.
fn is_failure(line: &str) -> bool {
    line.contains("kopeck::access") && line.contains(" status=5") && !line.contains(" status=503 ")
}

/// The message of an error, without values that differ each time.
fn error(line: &str) -> Option<String> {
    let (_, message) = line.split_once(" ERROR ")?;
    let words = message.split_whitespace().filter(|word| !word.chars().any(|c| c.is_ascii_digit()));
    Some(words.take(24).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_distinguished_from_responses() {
        let line =
            |status| format!("2026-01-01T00:00:00.000Z INFO kopeck::access request status={status} micros=7");
        assert!(is_failure(&line(500)));
        assert!(is_failure(&line(504)));
        assert!(!is_failure(&line(503)));
        assert!(!is_failure(&line(202)));
    }
}
