//! What the store's threads do.

use std::panic::{AssertUnwindSafe, catch_unwind};

use kopeck_port_store::{StoreError, Verdict, Work};

use crate::dialect::{self, Manners};
use crate::error::{self, Trouble};
use crate::hand::{Hand, Job, Outcome};
use crate::queue::Queue;
use crate::unit::Unit;

/// How often a unit of work is run at most.
const RUNS: u32 = 12;

/// How often a unit of work is run at most if it fails by itself. A constraint is no such failure.
const FAILED_RUNS: u32 = 3;

/// A writing thread: takes what already waits, and commits it together. There is no timer: one caller alone is
/// answered as fast as the disk allows, and while the disk works on one commit the next batch gathers.
pub(crate) fn write(mut unit: Unit, queue: &Queue<Job>, manners: &Manners, hand: &Hand) {
    loop {
        let mut jobs = queue.take(manners.writes_at_once);
        if jobs.is_empty() {
            return;
        }
        if hand.begin(jobs.iter().map(|job| job.caller.clone()).collect()) {
            unit.distrust();
        }
        let outcomes = match jobs.as_mut_slice() {
            [job] => vec![alone(&mut unit, job)],
            many => together(&mut unit, many),
        };
        for (job, outcome) in jobs.into_iter().zip(outcomes) {
            job.caller.answer(outcome);
        }
        refuse_if_lost(&unit, queue);
        if !hand.end() {
            return;
        }
    }
}

/// A reading thread. Those who are served by one transaction see one state of the data, and it is one of after they
/// asked.
pub(crate) fn read(mut unit: Unit, queue: &Queue<Job>, manners: &Manners, hand: &Hand) {
    loop {
        let jobs = queue.take(manners.reads_at_once);
        if jobs.is_empty() {
            return;
        }
        if hand.begin(jobs.iter().map(|job| job.caller.clone()).collect()) {
            unit.distrust();
        }
        look(&mut unit, jobs);
        refuse_if_lost(&unit, queue);
        if !hand.end() {
            return;
        }
    }
}

/// Whoever waited while the database was found to be away is told so at once, and not after another wait each.
fn refuse_if_lost(unit: &Unit, queue: &Queue<Job>) {
    if unit.is_lost() {
        for job in queue.take_waiting() {
            job.caller.answer(Err(away()));
        }
    }
}

fn away() -> StoreError {
    StoreError::Unavailable("the connection is lost".to_owned())
}

fn look(unit: &mut Unit, jobs: Vec<Job>) {
    let mut begun = unit.begin(true);
    for mut job in jobs.into_iter().filter(|job| job.caller.is_waiting()) {
        if let Err(error) = &begun {
            job.caller.answer(Err(error.clone()));
            continue;
        }
        let ran = run(unit, &mut job.work);
        let outcome = match error::take_trouble() {
            None => ran.map(drop),
            Some(trouble) => {
                unit.roll_back();
                let lost = trouble == Trouble::Lost || unit.is_lost();
                // The transaction may be broken for those who come next.
                begun = if lost { Err(away()) } else { unit.begin(true) };
                if lost { Err(away()) } else { ran.map(drop) }
            }
        };
        job.caller.answer(outcome);
    }
    if begun.is_ok() {
        unit.roll_back();
    }
}

/// A unit of work among others.
#[derive(Default)]
struct Turn {
    outcome: Option<Outcome>,
    /// Locks that it is known to need.
    needs: Vec<i64>,
    runs: u32,
    /// Whether it is to be run with nobody beside it.
    alone: bool,
}

impl Turn {
    fn is_open(&self) -> bool {
        self.outcome.is_none() && !self.alone
    }
}

/// Runs every job in a savepoint of one transaction. Those that meet a lock that is not free do so again in another
/// transaction, whose first waits for it.
fn together(unit: &mut Unit, jobs: &mut [Job]) -> Vec<Outcome> {
    let mut turns: Vec<Turn> = jobs.iter().map(|_| Turn::default()).collect();
    while turns.iter().any(Turn::is_open) {
        if let Err(error) = unit.begin(false) {
            // Nothing ran, and whatever kept this transaction from beginning would keep each of them, one wait after
            // the other.
            return turns.into_iter().map(|turn| turn.outcome.unwrap_or(Err(error.clone()))).collect();
        }
        let ended = in_savepoints(unit, jobs, &mut turns);
        if ended.is_err() {
            unit.roll_back();
            // Nothing of it is in the database, and which of them broke the transaction is unknown.
            turns.iter_mut().filter(|turn| turn.is_open()).for_each(|turn| turn.alone = true);
        }
        if unit.is_lost() {
            // Of a commit whose answer was lost nobody knows, so nothing is run again.
            return turns.into_iter().map(|turn| turn.outcome.unwrap_or(Err(away()))).collect();
        }
    }
    let ended = turns.into_iter().zip(jobs);
    ended.map(|(turn, job)| turn.outcome.unwrap_or_else(|| alone(unit, job))).collect()
}

/// How the run of a unit of work within a transaction ended.
enum Ran {
    /// It is done with, one way or the other.
    Ended(Result<Verdict, StoreError>),
    /// It needs these locks, and one of them is not free.
    Needs(Vec<i64>),
    /// It met a failure that it may not meet again.
    Again(Result<Verdict, StoreError>),
}

/// One transaction over the open turns. An error is one of the transaction, not of a job.
fn in_savepoints(unit: &mut Unit, jobs: &mut [Job], turns: &mut [Turn]) -> Result<(), StoreError> {
    let mut ended = Vec::new();
    for (turn, job) in turns.iter_mut().zip(jobs).filter(|(turn, _)| turn.is_open()) {
        if !job.caller.is_waiting() {
            turn.outcome = Some(Err(away()));
            continue;
        }
        if unit.locks.count() == 0
            && let Err(error) = unit.wait_for(&turn.needs)
        {
            turn.outcome = Some(Err(error.clone()));
            return Err(error);
        }
        unit.execute("SAVEPOINT unit_of_work")?;
        let held = unit.locks.count();
        turn.runs += 1;
        let ran = run_to_its_end(unit, &mut job.work, held)?;
        if matches!(ran, Ran::Ended(Ok(Verdict::Commit))) {
            unit.execute("RELEASE SAVEPOINT unit_of_work")?;
        } else {
            unit.execute("ROLLBACK TO SAVEPOINT unit_of_work; RELEASE SAVEPOINT unit_of_work")?;
            unit.locks.give_up(held);
        }
        match ran {
            Ran::Ended(ran) => ended.push((turn, ran.map(drop))),
            Ran::Again(_) => turn.alone = true,
            Ran::Needs(_) if turn.runs >= RUNS => turn.outcome = Some(Err(StoreError::Busy)),
            Ran::Needs(needs) => turn.needs.extend(needs),
        }
    }
    unit.commit()?;
    for (turn, outcome) in ended {
        turn.outcome = Some(outcome);
    }
    Ok(())
}

/// Runs one writing unit of work in a transaction of its own. It is not begun for a caller that was told that the
/// database is away.
fn alone(unit: &mut Unit, job: &mut Job) -> Outcome {
    let mut needs = Vec::new();
    let mut failed = 0;
    for _ in 0..RUNS {
        if !job.caller.is_waiting() {
            return Err(away());
        }
        unit.begin(true)?;
        if let Err(error) = unit.wait_for(&needs) {
            unit.roll_back();
            return Err(error);
        }
        let ran = run_to_its_end(unit, &mut job.work, 0);
        let ended = match ran {
            Ok(Ran::Ended(Ok(Verdict::Commit))) => match unit.commit() {
                Err(error) => Err(error),
                Ok(()) => return Ok(()),
            },
            Ok(Ran::Ended(Ok(Verdict::RollBack)) | Ran::Again(Ok(_))) => Ok(()),
            Ok(Ran::Ended(Err(ref error)) | Ran::Again(Err(ref error))) => Err(error.clone()),
            Ok(Ran::Needs(_)) => Err(StoreError::Busy),
            Err(ref error) => Err(error.clone()),
        };
        unit.roll_back();
        match ran {
            _ if unit.is_lost() => return Err(away()),
            Ok(Ran::Needs(more)) => needs = more,
            Ok(Ran::Again(_)) if failed + 1 < FAILED_RUNS => failed += 1,
            _ => return ended,
        }
    }
    Err(StoreError::Busy)
}

/// Runs a unit of work and finds out what became of it. `held` locks were there before it.
///
/// # Errors
/// If the connection is gone.
fn run_to_its_end(unit: &mut Unit, work: &mut Work, held: usize) -> Result<Ran, StoreError> {
    let ran = run(unit, work);
    let trouble = error::take_trouble();
    if trouble == Some(Trouble::Lost) {
        error::note(trouble);
        unit.notice_loss();
        return Err(away());
    }
    Ok(match unit.locks.take_needs(held) {
        Some(needs) => Ran::Needs(needs),
        None if trouble == Some(Trouble::Again) && dialect::may_pass(&unit.connection) => Ran::Again(ran),
        None => Ran::Ended(ran),
    })
}

/// Runs the body. A panic is the body's own failure and no reason to lose a thread that serves everyone; its message
/// may hold anything, so it is not logged here.
fn run(unit: &mut Unit, work: &mut Work) -> Result<Verdict, StoreError> {
    catch_unwind(AssertUnwindSafe(|| work(unit))).map_err(|_| {
        log::error!("a unit of work panicked and was rolled back");
        StoreError::Failed("panicked".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::{Arc, Mutex};

    use kopeck_domain::employee::{Employee, EmployeeStatus};
    use kopeck_domain::ids::PartnerId;
    use kopeck_domain::partner::{Partner, PartnerStatus, SealingPolicy};
    use kopeck_domain::person::CustomId;
    use kopeck_port_store::{Credentials, Done, EmployeeFilter, UnitOfWork};
    use kopeck_port_system::Clock;
    use kopeck_port_system::fake::FakeClock;
    use time::OffsetDateTime;
    use uuid::Uuid;

    use kopeck_port_store::Access;

    use super::*;
    use crate::hand::{Beats, Caller};

    const PARTNER: PartnerId = PartnerId::new(Uuid::from_u128(1));

    fn connect(url: &str, access: Access) -> Unit {
        let clock: Arc<dyn Clock> = Arc::new(FakeClock::starting_at(OffsetDateTime::UNIX_EPOCH));
        Unit::connect(url, access, &clock).unwrap()
    }

    /// A unit on a new database with one partner.
    fn unit(folder: &Path) -> Unit {
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
        answering(work, Box::new(|_| {}))
    }

    fn answering(work: Work, done: Done) -> Job {
        Job { work, caller: Caller::new(done), since: 0 }
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
        unit.execute(POISON).unwrap();
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
        unit.execute("PRAGMA max_page_count = 120").unwrap();
        let mut jobs = [job(1, "one"), answering(hog, Box::new(|_| {})), job(3, "three")];
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
        let mut blocked = connect(&url, Access::Write);
        blocked.execute("PRAGMA busy_timeout = 10").unwrap();
        blocker.execute("BEGIN IMMEDIATE").unwrap();
        let outcomes = together(&mut blocked, &mut [job(1, "one"), job(2, "two")]);
        assert!(
            matches!(outcomes.as_slice(), [Err(StoreError::Unavailable(_)), Err(StoreError::Unavailable(_))]),
            "{outcomes:?}"
        );
        blocker.execute("COMMIT").unwrap();
        assert_eq!(together(&mut blocked, &mut [job(1, "one"), job(2, "two")]), [Ok(()), Ok(())]);
    }

    #[test]
    fn nothing_is_begun_for_a_caller_that_has_its_answer() {
        let folder = tempfile::tempdir().unwrap();
        let mut unit = unit(folder.path());
        let mut jobs = [job(1, "one"), job(2, "two"), job(3, "three")];
        jobs[1].caller.answer(Err(StoreError::Busy));
        let outcomes = together(&mut unit, &mut jobs);
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
            let work = job(number, &format!("E-{number}")).work;
            let done: Done = Box::new(move |outcome| {
                outcome.unwrap();
                seen.lock().unwrap().push(custom_ids(&mut reader).len());
            });
            assert!(queue.push(answering(work, done)).is_ok());
        }
        queue.close();
        write(writer, &queue, &crate::dialect::manners(&url), &Hand::new(Beats::default()));
        assert_eq!(*seen.lock().unwrap(), [3, 3, 3], "one commit, and nobody was answered before it");
    }
}
