use std::sync::atomic::{AtomicU64, Ordering};

use kopeck_port_store::mock::MockUnit;
use kopeck_port_store::{Done, Work};
use kopeck_port_system::fake::FakeClock;
use uuid::Uuid;

use super::*;
use crate::testing::{PARTNER, START};

/// Keeps what is submitted until the test runs it, and what was written then.
#[derive(Default)]
struct PatientStore {
    submitted: Mutex<VecDeque<(Work, Done)>>,
    written: Arc<Mutex<Vec<(PartnerId, String)>>>,
}

impl Store for PatientStore {
    fn submit(&self, access: Access, work: Work, done: Done) {
        assert_eq!(access, Access::Write);
        self.submitted.lock().unwrap().push_back((work, done));
    }
}

impl PatientStore {
    /// Runs the unit of work that was submitted first; the store then says `outcome`.
    fn run(&self, outcome: Result<(), StoreError>) -> bool {
        let Some((mut work, done)) = self.submitted.lock().unwrap().pop_front() else { return false };
        let (mut unit, written) = (MockUnit::default(), Arc::clone(&self.written));
        let fails = outcome.is_err();
        unit.request_log.expect_append().returning(move |partner, records, now| {
            assert_eq!(now, START);
            if !fails {
                let ids = records.iter().map(|record| (partner, record.request_id.clone()));
                written.lock().unwrap().extend(ids);
            }
            Ok(())
        });
        work(&mut unit);
        done(outcome);
        true
    }

    fn written(&self) -> Vec<(PartnerId, String)> {
        std::mem::take(&mut *self.written.lock().unwrap())
    }
}

#[derive(Default)]
struct Counts([AtomicU64; 2]);

impl RequestLogObserver for Counts {
    fn written(&self, rows: u64) {
        self.0[0].fetch_add(rows, Ordering::Relaxed);
    }

    fn dropped(&self, rows: u64) {
        self.0[1].fetch_add(rows, Ordering::Relaxed);
    }
}

struct Desk {
    store: Arc<PatientStore>,
    counts: Arc<Counts>,
    queue: Arc<RequestLogQueue>,
}

impl Desk {
    fn new() -> Self {
        let (store, counts) = (Arc::new(PatientStore::default()), Arc::new(Counts::default()));
        let clock = Arc::new(FakeClock::starting_at(START));
        let queue = RequestLogQueue::new(Arc::clone(&store) as _, clock, Arc::clone(&counts) as _);
        Self { store, counts, queue }
    }

    fn push(&self, partner: PartnerId, ids: std::ops::Range<usize>) {
        for id in ids {
            self.queue.push(partner, record(&id.to_string()));
        }
    }

    /// Written and dropped rows.
    fn counts(&self) -> [u64; 2] {
        [0, 1].map(|which| self.counts.0[which].load(Ordering::Relaxed))
    }

    /// A second: a tick, and all that it leads to.
    fn second(&self) -> usize {
        self.queue.tick();
        std::iter::from_fn(|| self.store.run(Ok(())).then_some(())).count()
    }
}

fn record(request_id: &str) -> RequestRecord {
    RequestRecord {
        at: START,
        request_id: request_id.to_owned(),
        operation: "balance".to_owned(),
        status: 200,
        code: None,
        fields: vec![],
        duration_ms: 1,
        credential: None,
        address: None,
        replayed: false,
    }
}

fn other() -> PartnerId {
    PartnerId::new(Uuid::from_u128(0xB))
}

#[test]
fn nothing_is_written_before_its_second_and_then_together() {
    let desk = Desk::new();
    desk.push(PARTNER, 0..3);
    assert!(!desk.store.run(Ok(())), "a request writes nothing");
    assert_eq!(desk.second(), 1);
    let ids: Vec<String> = desk.store.written().into_iter().map(|(_, id)| id).collect();
    assert_eq!((ids, desk.counts()), (vec!["0".into(), "1".into(), "2".into()], [3, 0]));
    assert_eq!(desk.second(), 0);
}

#[test]
fn a_storm_is_written_at_a_bounded_pace_and_the_rest_is_dropped_and_counted() {
    let desk = Desk::new();
    desk.push(PARTNER, 0..5_000);
    assert_eq!(desk.counts(), [0, 1_000]);
    assert_eq!(desk.second(), 4, "1,000 rows in four units of work");
    assert_eq!(desk.counts(), [1_000, 1_000]);
    let first: Vec<usize> = desk.store.written().iter().map(|(_, id)| id.parse().unwrap()).collect();
    assert_eq!(first, (0..1_000).collect::<Vec<_>>());
    desk.push(PARTNER, 5_000..6_001);
    assert_eq!(desk.counts(), [1_000, 1_001], "there is room again for what was written");
}

#[test]
fn a_storm_of_one_partner_takes_nothing_from_another() {
    let desk = Desk::new();
    desk.push(PARTNER, 0..5_000);
    desk.push(other(), 0..10);
    desk.second();
    let of_other = desk.store.written().into_iter().filter(|(partner, _)| *partner == other()).count();
    assert_eq!(of_other, 10);
    let all: Vec<PartnerId> = (1..9).map(|id| PartnerId::new(Uuid::from_u128(id))).collect();
    all.iter().for_each(|partner| desk.push(*partner, 0..4_000));
    assert!(desk.queue.lock().count <= CAPACITY);
}

#[test]
fn rows_of_a_busy_store_wait_in_their_order() {
    let desk = Desk::new();
    desk.push(PARTNER, 0..2);
    desk.push(other(), 0..1);
    desk.queue.tick();
    desk.push(PARTNER, 2..3);
    assert!(desk.store.run(Err(StoreError::Busy)));
    assert!(!desk.store.run(Ok(())), "not before the next second");
    desk.second();
    let written = desk.store.written();
    let of = |wanted| -> Vec<&str> {
        written.iter().filter(|(partner, _)| *partner == wanted).map(|(_, id)| id.as_str()).collect()
    };
    assert_eq!((of(PARTNER), of(other())), (vec!["0", "1", "2"], vec!["0"]));
    assert_eq!(desk.counts(), [4, 0]);
}

/// They may have been committed.
#[test]
fn rows_of_a_lost_connection_are_not_written_twice() {
    let desk = Desk::new();
    desk.push(PARTNER, 0..2);
    desk.queue.tick();
    assert!(desk.store.run(Err(StoreError::Failed("the connection is lost".to_owned()))));
    assert_eq!((desk.second(), desk.counts()), (0, [0, 2]));
}

/// At once, without a thread that would run what is submitted.
struct PromptStore(Mutex<Vec<usize>>, bool);

impl Store for PromptStore {
    fn submit(&self, _access: Access, mut work: Work, done: Done) {
        let (rows, sum) = (Arc::new(Mutex::new(0)), Arc::new(AtomicU64::new(0)));
        let mut unit = MockUnit::default();
        let seen = Arc::clone(&sum);
        unit.request_log.expect_append().returning(move |_, records, _| {
            seen.fetch_add(records.len() as u64, Ordering::Relaxed);
            Ok(())
        });
        work(&mut unit);
        *rows.lock().unwrap() += usize::try_from(sum.load(Ordering::Relaxed)).unwrap();
        self.0.lock().unwrap().push(*rows.lock().unwrap());
        done(if self.1 { Ok(()) } else { Err(StoreError::Busy) });
    }
}

#[test]
fn a_stop_writes_all_that_waits_or_counts_it() {
    for (works, counted) in [(true, [600, 0]), (false, [0, 600])] {
        let (store, counts) = (Arc::new(PromptStore(Mutex::default(), works)), Arc::new(Counts::default()));
        let clock = Arc::new(FakeClock::starting_at(START));
        let queue = RequestLogQueue::new(Arc::clone(&store) as _, clock, Arc::clone(&counts) as _);
        (0..600).for_each(|id| queue.push(PARTNER, record(&id.to_string())));
        queue.close();
        assert_eq!([0, 1].map(|which| counts.0[which].load(Ordering::Relaxed)), counted);
    }
}
