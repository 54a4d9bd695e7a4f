//! Batches on a database of their own.

use std::path::Path;
use std::sync::{Arc, Mutex};

use kopeck_domain::employee::{Employee, NewEmployee};
use kopeck_domain::ids::PartnerId;
use kopeck_domain::partner::{Partner, PartnerStatus, SealingPolicy};
use kopeck_domain::person::CustomId;
use kopeck_port_store::mock::FakeCipher;
use kopeck_port_store::{Credentials, Disposition, Done, EmployeeFilter, UnitOfWork, Work};
use kopeck_port_system::Clock;
use kopeck_port_system::fake::FakeClock;
use time::OffsetDateTime;
use uuid::Uuid;

use kopeck_port_store::{Access, StoreError};

use super::executor::serve;
use super::group_commit::group_commit;
use super::in_flight::BatchInFlight;
use super::*;
use crate::dialect;
use crate::queue::Queue;
use crate::single::{self, UnitOutcome};
use crate::transaction::DieselTransaction;
use kopeck_port_store::NoopObserver;

const PARTNER: PartnerId = PartnerId::new(Uuid::from_u128(1));

fn database(url: &str) -> Arc<Database> {
    let clock: Arc<dyn Clock> = Arc::new(FakeClock::starting_at(OffsetDateTime::UNIX_EPOCH));
    let config = StoreConfig { cipher: Arc::new(FakeCipher(vec![1])), ..StoreConfig::new(url, clock) };
    Database::open(&config, false).unwrap()
}

fn connect(url: &str, access: Access) -> DieselTransaction {
    DieselTransaction::new(&database(url), access).unwrap()
}

/// A connection to a new database with one partner.
fn unit(folder: &Path) -> DieselTransaction {
    let url = format!("sqlite://{}", folder.join("kopeck.db").display());
    crate::migrate(&url).unwrap();
    let mut unit = connect(&url, Access::Write);
    let partner = Partner {
        id: PARTNER,
        name: "P".to_owned(),
        login: "p".to_owned(),
        status: PartnerStatus::Active,
        sealing: SealingPolicy::Optional,
        created_at: OffsetDateTime::UNIX_EPOCH,
    };
    let credentials = Credentials { partner, api_key_hash: [0; 32], password_hash: String::new() };
    unit.partners().insert(&credentials).unwrap();
    unit
}

/// A task that adds an employee under this identifier.
fn task(number: u128, custom_id: &str) -> QueuedTask {
    answering(adding(number, custom_id), Box::new(|_| {}))
}

fn adding(number: u128, custom_id: &str) -> Work {
    let custom_id = CustomId::parse(custom_id).unwrap();
    let id = Uuid::from_u128(number).into();
    let employee = Employee::add(id, custom_id, NewEmployee::default(), OffsetDateTime::UNIX_EPOCH);
    Box::new(move |unit| match unit.employees().insert(PARTNER, &employee) {
        Ok(()) => Disposition::Commit,
        Err(_) => Disposition::RollBack,
    })
}

fn alone(unit: &mut DieselTransaction, task: &mut QueuedTask) -> UnitOutcome {
    single::write(unit, &mut task.task, || task.caller.is_waiting())
}

fn answering(work: Work, done: Done) -> QueuedTask {
    QueuedTask { task: Task::Work(work), caller: Caller::new(done), since: 0 }
}

fn custom_ids(unit: &mut DieselTransaction) -> Vec<String> {
    let page = kopeck_port_store::page::Page::new(1, 100).unwrap();
    let listed = unit.employees().list(PARTNER, &EmployeeFilter::default(), page).unwrap();
    assert_eq!(listed.total, listed.items.len() as u64);
    listed.items.iter().map(|one| one.custom_id().as_str().to_owned()).collect()
}

/// Makes the commit of a transaction fail that added the employee `poison`.
const POISON: &str = "
    CREATE TEMP TABLE a (id INTEGER PRIMARY KEY);
    CREATE TEMP TABLE b (a REFERENCES a (id) DEFERRABLE INITIALLY DEFERRED);
    CREATE TEMP TRIGGER poison AFTER INSERT ON main.employees WHEN new.custom_id = 'poison'
    BEGIN INSERT INTO b VALUES (1); END;";

#[test]
fn a_commit_that_fails_harms_only_those_who_broke_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut unit = unit(folder.path());
    unit.execute(POISON).unwrap();
    let outcomes =
        group_commit(&mut unit, &mut [task(1, "one"), task(2, "poison"), task(3, "three")], Mode::Savepoint);
    assert!(matches!(outcomes.as_slice(), [Ok(()), Err(_), Ok(())]), "{outcomes:?}");
    assert_eq!(custom_ids(&mut unit), ["one", "three"]);
    let outcomes = group_commit(&mut unit, &mut [task(4, "four"), task(5, "five")], Mode::Savepoint);
    assert_eq!(outcomes, [Ok(()), Ok(())], "the connection is as good as before");
}

#[test]
fn an_undone_task_leaves_its_neighbours_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut unit = unit(folder.path());
    let undone = |number: u128| {
        let mut add = adding(number, &format!("undone-{number}"));
        let work: Work = Box::new(move |unit| match add(unit) {
            Disposition::Commit => Disposition::RollBack,
            Disposition::RollBack => panic!("it was to be inserted"),
        });
        answering(work, Box::new(|_| {}))
    };
    let mut tasks = [task(1, "before"), undone(2), task(3, "after")];
    assert_eq!(group_commit(&mut unit, &mut tasks, Mode::Savepoint), [Ok(()), Ok(()), Ok(())]);
    assert_eq!(custom_ids(&mut unit), ["before", "after"]);
}

#[test]
fn a_full_disk_takes_the_transaction_but_not_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let mut unit = unit(folder.path());
    let hog: Work = Box::new(|unit| {
        for number in 100..100_000 {
            if adding(number, &format!("hog-{number}"))(unit) == Disposition::RollBack {
                return Disposition::Commit;
            }
        }
        Disposition::Commit
    });
    unit.execute("PRAGMA max_page_count = 120").unwrap();
    let mut tasks = [task(1, "one"), answering(hog, Box::new(|_| {})), task(3, "three")];
    let outcomes = group_commit(&mut unit, &mut tasks, Mode::Savepoint);
    assert_eq!((outcomes[0].clone(), outcomes[2].clone()), (Ok(()), Ok(())));
    let full = StoreError::Unavailable(Outage::Full.reason().to_owned());
    assert_eq!(outcomes[1], Err(full), "what the database rolled back is not reported as stored");
    assert_eq!(custom_ids(&mut unit), ["one", "three"]);
}

#[test]
fn a_database_that_accepts_no_changes_is_unavailable_until_it_does() {
    let folder = tempfile::tempdir().unwrap();
    let mut unit = unit(folder.path());
    unit.execute("PRAGMA query_only = ON").unwrap();
    let is_unavailable = |outcome: &UnitOutcome| matches!(outcome, Err(StoreError::Unavailable(_)));
    assert!(is_unavailable(&alone(&mut unit, &mut task(1, "one"))));
    let mut tasks = [task(1, "one"), task(2, "two")];
    assert!(group_commit(&mut unit, &mut tasks, Mode::Savepoint).iter().all(is_unavailable));
    let mut probe = QueuedTask { task: Task::Probe, ..task(3, "probe") };
    assert!(is_unavailable(&alone(&mut unit, &mut probe)));
    unit.execute("PRAGMA query_only = OFF").unwrap();
    assert_eq!(alone(&mut unit, &mut probe), Ok(()));
    assert_eq!(group_commit(&mut unit, &mut tasks, Mode::Savepoint), [Ok(()), Ok(())]);
    assert_eq!(custom_ids(&mut unit), ["one", "two"]);
}

/// A failed transaction leaves its pages in the log, and no checkpoint empties one while there is no space.
#[test]
fn the_log_is_shortened_at_the_start_and_after_a_probe() {
    let folder = tempfile::tempdir().unwrap();
    let mut unit = unit(folder.path());
    let path = folder.path().join("kopeck.db");
    let log = || std::fs::metadata(folder.path().join("kopeck.db-wal")).unwrap().len();
    assert!(log() > 0);
    drop(database(&format!("sqlite://{}", path.display())));
    assert_eq!(log(), 0, "at the start");
    let limit = crate::files::Files::opened(path.to_str().unwrap()).log_limit();
    dialect::fit_log(unit.connection(), limit / 512, false).unwrap();
    for number in 0..200 {
        assert_eq!(alone(&mut unit, &mut task(number, &format!("E-{number}"))), Ok(()));
        assert!(log() < limit / 256, "{number}: {}", log());
    }
    assert_eq!(alone(&mut unit, &mut QueuedTask { task: Task::Probe, ..task(300, "probe") }), Ok(()));
    assert!(log() > 0);
    unit.fit_log();
    assert_eq!(log(), 0, "after a probe");
}

#[test]
fn where_no_transaction_begins_everyone_learns_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut blocker = unit(folder.path());
    let url = format!("sqlite://{}", folder.path().join("kopeck.db").display());
    let mut blocked = connect(&url, Access::Write);
    blocked.execute("PRAGMA busy_timeout = 10").unwrap();
    blocker.execute("BEGIN IMMEDIATE").unwrap();
    let outcomes = group_commit(&mut blocked, &mut [task(1, "one"), task(2, "two")], Mode::Savepoint);
    assert!(
        matches!(outcomes.as_slice(), [Err(StoreError::Unavailable(_)), Err(StoreError::Unavailable(_))]),
        "{outcomes:?}"
    );
    blocker.execute("COMMIT").unwrap();
    assert_eq!(
        group_commit(&mut blocked, &mut [task(1, "one"), task(2, "two")], Mode::Savepoint),
        [Ok(()), Ok(())]
    );
}

#[test]
fn no_task_starts_for_a_caller_that_has_its_response() {
    let folder = tempfile::tempdir().unwrap();
    let mut unit = unit(folder.path());
    let mut tasks = [task(1, "one"), task(2, "two"), task(3, "three")];
    tasks[1].caller.answer(Err(StoreError::Busy));
    let outcomes = group_commit(&mut unit, &mut tasks, Mode::Savepoint);
    assert!(matches!(outcomes.as_slice(), [Ok(()), Err(_), Ok(())]), "{outcomes:?}");
    assert!(alone(&mut unit, &mut tasks[1]).is_err());
    assert_eq!(custom_ids(&mut unit), ["one", "three"]);
}

#[test]
fn every_caller_gets_its_result_after_the_commit() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("kopeck.db").display());
    drop(unit(folder.path()));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let queue = Queue::new(10);
    for number in 1..=3 {
        let mut reader = connect(&url, Access::Read);
        let seen = Arc::clone(&seen);
        let work = adding(number, &format!("E-{number}"));
        let done: Done = Box::new(move |outcome| {
            outcome.unwrap();
            seen.lock().unwrap().push(custom_ids(&mut reader).len());
        });
        assert!(queue.push(answering(work, done)).is_ok());
    }
    queue.close();
    let in_flight = BatchInFlight::new(Ticks::default(), Access::Write, Arc::new(NoopObserver));
    serve(&database(&url), Access::Write, &queue, Duration::ZERO, SQLITE, &in_flight);
    assert_eq!(*seen.lock().unwrap(), [3, 3, 3], "one commit, and no response before it");
}
