//! Failed logins and spent nonces.

use super::support::{at, read, write};
use crate::Store;

fn fail(store: &dyn Store, subject: u8, seconds: i64) {
    write(store, move |unit| unit.throttle().record_failure(&[subject; 32], at(seconds))).unwrap();
}

fn spend(store: &dyn Store, key: u8, nonce: &'static str, seconds: i64, since: i64) -> bool {
    write(store, move |unit| unit.throttle().spend_nonce(&[key; 32], nonce, at(seconds), at(since))).unwrap()
}

fn forget(store: &dyn Store, before: i64, limit: u32) -> u64 {
    write(store, move |unit| unit.throttle().forget_before(at(before), limit)).unwrap()
}

/// Failures of one timestamp all count; those at `since` do not.
pub fn the_latest_failures_come_first(store: &dyn Store) {
    for (subject, seconds) in [(1, 5), (1, 30), (2, 40), (1, 10), (1, 30)] {
        fail(store, subject, seconds);
    }
    let failures =
        |since, limit| read(store, move |unit| unit.throttle().failures(&[1; 32], at(since), limit));
    assert_eq!(failures(5, 10), [at(30), at(30), at(10)]);
    assert_eq!(failures(5, 2), [at(30), at(30)]);
    assert!(failures(30, 10).is_empty());
    assert!(read(store, |unit| unit.throttle().failures(&[3; 32], at(0), 10)).is_empty());
}

/// Afterwards it is good again, and counts from then.
pub fn a_nonce_is_spent_once_within_the_window(store: &dyn Store) {
    assert!(spend(store, 1, "nonce", 100, 0));
    assert!(!spend(store, 1, "nonce", 150, 50));
    assert!(spend(store, 1, "Nonce", 150, 50), "nonces differ by letter case");
    assert!(spend(store, 2, "nonce", 150, 50), "keys have nonces of their own");
    assert!(spend(store, 1, "nonce", 200, 100), "spent before the window");
    assert!(!spend(store, 1, "nonce", 250, 150), "the second use counts now");
}

/// Up to the limit, and never what is still needed.
pub fn old_failures_and_nonces_are_forgotten(store: &dyn Store) {
    for seconds in [10, 20, 30] {
        fail(store, 1, seconds);
    }
    assert!(spend(store, 1, "a", 10, 0));
    assert!(spend(store, 1, "b", 30, 0));
    assert_eq!(forget(store, 10, 10), 0);
    let removed: Vec<u64> = (0..3).map(|_| forget(store, 30, 2)).collect();
    assert_eq!(removed, [2, 1, 0], "two failures and a nonce");
    assert_eq!(read(store, |unit| unit.throttle().failures(&[1; 32], at(0), 10)), [at(30)]);
    assert!(spend(store, 1, "a", 31, 0));
    assert!(!spend(store, 1, "b", 31, 0));
}
