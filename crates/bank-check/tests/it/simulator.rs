//! What the check finds on the simulator.

use std::time::Duration;

use kopeck_bank_check::{CheckError, Outcome, RULES, Report, Rule, StormSettings, check, rule, storm};
use kopeck_port_bank::sandbox::{BankFaults, SandboxControl as _};
use kopeck_port_bank::{Capabilities, Capability};

use crate::bank::{Bank, SECRET};

fn all() -> Vec<&'static Rule> {
    RULES.iter().collect()
}

fn broken(report: &Report) -> Vec<u16> {
    let is_broken = |outcome: &Outcome| matches!(outcome, Outcome::Broken { .. });
    report.rules.iter().filter(|rule| is_broken(&rule.outcome)).map(|rule| rule.number).collect()
}

#[test]
fn every_rule_holds_on_the_simulator_and_nothing_is_left() {
    let bank = Bank::new(Capabilities::EVERYTHING);
    let report = check(&bank.settings(SECRET), &all()).unwrap();
    assert!(report.is_clean(), "{}", report.to_text());
    assert!(report.rules.iter().all(|rule| rule.outcome == Outcome::Holds), "{}", report.to_text());
    assert!(report.left.is_empty() && report.cards > 20, "{}", report.to_text());
    assert_eq!(bank.simulator.check().unwrap(), []);
    // On the same books again: no rule needs an empty bank.
    let report = check(&bank.settings(SECRET), &all()).unwrap();
    assert!(report.is_clean(), "{}", report.to_text());
    assert!(!report.to_text().contains(SECRET));
}

#[test]
fn a_poor_bank_is_asked_for_less() {
    let lacks =
        [Capability::WeeklyLimits, Capability::MerchantCategories, Capability::Closings, Capability::Feed];
    let bank = Bank::new(Capabilities::without(lacks).with_largest_batch(50));
    let report = check(&bank.settings(SECRET), &all()).unwrap();
    assert!(report.is_clean(), "{}", report.to_text());
    let skipped = |number| {
        matches!(
            report.rules.iter().find(|rule| rule.number == number).unwrap().outcome,
            Outcome::Skipped { .. }
        )
    };
    assert!(skipped(52) && skipped(60) && !skipped(50));
    let poorest = Bank::new(Capabilities::without(Capability::ALL));
    let report = check(&poorest.settings(SECRET), &all()).unwrap();
    assert!(report.is_clean(), "{}", report.to_text());
}

#[test]
fn a_second_effect_is_found() {
    let bank = Bank::new(Capabilities::EVERYTHING);
    bank.simulator.inject_faults(BankFaults { duplicate_rate: 1.0, ..BankFaults::default() }).unwrap();
    let only = [10, 11, 14, 30].map(|number| rule(number).unwrap());
    let report = check(&bank.settings(SECRET), &only).unwrap();
    assert_eq!(broken(&report), [11], "{}", report.to_text());
    assert!(report.to_text().contains("the card holds 200 kopecks, expected 100"), "{}", report.to_text());
}

/// The relay cuts connections below TLS: it knows nothing of what passes.
#[test]
fn responses_are_lost_and_requests_are_broken_over_https_too() {
    let bank = Bank::with_tls();
    let lossy = [11, 12, 16, 17].map(|number| rule(number).unwrap());
    let report = check(&bank.settings(SECRET), &lossy).unwrap();
    assert!(report.rules.iter().all(|rule| rule.outcome == Outcome::Holds), "{}", report.to_text());
    let short = StormSettings { duration: Duration::from_secs(2), seed: 7, cuts: 10 };
    let storm = storm(&bank.settings(SECRET), short).unwrap();
    assert!(storm.discrepancies.is_empty() && storm.done > 0 && storm.cuts > 0, "{storm:?}");
    assert_eq!(bank.simulator.check().unwrap(), []);
    bank.simulator.inject_faults(BankFaults { duplicate_rate: 1.0, ..BankFaults::default() }).unwrap();
    let report = check(&bank.settings(SECRET), &lossy[..1]).unwrap();
    assert_eq!(broken(&report), [11], "{}", report.to_text());
}

#[test]
fn a_wrong_secret_is_no_broken_rule() {
    let bank = Bank::new(Capabilities::EVERYTHING);
    match check(&bank.settings("wrong"), &all()) {
        Err(CheckError::Unusable(why)) => assert_eq!(why, "the connector refuses the secret"),
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn a_storm_leaves_the_books_in_order_and_finds_second_effects() {
    let short = StormSettings { duration: Duration::from_secs(2), seed: 7, cuts: 10 };
    let bank = Bank::new(Capabilities::EVERYTHING);
    let report = storm(&bank.settings(SECRET), short).unwrap();
    assert!(report.discrepancies.is_empty(), "{report:?}");
    assert!(report.done > 0 && report.cuts > 0 && report.sent > report.instructions as u64, "{report:?}");
    assert_eq!(bank.simulator.check().unwrap(), []);
    bank.simulator.inject_faults(BankFaults { duplicate_rate: 1.0, ..BankFaults::default() }).unwrap();
    let report = storm(&bank.settings(SECRET), short).unwrap();
    assert!(report.discrepancies.iter().any(|one| one.contains("the verdicts say")), "{report:?}");
}
