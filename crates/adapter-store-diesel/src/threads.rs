//! What the store's threads do.

mod alone;
mod look;
mod ran;
mod together;

use std::time::Duration;

use kopeck_port_store::StoreError;

use crate::dialect::Manners;
use crate::hand::{Hand, Job};
use crate::queue::Queue;
use crate::transaction::DieselTransaction;
use alone::alone;
use look::look;
use together::together;

/// How often a unit of work is run at most.
const RUNS: u32 = 12;

/// A writing thread: takes what already waits, and commits it together. There is no timer: one caller alone is
/// answered as fast as the disk allows, and while the disk works on one commit the next batch gathers.
pub(crate) fn write(
    unit: DieselTransaction,
    queue: &Queue<Job>,
    patience: Duration,
    manners: &Manners,
    hand: &Hand,
) {
    serve(unit, queue, patience, manners.writes_at_once, hand, |unit, mut jobs| {
        let outcomes = match jobs.as_mut_slice() {
            [job] => vec![alone(unit, job)],
            many => together(unit, many, manners.together),
        };
        for (job, outcome) in jobs.into_iter().zip(outcomes) {
            job.caller.answer(outcome);
        }
        unit.fit_log();
    });
}

/// A reading thread. Those who are served by one transaction see one state of the data, and it is one of after they
/// asked.
pub(crate) fn read(
    unit: DieselTransaction,
    queue: &Queue<Job>,
    patience: Duration,
    manners: &Manners,
    hand: &Hand,
) {
    let Manners { reads_at_once, together, .. } = *manners;
    serve(unit, queue, patience, reads_at_once, hand, |unit, jobs| look(unit, jobs, together));
}

/// Takes jobs, up to `most` at once, and has them answered, until there are no more or another thread has this place.
fn serve(
    mut unit: DieselTransaction,
    queue: &Queue<Job>,
    patience: Duration,
    most: usize,
    hand: &Hand,
    answer: impl Fn(&mut DieselTransaction, Vec<Job>),
) {
    loop {
        let jobs = queue.take(patience, most);
        if jobs.is_empty() {
            return;
        }
        if hand.begin(jobs.iter().map(|job| job.caller.clone()).collect()) {
            unit.distrust();
        }
        answer(&mut unit, jobs);
        refuse_if_lost(&unit, queue, hand);
        if !hand.end() {
            return;
        }
    }
}

/// Whoever waited already when this was begun that lost the connection is told so at once, and not after another wait
/// each. Who came later meets a new connection.
fn refuse_if_lost(unit: &DieselTransaction, queue: &Queue<Job>, hand: &Hand) {
    if let Some(begun) = hand.busy_since().filter(|_| unit.is_lost()) {
        for job in queue.take_first_while(|job| job.since < begun) {
            job.caller.answer(Err(away()));
        }
    }
}

fn away() -> StoreError {
    StoreError::Unavailable("the connection is lost".to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::{Arc, Mutex};

    use kopeck_domain::employee::{Employee, EmployeeStatus};
    use kopeck_domain::ids::PartnerId;
    use kopeck_domain::partner::{Partner, PartnerStatus, SealingPolicy};
    use kopeck_domain::person::CustomId;
    use kopeck_port_store::{Credentials, Disposition, Done, EmployeeFilter, UnitOfWork, Work};
    use kopeck_port_system::Clock;
    use kopeck_port_system::fake::FakeClock;
    use time::OffsetDateTime;
    use uuid::Uuid;

    use kopeck_port_store::mock::FakeCipher;
    use kopeck_port_store::{Access, ColumnCipher};

    use super::*;
    use crate::AuditSettings;
    use crate::condition::Condition;
    use crate::dialect;
    use crate::hand::{Beats, Caller, Outcome, Task};
    use crate::outage::Outage;
    use crate::transaction::batch::Mode;

    const PARTNER: PartnerId = PartnerId::new(Uuid::from_u128(1));

    fn connect(url: &str, access: Access) -> DieselTransaction {
        let clock: Arc<dyn Clock> = Arc::new(FakeClock::starting_at(OffsetDateTime::UNIX_EPOCH));
        let condition = Arc::new(Condition::new(Arc::new(crate::Unobserved)));
        let (audit, cipher): (_, Arc<dyn ColumnCipher>) =
            (AuditSettings::default(), Arc::new(FakeCipher(vec![1])));
        DieselTransaction::connect(url, access, &clock, &audit, &cipher, &condition).unwrap()
    }

    /// A unit on a new database with one partner.
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

    /// A job that adds an employee under this identifier.
    fn job(number: u128, custom_id: &str) -> Job {
        answering(adding(number, custom_id), Box::new(|_| {}))
    }

    fn adding(number: u128, custom_id: &str) -> Work {
        let employee = Employee {
            id: Uuid::from_u128(number).into(),
            custom_id: CustomId::parse(custom_id).unwrap(),
            surname: None,
            name: None,
            patronymic: None,
            phone: None,
            email: None,
            category: None,
            status: EmployeeStatus::Work,
            created_at: OffsetDateTime::UNIX_EPOCH,
            status_updated_at: OffsetDateTime::UNIX_EPOCH,
        };
        Box::new(move |unit| match unit.employees().insert(PARTNER, &employee) {
            Ok(()) => Disposition::Commit,
            Err(_) => Disposition::RollBack,
        })
    }

    fn answering(work: Work, done: Done) -> Job {
        Job { task: Task::Work(work), caller: Caller::new(done), since: 0 }
    }

    fn custom_ids(unit: &mut DieselTransaction) -> Vec<String> {
        let page = kopeck_domain::page::Page::new(1, 100).unwrap();
        let listed = unit.employees().list(PARTNER, &EmployeeFilter::default(), page).unwrap();
        assert_eq!(listed.total, listed.items.len() as u64);
        listed.items.iter().map(|one| one.custom_id.as_str().to_owned()).collect()
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
            together(&mut unit, &mut [job(1, "one"), job(2, "poison"), job(3, "three")], Mode::Savepoint);
        assert!(matches!(outcomes.as_slice(), [Ok(()), Err(_), Ok(())]), "{outcomes:?}");
        assert_eq!(custom_ids(&mut unit), ["one", "three"]);
        let outcomes = together(&mut unit, &mut [job(4, "four"), job(5, "five")], Mode::Savepoint);
        assert_eq!(outcomes, [Ok(()), Ok(())], "the connection is as good as before");
    }

    #[test]
    fn what_is_undone_takes_nothing_of_its_neighbours_with_it() {
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
        let mut jobs = [job(1, "before"), undone(2), job(3, "after")];
        assert_eq!(together(&mut unit, &mut jobs, Mode::Savepoint), [Ok(()), Ok(()), Ok(())]);
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
        let mut jobs = [job(1, "one"), answering(hog, Box::new(|_| {})), job(3, "three")];
        let outcomes = together(&mut unit, &mut jobs, Mode::Savepoint);
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
        let is_unavailable = |outcome: &Outcome| matches!(outcome, Err(StoreError::Unavailable(_)));
        assert!(is_unavailable(&alone(&mut unit, &mut job(1, "one"))));
        let mut jobs = [job(1, "one"), job(2, "two")];
        assert!(together(&mut unit, &mut jobs, Mode::Savepoint).iter().all(is_unavailable));
        let mut probe = Job { task: Task::Probe, ..job(3, "probe") };
        assert!(is_unavailable(&alone(&mut unit, &mut probe)));
        unit.execute("PRAGMA query_only = OFF").unwrap();
        assert_eq!(alone(&mut unit, &mut probe), Ok(()));
        assert_eq!(together(&mut unit, &mut jobs, Mode::Savepoint), [Ok(()), Ok(())]);
        assert_eq!(custom_ids(&mut unit), ["one", "two"]);
    }

    /// A failed transaction leaves its pages in the log, and no checkpoint empties one while there is no space.
    #[test]
    fn the_log_is_shortened_when_it_is_told_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let mut unit = unit(folder.path());
        let path = folder.path().join("kopeck.db");
        let log = || std::fs::metadata(folder.path().join("kopeck.db-wal")).unwrap().len();
        assert!(log() > 0);
        let files = crate::files::Files::opened(path.to_str().unwrap());
        let limit = files.log_limit();
        unit.condition().has_files(files);
        unit.fit_log();
        assert_eq!(log(), 0, "at the start");
        dialect::limit_log(unit.connection(), limit / 512).unwrap();
        for number in 0..200 {
            assert_eq!(alone(&mut unit, &mut job(number, &format!("E-{number}"))), Ok(()));
            assert!(log() < limit / 256, "{number}: {}", log());
        }
        assert_eq!(alone(&mut unit, &mut Job { task: Task::Probe, ..job(300, "probe") }), Ok(()));
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
        let outcomes = together(&mut blocked, &mut [job(1, "one"), job(2, "two")], Mode::Savepoint);
        assert!(
            matches!(outcomes.as_slice(), [Err(StoreError::Unavailable(_)), Err(StoreError::Unavailable(_))]),
            "{outcomes:?}"
        );
        blocker.execute("COMMIT").unwrap();
        assert_eq!(
            together(&mut blocked, &mut [job(1, "one"), job(2, "two")], Mode::Savepoint),
            [Ok(()), Ok(())]
        );
    }

    #[test]
    fn nothing_is_begun_for_a_caller_that_has_its_answer() {
        let folder = tempfile::tempdir().unwrap();
        let mut unit = unit(folder.path());
        let mut jobs = [job(1, "one"), job(2, "two"), job(3, "three")];
        jobs[1].caller.answer(Err(StoreError::Busy));
        let outcomes = together(&mut unit, &mut jobs, Mode::Savepoint);
        assert!(matches!(outcomes.as_slice(), [Ok(()), Err(_), Ok(())]), "{outcomes:?}");
        assert!(alone(&mut unit, &mut jobs[1]).is_err());
        assert_eq!(custom_ids(&mut unit), ["one", "three"]);
    }

    #[test]
    fn everyone_is_answered_after_the_commit() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("kopeck.db").display());
        let writer = unit(folder.path());
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
        write(writer, &queue, Duration::ZERO, &crate::dialect::manners(&url), &Hand::new(Beats::default()));
        assert_eq!(*seen.lock().unwrap(), [3, 3, 3], "one commit, and nobody was answered before it");
    }
}
