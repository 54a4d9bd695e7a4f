//! Work for the workers.
//!
//! Some stores' clocks go on by themselves, so nothing here stands within seconds of a border.

use std::collections::HashSet;
use std::thread;

use kopeck_domain::ids::PartnerId;
use time::Duration;

use super::TimeTravel;
use super::support::{id, partner, read, write};
use crate::{Backlog, Claim, Horizon, Reschedule, Rule, Store, StoreError, Subject};

const LEASE: Duration = Duration::minutes(60);

fn enqueue(store: &dyn Store, partner: PartnerId, subject: Subject, delay: i64) -> Result<(), StoreError> {
    write(store, move |unit| unit.jobs().enqueue(partner, subject, Duration::minutes(delay)))
}

/// Work that is due after so many minutes.
fn some_work(store: &dyn Store, partner: PartnerId, delay: i64) -> Subject {
    let subject = Subject::Order(id());
    enqueue(store, partner, subject, delay).unwrap();
    subject
}

/// A claim with a lease of 60 minutes.
fn claim(store: &dyn Store, limit: u32) -> Vec<Claim> {
    write(store, move |unit| unit.jobs().claim(LEASE, limit)).unwrap()
}

/// A claim so many minutes later.
fn claim_after(store: &dyn TimeTravel, minutes: i64, limit: u32) -> Vec<Claim> {
    store.advance(Duration::minutes(minutes));
    claim(store, limit)
}

fn subjects(claims: &[Claim]) -> Vec<Subject> {
    claims.iter().map(|claim| claim.subject).collect()
}

fn is_current(store: &dyn Store, claim: &Claim) -> bool {
    let claim = claim.clone();
    write(store, move |unit| unit.jobs().is_current(&claim)).unwrap()
}

fn reschedule(store: &dyn Store, claim: &Claim, terms: Reschedule) {
    let claim = claim.clone();
    write(store, move |unit| unit.jobs().reschedule(&claim, terms)).unwrap();
}

fn put_back_for(minutes: i64, failures: u32, may_have_sent: bool) -> Reschedule {
    Reschedule { delay: Duration::minutes(minutes), failures, may_have_sent }
}

fn finish(store: &dyn Store, claim: &Claim) {
    let claim = claim.clone();
    write(store, move |unit| unit.jobs().complete(&claim)).unwrap();
}

fn is_any_due(store: &dyn Store) -> bool {
    read(store, |unit| unit.jobs().is_any_due())
}

fn count(store: &dyn Store) -> u64 {
    read(store, |unit| unit.jobs().count())
}

/// Of every partner and every kind; never before.
pub fn work_is_claimed_when_it_is_due(store: &dyn TimeTravel) {
    let (first, second) = (partner(store), partner(store));
    let subjects = [
        Subject::Order(id()),
        Subject::Replenishment(id()),
        Subject::LimitChange(id()),
        Subject::Closing(id()),
        Subject::Withdrawal(id()),
    ];
    enqueue(store, first, subjects[0], 10).unwrap();
    enqueue(store, second, subjects[1], 20).unwrap();
    enqueue(store, first, subjects[2], 30).unwrap();
    assert_eq!(claim_after(store, 9, 10), []);
    let fresh = |partner, subject| Claim { partner, subject, attempt: 1, may_have_sent: false, failures: 0 };
    assert_eq!(claim_after(store, 2, 10), [fresh(first, subjects[0])]);
    assert_eq!(claim_after(store, 10, 10), [fresh(second, subjects[1])]);
    assert_eq!(claim_after(store, 10, 10), [fresh(first, subjects[2])]);
    assert_eq!(claim_after(store, 10, 10), []);
    let double = enqueue(store, first, subjects[0], 10);
    assert!(matches!(double, Err(StoreError::Failed(_))), "work is there once");
    let stranger = enqueue(store, id(), Subject::Order(id()), 10);
    assert_eq!(stranger, Err(StoreError::Conflict(Rule::Reference)));
}

/// Up to the limit.
pub fn the_longest_due_is_claimed_first(store: &dyn TimeTravel) {
    let partner = partner(store);
    let [third, first, fourth, second] = [30, 10, 40, 20].map(|due| some_work(store, partner, due));
    assert_eq!(subjects(&claim_after(store, 50, 3)), [first, second, third]);
    assert_eq!(subjects(&claim(store, 3)), [fourth]);
}

/// However much one of them has, and however long it has waited.
pub fn partners_take_turns(store: &dyn TimeTravel) {
    let (many, few, one) = (partner(store), partner(store), partner(store));
    let queue: Vec<Subject> = (0..40).map(|delay| some_work(store, many, delay)).collect();
    let pair = [50, 51].map(|delay| some_work(store, few, delay));
    let single = some_work(store, one, 60);
    let claimed = subjects(&claim_after(store, 70, 6));
    assert_eq!(claimed, [queue[0], pair[0], single, queue[1], pair[1], queue[2]]);
    assert_eq!(subjects(&claim(store, 2)), queue[3..5], "what is leased takes no turn");
}

/// With the next attempt, and a warning that something may have been sent.
pub fn leased_work_is_taken_over_after_the_lease(store: &dyn TimeTravel) {
    let partner = partner(store);
    some_work(store, partner, 0);
    let first = claim(store, 10).remove(0);
    assert!(is_current(store, &first));
    assert_eq!(claim_after(store, 59, 10), []);
    assert!(is_current(store, &first));
    let second = claim_after(store, 2, 10).remove(0);
    assert_eq!(second, Claim { attempt: 2, may_have_sent: true, ..first.clone() });
    assert!(!is_current(store, &first));
    assert!(is_current(store, &second));
}

/// What the worker said of it.
pub fn work_given_back_waits_and_remembers(store: &dyn TimeTravel) {
    let partner = partner(store);
    some_work(store, partner, 0);
    let first = claim(store, 10).remove(0);
    reschedule(store, &first, put_back_for(100, 3, true));
    assert!(!is_current(store, &first), "the lease is over");
    assert_eq!(claim_after(store, 99, 10), []);
    let second = claim_after(store, 2, 10).remove(0);
    assert_eq!((second.attempt, second.failures, second.may_have_sent), (2, 3, true));
    reschedule(store, &second, put_back_for(0, 0, false));
    let third = claim(store, 10).remove(0);
    assert_eq!((third.attempt, third.failures, third.may_have_sent), (3, 0, false));
}

/// Nor does one that was already used.
pub fn a_claim_that_is_not_current_does_nothing(store: &dyn TimeTravel) {
    let partner = partner(store);
    some_work(store, partner, 0);
    let stale = claim(store, 10).remove(0);
    let current = claim_after(store, 61, 10).remove(0);
    let terms = put_back_for(0, 9, false);
    reschedule(store, &stale, terms);
    finish(store, &stale);
    assert!(is_current(store, &current));
    assert_eq!(claim(store, 10), []);
    reschedule(store, &current, put_back_for(100, 1, true));
    reschedule(store, &current, terms);
    finish(store, &current);
    assert_eq!(claim_after(store, 99, 10), []);
    let next = claim_after(store, 2, 10).remove(0);
    assert_eq!((next.attempt, next.failures, next.may_have_sent), (3, 1, true));
}

/// However many claim at once, also when leases end.
pub fn two_workers_never_get_the_same_attempt(store: &dyn TimeTravel) {
    let partner = partner(store);
    for _ in 0..40 {
        some_work(store, partner, 0);
    }
    let round = || -> Vec<Claim> {
        thread::scope(|scope| {
            let worker = || (0..4).flat_map(|_| claim(store, 5)).collect::<Vec<Claim>>();
            let workers: Vec<_> = (0..4).map(|_| scope.spawn(worker)).collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        })
    };
    let mut claims = round();
    store.advance(Duration::minutes(61));
    claims.extend(round());
    // The second may skip what the first is just claiming; it is there the next time.
    loop {
        let rest = claim(store, 40);
        if rest.is_empty() {
            break;
        }
        claims.extend(rest);
    }
    let attempts: HashSet<(Subject, u32)> =
        claims.iter().map(|claim| (claim.subject, claim.attempt)).collect();
    assert_eq!(attempts.len(), claims.len());
    let subjects: HashSet<Subject> = claims.iter().map(|claim| claim.subject).collect();
    assert_eq!(subjects.len(), 40);
}

/// By the one who has it.
pub fn finished_work_is_gone(store: &dyn TimeTravel) {
    let partner = partner(store);
    some_work(store, partner, 0);
    let kept = some_work(store, partner, 1);
    let claims = claim_after(store, 10, 10);
    assert_eq!(count(store), 2);
    finish(store, &claims[0]);
    assert!(!is_current(store, &claims[0]));
    assert_eq!(count(store), 1);
    assert_eq!(claim_after(store, 100, 10)[0].subject, kept);
}

/// Also if a worker has just claimed it, whose claim ends; another partner withdraws nothing.
pub fn cancelled_work_is_withdrawn(store: &dyn TimeTravel) {
    let (partner, other) = (partner(store), partner(store));
    let (claimed, waiting) = (some_work(store, partner, 0), some_work(store, partner, 10));
    let claim = claim(store, 10).remove(0);
    for subject in [claimed, waiting] {
        write(store, move |unit| unit.jobs().cancel(other, subject)).unwrap();
    }
    assert_eq!(count(store), 2);
    for subject in [claimed, waiting] {
        write(store, move |unit| unit.jobs().cancel(partner, subject)).unwrap();
    }
    assert_eq!(count(store), 0);
    assert!(!is_current(store, &claim));
}

/// The work can be claimed at once, and the old claims are worth nothing.
pub fn leases_end_all_at_once(store: &dyn TimeTravel) {
    let partner = partner(store);
    some_work(store, partner, 0);
    some_work(store, partner, 50);
    let first = claim(store, 10).remove(0);
    write(store, |unit| unit.jobs().end_all_leases()).unwrap();
    assert!(!is_current(store, &first));
    let second = claim(store, 10);
    assert_eq!(second.len(), 1, "what is not due stays so");
    assert_eq!((second[0].attempt, second[0].may_have_sent), (2, true));
}

/// Also what was leased and is due again.
pub fn due_jobs_are_counted(store: &dyn TimeTravel) {
    let partner = partner(store);
    assert!(!is_any_due(store));
    some_work(store, partner, 10);
    assert!(!is_any_due(store));
    store.advance(Duration::minutes(11));
    assert!(is_any_due(store));
    claim(store, 10);
    assert!(!is_any_due(store));
    let claims = claim_after(store, 61, 0);
    assert!(claims.is_empty());
    assert!(is_any_due(store), "the lease is over");
    reschedule(store, &claim(store, 10)[0], put_back_for(100, 0, false));
    assert!(!is_any_due(store));
    store.advance(Duration::minutes(101));
    assert!(is_any_due(store));
}

const HORIZON: Horizon =
    Horizon { first: Duration::minutes(30), again: Duration::minutes(10), lease: Duration::minutes(60) };

fn is_exceeded(store: &dyn Store) -> bool {
    read(store, |unit| unit.jobs().clock(HORIZON)).is_exceeded
}

fn bring_within(store: &dyn Store) -> u64 {
    write(store, |unit| unit.jobs().bring_within(HORIZON)).unwrap()
}

/// For work that was new, given back, and leased while the clock was three years ahead.
pub fn work_goes_on_after_the_clock_was_set_back(store: &dyn TimeTravel) {
    let partner = partner(store);
    let years = Duration::days(1_100);
    let [leased, given_back, before] = [0, 0, 20].map(|delay| some_work(store, partner, delay));
    store.step(years);
    let claims = claim(store, 3);
    assert_eq!(claims.len(), 3, "what was put off is due at once");
    let of = |subject| claims.iter().find(|claim| claim.subject == subject).unwrap();
    reschedule(store, of(given_back), put_back_for(5, 1, true));
    reschedule(store, of(before), put_back_for(0, 0, false));
    let meanwhile = some_work(store, partner, 20);
    assert!(!is_exceeded(store));
    store.step(-years);
    let after = some_work(store, partner, 20);
    assert!(is_exceeded(store));
    assert_eq!(claim_after(store, 25, 10).len(), 1, "the rest waits for three years");
    assert_eq!(bring_within(store), 4);
    assert!(!is_exceeded(store));
    assert_eq!(bring_within(store), 0);
    assert!(is_current(store, of(leased)), "a lease stays its holder's");

    assert_eq!(claim_after(store, 9, 10), []);
    let again = subjects(&claim_after(store, 2, 10));
    assert_eq!(again.iter().collect::<HashSet<_>>(), HashSet::from([&given_back, &before]));
    assert_eq!(subjects(&claim_after(store, 20, 10)), [meanwhile]);
    let over: HashSet<_> = subjects(&claim_after(store, 61, 10)).into_iter().collect();
    assert_eq!(over, HashSet::from([leased, given_back, before, meanwhile, after]));
}

/// Whatever the clock does: nothing is due earlier, and no lease ends earlier, than it was to.
pub fn times_within_the_horizon_stay(store: &dyn TimeTravel) {
    let partner = partner(store);
    let leased = some_work(store, partner, 0);
    let held = claim(store, 1).remove(0);
    let first = some_work(store, partner, 29);
    let now = read(store, |unit| unit.jobs().clock(HORIZON)).now;
    store.step(-Duration::minutes(1));
    assert_eq!(bring_within(store), 1, "the lease alone would last too long");
    assert!(!is_exceeded(store) && is_current(store, &held));
    assert_eq!(claim_after(store, 28, 10), []);
    let stepped = read(store, |unit| unit.jobs().clock(HORIZON)).now - now;
    assert!((27..29).contains(&stepped.whole_minutes()), "{stepped}");
    assert_eq!(subjects(&claim_after(store, 3, 10)), [first]);
    assert_eq!(subjects(&claim_after(store, 30, 10)), [leased]);
}

/// The longest stuck first; only who has it can say so, and the first timestamp stays.
pub fn stuck_work_shows_and_stays_due(store: &dyn TimeTravel) {
    let (first, second) = (partner(store), partner(store));
    for partner in [first, second] {
        some_work(store, partner, 0);
    }
    let stale = claim(store, 10);
    let claims = claim_after(store, 61, 10);
    let stuck = || -> Vec<(PartnerId, Subject)> {
        let stuck = read(store, |unit| unit.jobs().stuck());
        assert!(stuck.is_sorted_by_key(|work| work.since));
        stuck.iter().map(|work| (work.partner, work.subject)).collect()
    };
    let mark = |claim: &Claim| {
        let claim = claim.clone();
        write(store, move |unit| unit.jobs().mark_stuck(&claim)).unwrap();
    };
    stale.iter().for_each(mark);
    assert_eq!(stuck(), []);
    for claim in claims.iter().rev() {
        mark(claim);
        store.advance(Duration::minutes(1));
    }
    let expected: Vec<_> = claims.iter().rev().map(|claim| (claim.partner, claim.subject)).collect();
    assert_eq!(stuck(), expected);
    mark(&claims[1]);
    reschedule(store, &claims[0], put_back_for(0, 1, true));
    assert_eq!(stuck(), expected);
    let again = claim(store, 10).remove(0);
    assert_eq!(again.subject, claims[0].subject);
    finish(store, &again);
    assert_eq!(stuck(), expected[..1]);
}

/// By the next attempt, leased or not, due or not; another partner seizes nothing.
pub fn work_can_be_seized(store: &dyn TimeTravel) {
    let (partner, other) = (partner(store), partner(store));
    let (leased, waiting) = (some_work(store, partner, 0), some_work(store, partner, 1_000));
    let worker = claim(store, 10).remove(0);
    let force_claim = |partner: PartnerId, subject: Subject| {
        write(store, move |unit| unit.jobs().force_claim(partner, subject, LEASE)).unwrap()
    };
    assert_eq!(force_claim(other, leased), None);
    assert!(is_current(store, &worker));
    let expected = Claim { attempt: 2, may_have_sent: true, ..worker.clone() };
    assert_eq!(force_claim(partner, leased), Some(expected.clone()));
    assert!(!is_current(store, &worker));
    assert!(is_current(store, &expected));
    assert_eq!(force_claim(partner, waiting).map(|claim| claim.attempt), Some(1));
    assert_eq!(force_claim(partner, Subject::Order(id())), None);
    assert_eq!(claim(store, 10), []);
}

/// Of every partner; a leased job is not due.
pub fn the_backlog_is_counted(store: &dyn TimeTravel) {
    let backlog = || read(store, |unit| unit.jobs().backlog());
    assert_eq!(backlog(), Backlog::default());
    let (first, second) = (partner(store), partner(store));
    some_work(store, first, 0);
    some_work(store, second, 10);
    some_work(store, second, 500);
    store.advance(Duration::minutes(20));
    let backlog_now = backlog();
    let oldest_due = backlog_now.oldest_due;
    assert_eq!(backlog_now, Backlog { all: 3, due: 2, oldest_due, ..Backlog::default() });
    let of = |partner| read(store, move |unit| unit.jobs().count_of(partner));
    assert_eq!((of(first), of(second), of(id())), (1, 2, 0));
    assert!((20..25).contains(&oldest_due.whole_minutes()), "{oldest_due}");

    let claims = claim(store, 2);
    assert_eq!(backlog(), Backlog { all: 3, ..Backlog::default() });
    reschedule(store, &claims[0], put_back_for(30, 1, true));
    let stuck = claims[1].clone();
    write(store, move |unit| unit.jobs().mark_stuck(&stuck)).unwrap();
    assert_eq!(backlog(), Backlog { all: 3, failing: 1, stuck: 1, ..Backlog::default() });
    // A lease that is over leaves its work as due as it was.
    store.advance(Duration::minutes(61));
    let left = backlog();
    let oldest_due = left.oldest_due;
    assert_eq!(left, Backlog { all: 3, due: 2, oldest_due, failing: 1, stuck: 1 });
    assert!((70..85).contains(&oldest_due.whole_minutes()), "{oldest_due}");
}
