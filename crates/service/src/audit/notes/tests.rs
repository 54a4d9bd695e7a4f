use std::sync::atomic::{AtomicU64, Ordering};

use kopeck_port_store::mock::MockUnit;
use kopeck_port_store::{Done, Work};

use super::*;

/// Keeps what is submitted until it is told how to end it.
#[derive(Default)]
struct PatientStore {
    jobs: Mutex<Vec<(Work, Done)>>,
    written: Arc<Mutex<Vec<String>>>,
}

impl Store for PatientStore {
    fn submit(&self, access: Access, work: Work, done: Done) {
        assert_eq!(access, Access::Write);
        self.jobs.lock().unwrap().push((work, done));
    }
}

impl PatientStore {
    /// Ends what waits; answers how many units of work that were.
    fn end(&self, outcome: &Result<(), StoreError>) -> usize {
        let jobs = std::mem::take(&mut *self.jobs.lock().unwrap());
        let count = jobs.len();
        for (mut work, done) in jobs {
            let mut unit = MockUnit::default();
            let (written, commits) = (Arc::clone(&self.written), outcome.is_ok());
            unit.audit.expect_append().returning(move |entry| {
                if commits {
                    written.lock().unwrap().push(entry.action.clone().into_owned());
                }
                Ok(())
            });
            work(&mut unit);
            done(outcome.clone());
        }
        count
    }

    fn written(&self) -> Vec<String> {
        std::mem::take(&mut *self.written.lock().unwrap())
    }
}

#[derive(Default)]
struct Counts {
    written: AtomicU64,
    dropped: AtomicU64,
}

impl NotesObserver for Counts {
    fn written(&self, entries: u64) {
        self.written.fetch_add(entries, Ordering::Relaxed);
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

fn desk() -> (Arc<PatientStore>, Arc<Counts>, Arc<Notes>) {
    let (store, counts) = (Arc::<PatientStore>::default(), Arc::<Counts>::default());
    let notes = Notes::new(Arc::clone(&store) as Arc<dyn Store>, Arc::clone(&counts) as _);
    (store, counts, notes)
}

fn entry(action: impl ToString) -> Entry {
    let entry = Entry::new(OffsetDateTime::UNIX_EPOCH, "127.0.0.1", action.to_string());
    Entry { actor: Actor::Partner(None), ..entry }
}

#[test]
fn what_comes_while_one_is_written_is_written_with_the_next() {
    let (store, counts, notes) = desk();
    for number in 0..4 {
        notes.note(entry(number));
    }
    assert_eq!(store.end(&Ok(())), 1);
    assert_eq!(store.written(), ["0"]);
    assert_eq!(store.end(&Ok(())), 1);
    assert_eq!(store.written(), ["1", "2", "3"]);
    assert_eq!(store.end(&Ok(())), 0);
    assert!(counts.are(4, 0));
}

#[test]
fn what_could_not_be_written_waits_in_its_place() {
    let (store, counts, notes) = desk();
    notes.note(entry("a"));
    notes.note(entry("b"));
    assert_eq!(store.end(&Err(StoreError::Busy)), 1);
    notes.note(entry("c"));
    assert_eq!(store.end(&Ok(())), 0, "a database that fails is not asked by each entry");
    notes.retry();
    notes.retry();
    assert_eq!(store.end(&Ok(())), 1);
    assert_eq!(store.written(), ["a", "b", "c"]);
    notes.note(entry("d"));
    assert_eq!(store.end(&Ok(())), 1);
    assert!(counts.are(4, 0));
}

#[test]
fn no_more_wait_than_there_is_room_for() {
    let (store, counts, notes) = desk();
    for number in 0..MOST_WAITING + 3 {
        notes.note(entry(number));
    }
    assert!(counts.are(0, 2), "one is on its way");
    while store.end(&Ok(())) > 0 {}
    assert!(counts.are(MOST_WAITING as u64 + 1, 2));
    assert_eq!(store.written().last().map(String::as_str), Some("10000"));
}

#[test]
fn strangers_cannot_fill_the_log() {
    let (store, counts, notes) = desk();
    let stranger = |micros| Entry {
        actor: Actor::Unknown,
        at: OffsetDateTime::UNIX_EPOCH + time::Duration::microseconds(micros),
        ..entry("token.access")
    };
    for _ in 0..60 {
        notes.note(stranger(0));
    }
    notes.note(entry("of a partner"));
    notes.note(stranger(999_999));
    notes.note(stranger(1_000_000));
    while store.end(&Ok(())) > 0 {}
    assert!(counts.are(52, 11));
}

#[test]
fn an_entry_by_itself_is_told_its_end() {
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
    notes.note(entry("a"));
    notes.note(entry("b"));
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

    notes.note(entry("c"));
    assert_eq!(store.end(&Err(StoreError::Busy)), 1);
    notes.close();
    assert_eq!(store.end(&Ok(())), 0);
    assert!(counts.are(2, 1));
}
