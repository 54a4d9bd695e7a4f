//! With any of the safety rules switched off the simulation finds something wrong.

use simulation::{Sabotage, Simulation};

/// What the first of 250 seeds that finds something finds.
fn found(sabotage: Sabotage) -> Option<&'static str> {
    let simulation = Simulation::open(Some(sabotage)).unwrap();
    (0..250).find_map(|seed| simulation.run(seed, false).violation).map(|violation| violation.rule)
}

const BANK_AND_REQUESTS: &str = "the bank did what the requests say, and nothing else";
const EACH_KEY_ONCE: &str = "the bank carries out each key once";

#[test]
fn a_key_that_changes_is_found() {
    // Whichever is checked first where it shows.
    let rules = [BANK_AND_REQUESTS, "the bank's registry and the books agree"];
    let found = found(Sabotage::FreshKeys);
    assert!(found.is_some_and(|rule| rules.contains(&rule)), "{found:?}");
}

#[test]
fn silence_that_is_taken_for_a_refusal_is_found() {
    assert_eq!(found(Sabotage::TimeoutIsRefusal), Some(BANK_AND_REQUESTS));
}

#[test]
fn settling_the_job_of_another_worker_is_found() {
    // Whichever comes first: a worker books what another has booked, or ends what another has ended.
    let rules = ["the check of the books finds nothing", "the store is never asked for what cannot be"];
    let found = found(Sabotage::NoAttemptCheck);
    assert!(found.is_some_and(|rule| rules.contains(&rule)), "{found:?}");
}

#[test]
fn sending_money_that_is_not_held_is_found() {
    assert_eq!(found(Sabotage::NoHold), Some("the check of the books finds nothing"));
}

#[test]
fn sending_twice_to_a_bank_that_does_it_twice_is_found() {
    // Once a request is done it is compared with the bank, which may come before the keys are counted.
    let found = found(Sabotage::UnsafeRepeats);
    assert!(found.is_some_and(|rule| [EACH_KEY_ONCE, BANK_AND_REQUESTS].contains(&rule)), "{found:?}");
}

#[test]
fn forgetting_that_something_may_have_been_sent_is_found() {
    let found = found(Sabotage::ForgottenSending);
    assert!(found.is_some_and(|rule| [EACH_KEY_ONCE, BANK_AND_REQUESTS].contains(&rule)), "{found:?}");
}

#[test]
fn forgetting_which_cards_were_sent_is_found() {
    let found = found(Sabotage::ForgottenMarks);
    assert!(found.is_some_and(|rule| [EACH_KEY_ONCE, BANK_AND_REQUESTS].contains(&rule)), "{found:?}");
}

#[test]
fn forgetting_a_response_is_found() {
    assert_eq!(found(Sabotage::ForgottenAnswers), Some("one idempotency key, one effect and one answer"));
}

#[test]
fn forgetting_a_spent_nonce_is_found() {
    assert_eq!(found(Sabotage::ForgottenNonces), Some("a sealed request works once"));
}

#[test]
fn a_duplicate_event_is_found() {
    assert_eq!(found(Sabotage::DoubledEvents), Some("each change is one event"));
}

#[test]
fn forgetting_which_period_was_paid_is_found() {
    let rule = "a period of a programme gets its run once, when it is due, by its rule";
    assert_eq!(found(Sabotage::ForgottenPeriods), Some(rule));
}

#[test]
fn leaving_somebody_out_of_a_run_is_found() {
    assert_eq!(found(Sabotage::DroppedItems), Some("over unchanged data a preview comes true"));
}
