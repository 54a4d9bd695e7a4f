//! What the store's threads do.

use std::panic::{AssertUnwindSafe, catch_unwind};

use diesel::connection::SimpleConnection;
use kopeck_port_store::{Access, Done, StoreError, Verdict, Work};

use crate::dialect;
use crate::error::Stored;
use crate::queue::Queue;
use crate::unit::Unit;

/// Units of work that one commit may answer for. More would make the first of them wait for the last.
const BATCH: usize = 64;

/// A unit of work in a queue.
pub(crate) struct Job {
    pub(crate) work: Work,
    pub(crate) done: Done,
}

/// How a unit of work ended, before its owner learns it.
type Outcome = Result<(), StoreError>;

/// The writing thread: takes what already waits, and commits it together. There is no timer: one caller alone is
/// answered as fast as the disk allows, and while the disk works on one commit the next batch gathers.
pub(crate) fn write(mut unit: Unit, queue: &Queue<Job>) {
    loop {
        let mut jobs = queue.take(BATCH);
        if jobs.is_empty() {
            return;
        }
        let outcomes = match jobs.as_mut_slice() {
            [job] => vec![alone(&mut unit, Access::Write, &mut job.work)],
            many => together(&mut unit, many),
        };
        for (job, outcome) in jobs.into_iter().zip(outcomes) {
            answer(job.done, outcome);
        }
    }
}

/// A reading thread. Each unit of work has a transaction, so that it sees one state of the data.
pub(crate) fn read(mut unit: Unit, queue: &Queue<Job>) {
    loop {
        let jobs = queue.take(1);
        if jobs.is_empty() {
            return;
        }
        for mut job in jobs {
            let outcome = alone(&mut unit, Access::Read, &mut job.work);
            answer(job.done, outcome);
        }
    }
}

/// Runs every job in a savepoint of one transaction.
fn together(unit: &mut Unit, jobs: &mut [Job]) -> Vec<Outcome> {
    if let Err(error) = dialect::begin(&mut unit.connection, Access::Write).stored() {
        // Nothing ran, and whatever kept this transaction from beginning would keep each of them, one wait after
        // the other.
        return vec![Err(error); jobs.len()];
    }
    in_savepoints(unit, jobs).unwrap_or_else(|_| {
        roll_back(unit);
        // Nothing of it is in the database, and which of them broke the transaction is unknown.
        jobs.iter_mut().map(|job| alone(unit, Access::Write, &mut job.work)).collect()
    })
}

/// An error is one of the transaction that is open, not of a job.
fn in_savepoints(unit: &mut Unit, jobs: &mut [Job]) -> Result<Vec<Outcome>, StoreError> {
    let mut outcomes = Vec::with_capacity(jobs.len());
    for job in jobs {
        execute(unit, "SAVEPOINT unit_of_work")?;
        let ran = run(unit, &mut job.work);
        if ran == Ok(Verdict::Commit) {
            execute(unit, "RELEASE SAVEPOINT unit_of_work")?;
        } else {
            execute(unit, "ROLLBACK TO SAVEPOINT unit_of_work; RELEASE SAVEPOINT unit_of_work")?;
        }
        outcomes.push(ran.map(drop));
    }
    execute(unit, "COMMIT")?;
    Ok(outcomes)
}

/// Runs one unit of work in a transaction of its own.
fn alone(unit: &mut Unit, access: Access, work: &mut Work) -> Outcome {
    dialect::begin(&mut unit.connection, access).stored()?;
    let ran = run(unit, work);
    let ended = match ran {
        Ok(Verdict::Commit) => execute(unit, "COMMIT"),
        Ok(Verdict::RollBack) => execute(unit, "ROLLBACK"),
        Err(error) => Err(error),
    };
    if ended.is_err() {
        roll_back(unit);
    }
    ended
}

/// Runs the body. A panic is the body's own failure and no reason to lose a thread that serves everyone; its message
/// may hold anything, so it is not logged here.
fn run(unit: &mut Unit, work: &mut Work) -> Result<Verdict, StoreError> {
    catch_unwind(AssertUnwindSafe(|| work(unit))).map_err(|_| {
        log::error!("a unit of work panicked and was rolled back");
        StoreError::Failed("panicked".to_owned())
    })
}

/// Tells the owner how the work ended.
fn answer(done: Done, outcome: Outcome) {
    if catch_unwind(AssertUnwindSafe(|| done(outcome))).is_err() {
        log::error!("a receiver of a result panicked");
    }
}

fn execute(unit: &mut Unit, statements: &str) -> Result<(), StoreError> {
    unit.connection.batch_execute(statements).stored()
}

/// Leaves whatever transaction is open. It fails where the database already left it, which is as good.
fn roll_back(unit: &mut Unit) {
    if let Err(error) = execute(unit, "ROLLBACK") {
        log::debug!("nothing to roll back: {error}");
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::{Arc, Mutex};

    use kopeck_domain::employee::{Employee, EmployeeStatus};
    use kopeck_domain::ids::PartnerId;
    use kopeck_domain::partner::{Partner, PartnerStatus, SealingPolicy};
    use kopeck_domain::person::CustomId;
    use kopeck_port_store::{Credentials, EmployeeFilter, UnitOfWork};
    use kopeck_port_system::fake::FakeClock;
    use time::OffsetDateTime;
    use uuid::Uuid;

    use super::*;
    use crate::dialect::AnyConnection;

    const PARTNER: PartnerId = PartnerId::new(Uuid::from_u128(1));

    fn over(connection: AnyConnection) -> Unit {
        let clock = Arc::new(FakeClock::starting_at(OffsetDateTime::UNIX_EPOCH));
        Unit { connection, clock }
    }

    /// A unit on a new database with one partner.
    fn unit(folder: &Path) -> Unit {
        let url = format!("sqlite://{}", folder.join("kopeck.db").display());
        crate::migrate(&url).unwrap();
        let mut unit = over(dialect::connect(&url, Access::Write).unwrap());
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
        let work: Work = Box::new(move |unit| match unit.employees().insert(PARTNER, &employee) {
            Ok(()) => Verdict::Commit,
            Err(_) => Verdict::RollBack,
        });
        Job { work, done: Box::new(|_| {}) }
    }

    fn custom_ids(unit: &mut Unit) -> Vec<String> {
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
        execute(&mut unit, POISON).unwrap();
        let outcomes = together(&mut unit, &mut [job(1, "one"), job(2, "poison"), job(3, "three")]);
        assert!(matches!(outcomes.as_slice(), [Ok(()), Err(_), Ok(())]), "{outcomes:?}");
        assert_eq!(custom_ids(&mut unit), ["one", "three"]);
        let outcomes = together(&mut unit, &mut [job(4, "four"), job(5, "five")]);
        assert_eq!(outcomes, [Ok(()), Ok(())], "the connection is as good as before");
    }

    #[test]
    fn a_full_disk_takes_the_transaction_but_not_the_store() {
        let folder = tempfile::tempdir().unwrap();
        let mut unit = unit(folder.path());
        let hog: Work = Box::new(|unit| {
            for number in 100..100_000 {
                let mut one = job(number, &format!("hog-{number}"));
                if (one.work)(unit) == Verdict::RollBack {
                    return Verdict::Commit;
                }
            }
            Verdict::Commit
        });
        execute(&mut unit, "PRAGMA max_page_count = 120").unwrap();
        let mut jobs = [job(1, "one"), Job { work: hog, done: Box::new(|_| {}) }, job(3, "three")];
        let outcomes = together(&mut unit, &mut jobs);
        assert_eq!((outcomes[0].clone(), outcomes[2].clone()), (Ok(()), Ok(())));
        assert!(outcomes[1].is_err(), "what the database rolled back is not reported as stored");
        assert_eq!(custom_ids(&mut unit), ["one", "three"]);
    }

    #[test]
    fn where_no_transaction_begins_everyone_learns_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut blocker = unit(folder.path());
        let url = format!("sqlite://{}", folder.path().join("kopeck.db").display());
        let mut blocked = over(dialect::connect(&url, Access::Write).unwrap());
        execute(&mut blocked, "PRAGMA busy_timeout = 10").unwrap();
        execute(&mut blocker, "BEGIN IMMEDIATE").unwrap();
        let outcomes = together(&mut blocked, &mut [job(1, "one"), job(2, "two")]);
        assert!(
            matches!(outcomes.as_slice(), [Err(StoreError::Unavailable(_)), Err(StoreError::Unavailable(_))]),
            "{outcomes:?}"
        );
        execute(&mut blocker, "COMMIT").unwrap();
        assert_eq!(together(&mut blocked, &mut [job(1, "one"), job(2, "two")]), [Ok(()), Ok(())]);
    }

    #[test]
    fn everyone_is_answered_after_the_commit() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("kopeck.db").display());
        let writer = unit(folder.path());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let queue = Queue::new(10);
        for number in 1..=3 {
            let mut reader = over(dialect::connect(&url, Access::Read).unwrap());
            let seen = Arc::clone(&seen);
            let work = job(number, &format!("E-{number}")).work;
            let done: Done = Box::new(move |outcome| {
                outcome.unwrap();
                seen.lock().unwrap().push(custom_ids(&mut reader).len());
            });
            assert!(queue.push(Job { work, done }).is_ok());
        }
        queue.close();
        write(writer, &queue);
        assert_eq!(*seen.lock().unwrap(), [3, 3, 3], "one commit, and nobody was answered before it");
    }
}
