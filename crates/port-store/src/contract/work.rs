//! Work for the workers.

use std::collections::HashSet;
use std::thread;

use kopeck_domain::ids::PartnerId;

use super::support::{at, id, partner, read, write};
use crate::{Claim, PutBack, Rule, Store, StoreError, Subject};

fn enqueue(store: &dyn Store, partner: PartnerId, subject: Subject, due: i64) -> Result<(), StoreError> {
    write(store, move |unit| unit.work().enqueue(partner, subject, at(due)))
}

/// Work that is due at `due`.
fn some_work(store: &dyn Store, partner: PartnerId, due: i64) -> Subject {
    let subject = Subject::Order(id());
    enqueue(store, partner, subject, due).unwrap();
    subject
}

/// A claim at `now` with a lease of 60 seconds.
fn claim(store: &dyn Store, now: i64, limit: u32) -> Vec<Claim> {
    write(store, move |unit| unit.work().claim(at(now), at(now + 60), limit)).unwrap()
}

fn is_current(store: &dyn Store, claim: &Claim) -> bool {
    let claim = claim.clone();
    write(store, move |unit| unit.work().is_current(&claim)).unwrap()
}

fn put_back(store: &dyn Store, claim: &Claim, terms: PutBack) {
    let claim = claim.clone();
    write(store, move |unit| unit.work().put_back(&claim, terms)).unwrap();
}

fn finish(store: &dyn Store, claim: &Claim) {
    let claim = claim.clone();
    write(store, move |unit| unit.work().finish(&claim)).unwrap();
}

fn next_due(store: &dyn Store) -> Option<i64> {
    let next = read(store, |unit| unit.work().next_due());
    next.map(|moment| (moment - at(0)).whole_seconds())
}

fn count(store: &dyn Store) -> u64 {
    read(store, |unit| unit.work().count())
}

/// Whoever's it is and whatever it is about; never before.
pub fn work_is_claimed_when_it_is_due(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let subjects = [Subject::Order(id()), Subject::Replenishment(id()), Subject::LimitChange(id())];
    enqueue(store, first, subjects[0], 10).unwrap();
    enqueue(store, second, subjects[1], 20).unwrap();
    enqueue(store, first, subjects[2], 30).unwrap();
    assert_eq!(claim(store, 9, 10), []);
    let fresh = |partner, subject, leased| Claim {
        partner,
        subject,
        attempt: 1,
        may_have_sent: false,
        failures: 0,
        leased_until: at(leased),
    };
    assert_eq!(claim(store, 10, 10), [fresh(first, subjects[0], 70)]);
    assert_eq!(claim(store, 20, 10), [fresh(second, subjects[1], 80)]);
    assert_eq!(claim(store, 30, 10), [fresh(first, subjects[2], 90)]);
    assert_eq!(claim(store, 40, 10), []);
    let double = enqueue(store, first, subjects[0], 10);
    assert!(matches!(double, Err(StoreError::Failed(_))), "work is there once");
    let stranger = enqueue(store, id(), Subject::Order(id()), 10);
    assert_eq!(stranger, Err(StoreError::Conflict(Rule::Reference)));
}

/// Up to the limit.
pub fn the_longest_due_is_claimed_first(store: &dyn Store) {
    let partner = partner(store);
    let [third, first, fourth, second] = [30, 10, 40, 20].map(|due| some_work(store, partner, due));
    let subjects =
        |claims: Vec<Claim>| -> Vec<Subject> { claims.iter().map(|claim| claim.subject).collect() };
    assert_eq!(subjects(claim(store, 50, 3)), [first, second, third]);
    assert_eq!(subjects(claim(store, 50, 3)), [fourth]);
}

/// With the next attempt, and a warning that something may have been sent.
pub fn leased_work_is_taken_over_after_the_lease(store: &dyn Store) {
    let partner = partner(store);
    some_work(store, partner, 0);
    let first = claim(store, 0, 10).remove(0);
    assert!(is_current(store, &first));
    assert_eq!(claim(store, 59, 10), []);
    assert!(is_current(store, &first));
    let second = claim(store, 60, 10).remove(0);
    let expected = Claim { attempt: 2, may_have_sent: true, leased_until: at(120), ..first.clone() };
    assert_eq!(second, expected);
    assert!(!is_current(store, &first));
    assert!(is_current(store, &second));
}

/// What the worker said of it.
pub fn work_given_back_waits_and_remembers(store: &dyn Store) {
    let partner = partner(store);
    some_work(store, partner, 0);
    let first = claim(store, 0, 10).remove(0);
    put_back(store, &first, PutBack { due_at: at(100), failures: 3, may_have_sent: true });
    assert!(!is_current(store, &first), "the lease is over");
    assert_eq!(claim(store, 99, 10), []);
    let second = claim(store, 100, 10).remove(0);
    assert_eq!((second.attempt, second.failures, second.may_have_sent), (2, 3, true));
    put_back(store, &second, PutBack { due_at: at(110), failures: 0, may_have_sent: false });
    let third = claim(store, 110, 10).remove(0);
    assert_eq!((third.attempt, third.failures, third.may_have_sent), (3, 0, false));
}

/// Nor does one that was already used.
pub fn a_claim_that_is_not_current_does_nothing(store: &dyn Store) {
    let partner = partner(store);
    some_work(store, partner, 0);
    let stale = claim(store, 0, 10).remove(0);
    let current = claim(store, 60, 10).remove(0);
    let terms = PutBack { due_at: at(0), failures: 9, may_have_sent: false };
    put_back(store, &stale, terms);
    finish(store, &stale);
    assert!(is_current(store, &current));
    assert_eq!(claim(store, 119, 10), []);
    put_back(store, &current, PutBack { due_at: at(200), failures: 1, may_have_sent: true });
    put_back(store, &current, terms);
    finish(store, &current);
    assert_eq!(claim(store, 199, 10), []);
    let next = claim(store, 200, 10).remove(0);
    assert_eq!((next.attempt, next.failures, next.may_have_sent), (3, 1, true));
}

/// However many claim at once.
pub fn two_workers_never_get_the_same_attempt(store: &dyn Store) {
    let partner = partner(store);
    for due in 0..40 {
        some_work(store, partner, due);
    }
    let claims: Vec<Claim> = thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let rounds = [100, 100, 100, 100, 160, 160, 160, 160];
                    rounds.into_iter().flat_map(|now| claim(store, now, 5)).collect::<Vec<Claim>>()
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let attempts: HashSet<(Subject, u32)> =
        claims.iter().map(|claim| (claim.subject, claim.attempt)).collect();
    assert_eq!(attempts.len(), claims.len());
    let subjects: HashSet<Subject> = claims.iter().map(|claim| claim.subject).collect();
    assert_eq!(subjects.len(), 40);
}

/// By the one who has it.
pub fn finished_work_is_gone(store: &dyn Store) {
    let partner = partner(store);
    some_work(store, partner, 0);
    let kept = some_work(store, partner, 1);
    let claims = claim(store, 10, 10);
    assert_eq!(count(store), 2);
    finish(store, &claims[0]);
    assert!(!is_current(store, &claims[0]));
    assert_eq!(count(store), 1);
    assert_eq!(claim(store, 100, 10)[0].subject, kept);
}

/// Also if somebody has just claimed it, who then has nothing; another partner withdraws nothing.
pub fn cancelled_work_is_withdrawn(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let (claimed, waiting) = (some_work(store, partner, 0), some_work(store, partner, 10));
    let claim = claim(store, 0, 10).remove(0);
    for subject in [claimed, waiting] {
        write(store, move |unit| unit.work().withdraw(other, subject)).unwrap();
    }
    assert_eq!(count(store), 2);
    for subject in [claimed, waiting] {
        write(store, move |unit| unit.work().withdraw(partner, subject)).unwrap();
    }
    assert_eq!(count(store), 0);
    assert!(!is_current(store, &claim));
}

/// The work can be claimed at once, and the old claims are worth nothing.
pub fn leases_end_all_at_once(store: &dyn Store) {
    let partner = partner(store);
    some_work(store, partner, 0);
    some_work(store, partner, 50);
    let first = claim(store, 0, 10).remove(0);
    write(store, |unit| unit.work().end_all_leases()).unwrap();
    assert!(!is_current(store, &first));
    let second = claim(store, 1, 10);
    assert_eq!(second.len(), 1, "what is not due stays so");
    assert_eq!((second[0].attempt, second[0].may_have_sent), (2, true));
}

/// The sooner of what falls due and what leases end.
pub fn the_next_moment_to_look_is_known(store: &dyn Store) {
    let partner = partner(store);
    assert_eq!(next_due(store), None);
    some_work(store, partner, 10);
    some_work(store, partner, 100);
    assert_eq!(next_due(store), Some(10));
    let claims = claim(store, 20, 10);
    assert_eq!(next_due(store), Some(80));
    finish(store, &claims[0]);
    assert_eq!(next_due(store), Some(100));
    let claims = claim(store, 100, 10);
    assert_eq!(next_due(store), Some(160));
    put_back(store, &claims[0], PutBack { due_at: at(500), failures: 0, may_have_sent: false });
    assert_eq!(next_due(store), Some(500));
}
