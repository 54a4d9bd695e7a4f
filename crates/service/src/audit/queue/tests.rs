use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use kopeck_port_store::mock::MockUnit;
use kopeck_port_store::{Done, Work};
use kopeck_port_system::fake::FakeClock;
use time::OffsetDateTime;
use uuid::Uuid;

use super::*;

/// Keeps submitted work until the test ends it.
#[derive(Default)]
struct PatientStore {
    jobs: Mutex<Vec<(Work, Done)>>,
    written: Arc<Mutex<Vec<Entry>>>,
}

impl Store for PatientStore {
    fn submit(&self, access: Access, work: Work, done: Done) {
        assert_eq!(access, Access::Write);
        self.jobs.lock().unwrap().push((work, done));
    }
}

impl PatientStore {
    /// Ends what waits. Returns the number of such units of work.
    fn end(&self, outcome: &Result<(), StoreError>) -> usize {
        let jobs = std::mem::take(&mut *self.jobs.lock().unwrap());
        let count = jobs.len();
        for (mut work, done) in jobs {
            let mut unit = MockUnit::default();
            let (written, commits) = (Arc::clone(&self.written), outcome.is_ok());
            unit.audit.expect_append().returning(move |entry| {
                if commits {
                    written.lock().unwrap().push(entry.clone());
                }
                Ok(())
            });
            work(&mut unit);
            done(outcome.clone());
        }
        count
    }

    fn entries(&self) -> Vec<Entry> {
        std::mem::take(&mut *self.written.lock().unwrap())
    }

    fn written(&self) -> Vec<String> {
        self.entries().into_iter().map(|entry| entry.action.into_owned()).collect()
    }
}

#[derive(Default)]
struct Counts {
    written: AtomicU64,
    summarised: AtomicU64,
    dropped: AtomicU64,
}

impl AuditQueueObserver for Counts {
    fn written(&self, entries: u64) {
        self.written.fetch_add(entries, Ordering::Relaxed);
    }

    fn summarised(&self, entries: u64) {
        self.summarised.fetch_add(entries, Ordering::Relaxed);
    }

    fn dropped(&self, entries: u64) {
        self.dropped.fetch_add(entries, Ordering::Relaxed);
    }
}

impl Counts {
    fn are(&self, written: u64, dropped: u64) -> bool {
        (self.written.load(Ordering::Relaxed), self.dropped.load(Ordering::Relaxed)) == (written, dropped)
    }
}

fn desk() -> (Arc<PatientStore>, Arc<Counts>, Arc<AuditQueue>) {
    let (store, counts, _, notes) = desk_with_clock();
    (store, counts, notes)
}

fn desk_with_clock() -> (Arc<PatientStore>, Arc<Counts>, Arc<FakeClock>, Arc<AuditQueue>) {
    let (store, counts) = (Arc::<PatientStore>::default(), Arc::<Counts>::default());
    let clock = Arc::new(FakeClock::starting_at(OffsetDateTime::UNIX_EPOCH));
    let notes = AuditQueue::new(
        Arc::clone(&store) as Arc<dyn Store>,
        Arc::clone(&clock) as _,
        Arc::clone(&counts) as _,
    );
    (store, counts, clock, notes)
}

fn entry(action: impl ToString) -> Entry {
    let entry = Entry::new(OffsetDateTime::UNIX_EPOCH, "127.0.0.1", action.to_string());
    Entry { actor: Actor::Partner(None), ..entry }
}

#[test]
fn entries_during_a_write_are_written_with_the_next() {
    let (store, counts, notes) = desk();
    for number in 0..4 {
        notes.push(entry(number));
    }
    assert_eq!(store.end(&Ok(())), 1);
    assert_eq!(store.written(), ["0"]);
    assert_eq!(store.end(&Ok(())), 1);
    assert_eq!(store.written(), ["1", "2", "3"]);
    assert_eq!(store.end(&Ok(())), 0);
    assert!(counts.are(4, 0));
}

#[test]
fn an_unwritten_entry_waits_in_its_place() {
    let (store, counts, notes) = desk();
    notes.push(entry("a"));
    notes.push(entry("b"));
    assert_eq!(store.end(&Err(StoreError::Busy)), 1);
    notes.push(entry("c"));
    assert_eq!(store.end(&Ok(())), 0, "a database that fails is not asked by each entry");
    notes.tick();
    notes.tick();
    assert_eq!(store.end(&Ok(())), 1);
    assert_eq!(store.written(), ["a", "b", "c"]);
    notes.push(entry("d"));
    assert_eq!(store.end(&Ok(())), 1);
    assert!(counts.are(4, 0));
}

#[test]
fn no_more_wait_than_there_is_room_for() {
    let (store, counts, notes) = desk();
    for number in 0..CAPACITY + 3 {
        notes.push(entry(number));
    }
    assert!(counts.are(0, 2), "one is on its way");
    while store.end(&Ok(())) > 0 {}
    assert!(counts.are(CAPACITY as u64 + 1, 2));
    assert_eq!(store.written().last().map(String::as_str), Some("10000"));
}

/// As when every change is answered 503 while the disk is full, for ten minutes.
#[test]
fn dropped_entries_are_counted_in_the_log_itself() {
    const PARTNERS: u128 = 3;
    let (store, counts, clock, notes) = desk_with_clock();
    let all = CAPACITY + 9_000;
    for number in 0..all {
        let partner = Some(Uuid::from_u128(number as u128 % PARTNERS).into());
        notes.push(Entry { partner, ..entry("card.limit") });
        store.end(&Err(StoreError::Unavailable("full".to_owned())));
        if number % 30 == 0 {
            clock.advance(time::Duration::SECOND);
            notes.tick();
        }
    }
    while store.end(&Ok(())) > 0 {}
    notes.tick();
    assert_eq!(store.end(&Ok(())), 1, "there is room again");
    while store.end(&Ok(())) > 0 {}
    clock.advance(time::Duration::MINUTE);
    notes.tick();
    while store.end(&Ok(())) > 0 {}
    let entries = store.entries();
    let summaries: Vec<&Entry> = entries.iter().filter(|entry| entry.action == "audit.summary").collect();
    let partners: HashSet<_> = summaries.iter().map(|summary| summary.partner).collect();
    assert_eq!(partners.len() as u128, PARTNERS, "{summaries:?}");
    let counted: usize =
        summaries.iter().map(|one| one.subject["more:".len()..].parse::<usize>().unwrap()).sum();
    assert!(counted > 8_000);
    assert_eq!(entries.len() - summaries.len() + counted, all, "written and counted are all that happened");
    assert!(counts.are(entries.len() as u64, counted as u64));
}

/// 125 junk refreshes a second for two minutes from one address, and six logins with a partner's API key from another.
#[test]
fn a_flood_from_one_address_hides_no_other_and_is_counted_exactly() {
    let (store, counts, clock, notes) = desk_with_clock();
    let junk = || Entry { actor: Actor::Unknown, ..Entry::new(clock.now(), "203.0.113.9", "token.refresh") };
    let partner = Some(Uuid::from_u128(7).into());
    for second in 0..120 {
        for _ in 0..125 {
            notes.push(junk());
        }
        if second % 20 == 0 {
            let login = Entry::new(clock.now(), "198.51.100.4", "token.access");
            notes.push(Entry { partner, ..login });
        }
        while store.end(&Ok(())) > 0 {}
        clock.advance(time::Duration::SECOND);
        notes.tick();
    }
    while store.end(&Ok(())) > 0 {}
    let entries = store.entries();
    let count = |action: &str| entries.iter().filter(|entry| entry.action == action).count();
    assert_eq!(count("token.access"), 6);
    let summaries: Vec<&Entry> = entries.iter().filter(|entry| entry.action == "audit.summary").collect();
    assert_eq!(summaries.len(), 2, "one a minute");
    assert!(summaries.iter().all(|summary| summary.source == "203.0.113.9"), "{summaries:?}");
    let summarised: usize =
        summaries.iter().map(|summary| summary.subject["more:".len()..].parse::<usize>().unwrap()).sum();
    assert_eq!(
        count("token.refresh") + summarised,
        120 * 125,
        "written and summarised are all that was sent"
    );
    assert_eq!(counts.summarised.load(Ordering::Relaxed), summarised as u64);
    assert!(counts.are(entries.len() as u64, 0));
}

#[test]
fn the_end_of_the_process_summarises_what_was_counted() {
    let (store, counts, notes) = desk();
    for _ in 0..100 {
        notes.push(Entry { actor: Actor::Unknown, ..entry("token.access") });
    }
    while store.end(&Ok(())) > 0 {}
    let closing = std::thread::spawn({
        let notes = Arc::clone(&notes);
        move || notes.close()
    });
    while !closing.is_finished() {
        store.end(&Ok(()));
        std::thread::yield_now();
    }
    closing.join().unwrap();
    assert_eq!(store.entries().last().unwrap().subject, "more:40");
    assert!(counts.are(61, 0));
}

#[test]
fn a_single_entry_gets_its_outcome() {
    let (store, counts, notes) = desk();
    let told = Arc::new(Mutex::new(Vec::new()));
    for outcome in [Ok(()), Err(StoreError::Busy)] {
        let told = Arc::clone(&told);
        notes.write_one(entry("token.access"), move |ended| told.lock().unwrap().push(ended));
        store.end(&outcome);
    }
    assert_eq!(*told.lock().unwrap(), [Ok(()), Err(StoreError::Busy)]);
    assert_eq!(store.written(), ["token.access"]);
    assert!(counts.are(0, 0));
}

#[test]
fn the_end_writes_what_waits_and_gives_up_what_cannot_be_written() {
    let (store, counts, notes) = desk();
    notes.push(entry("a"));
    notes.push(entry("b"));
    let closing = std::thread::spawn({
        let notes = Arc::clone(&notes);
        move || notes.close()
    });
    // Its two units of work come one after the other, whenever that is.
    let mut ended = 0;
    while ended < 2 {
        ended += store.end(&Ok(()));
        std::thread::yield_now();
    }
    closing.join().unwrap();
    assert_eq!(store.written(), ["a", "b"]);

    assert!(counts.are(2, 0));
}

#[test]
fn the_end_tries_once_more_after_a_failure() {
    for (outcome, written, dropped) in [(Ok(()), 1, 0), (Err(StoreError::Busy), 0, 1)] {
        let (store, counts, notes) = desk();
        notes.push(entry("c"));
        assert_eq!(store.end(&Err(StoreError::Busy)), 1);
        let closing = std::thread::spawn({
            let notes = Arc::clone(&notes);
            move || notes.close()
        });
        while store.end(&outcome) == 0 {
            std::thread::yield_now();
        }
        closing.join().unwrap();
        assert_eq!(store.end(&Ok(())), 0);
        assert!(counts.are(written, dropped));
    }
}
