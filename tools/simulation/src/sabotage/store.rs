//! Rules of the store, switched off: by triggers of the database, or by statements that it runs in between.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use kopeck_adapter_store_diesel::testing::MemoryStore;
use kopeck_port_store::{Access, Disposition, Done, Store, StoreError, UnitOfWork, Work};

use crate::store::{Database, lock};

/// A hold is dropped as soon as it is booked.
pub(super) const NO_HOLD: &str = "
    CREATE TRIGGER no_hold AFTER UPDATE OF held ON balances WHEN NEW.held > OLD.held BEGIN
        DELETE FROM entries WHERE partner_id = NEW.partner_id AND movement = NEW.last_movement;
        DELETE FROM movements WHERE partner_id = NEW.partner_id AND number = NEW.last_movement;
        UPDATE balances SET available = OLD.available, held = OLD.held, last_movement = OLD.last_movement
        WHERE partner_id = NEW.partner_id;
    END;";

/// No job remembers that something may have been sent.
pub(super) const FORGOTTEN_SENDING: &str = "
    CREATE TRIGGER forgotten_sending AFTER UPDATE OF may_have_sent ON jobs WHEN NEW.may_have_sent BEGIN
        UPDATE jobs SET may_have_sent = 0
        WHERE partner_id = NEW.partner_id AND subject_kind = NEW.subject_kind AND subject_id = NEW.subject_id;
    END;";

/// No card is marked as sent.
pub(super) const FORGOTTEN_MARKS: &str = "
    CREATE TRIGGER forgotten_marks AFTER UPDATE OF sent ON card_batch_items WHEN NEW.sent BEGIN
        UPDATE card_batch_items SET sent = 0
        WHERE partner_id = NEW.partner_id AND batch_id = NEW.batch_id AND ordinal = NEW.ordinal;
    END;";

/// No response is recorded.
pub(super) const FORGOTTEN_ANSWERS: &str = "
    CREATE TRIGGER forgotten_answers AFTER INSERT ON recorded_responses BEGIN
        DELETE FROM recorded_responses WHERE partner_id = NEW.partner_id AND key = NEW.key;
    END;";

/// No nonce is ever spent.
pub(super) const FORGOTTEN_NONCES: &str = "
    CREATE TRIGGER forgotten_nonces AFTER INSERT ON sealed_nonces BEGIN
        DELETE FROM sealed_nonces WHERE partner_id = NEW.partner_id AND nonce = NEW.nonce;
    END;";

/// Events are duplicated, under the numbers that follow.
pub(super) const DOUBLED_EVENTS: &str = "
    CREATE TRIGGER doubled_events AFTER UPDATE ON counters WHEN NEW.list = 'events' BEGIN
        INSERT INTO events (partner_id, seq, id, kind, data, created_at, employee_id)
        SELECT partner_id, seq + NEW.last - OLD.last, id, kind, data, created_at, employee_id FROM events
        WHERE partner_id = NEW.partner_id AND seq > OLD.last;
        UPDATE counters SET last = 2 * NEW.last - OLD.last
        WHERE partner_id = NEW.partner_id AND list = NEW.list;
    END;";

/// No programme has paid, and a period may have two runs.
pub(super) const FORGOTTEN_PERIODS: &str = "
    DROP INDEX runs_programme_period;
    CREATE TRIGGER forgotten_periods AFTER UPDATE OF last_period ON programmes WHEN NEW.last_period IS NOT NULL BEGIN
        UPDATE programmes SET last_period = NULL, look_at = since
        WHERE partner_id = NEW.partner_id AND id = NEW.id;
    END;";

/// A run leaves a person out of whom its preview said nothing.
pub(super) const DROPPED_ITEMS: &str = "
    CREATE TRIGGER dropped_items AFTER UPDATE OF state ON runs WHEN NEW.state = 'IN_PROCESS' BEGIN
        UPDATE run_items SET outcome = 'REFUSED', reason = 'somehow'
        WHERE partner_id = NEW.partner_id AND run_id = NEW.id AND ordinal = 0 AND fault_code IS NULL;
    END;";

/// Each job without its claims: the next claim is the first.
const UNCLAIMED: &str = "UPDATE jobs SET attempt = 0;";
/// Each job as if the holder of the first claim had it still.
const CLAIMED: &str = "UPDATE jobs SET attempt = 1, leased_until = coalesce(leased_until, 0);";

/// A store in which every claim of a job is the first, and is current as long as there is the job.
pub(super) struct WithoutAttempts {
    inner: Arc<dyn Store>,
    database: Arc<MemoryStore>,
}

impl WithoutAttempts {
    pub(super) fn new(inner: Arc<dyn Store>, database: &Database) -> Self {
        Self { inner, database: Arc::clone(&database.store) }
    }

    /// Whether a unit of work takes jobs; found out by running it in vain.
    fn takes_jobs(&self, work: &Arc<Mutex<Work>>) -> Result<bool, StoreError> {
        self.database.execute(UNCLAIMED)?;
        let (work, takes) = (Arc::clone(work), Arc::new(AtomicBool::new(false)));
        let found = Arc::clone(&takes);
        let in_vain = Box::new(move |unit: &mut dyn UnitOfWork| {
            let due = |unit: &mut dyn UnitOfWork| unit.jobs().backlog().map_or(0, |backlog| backlog.due);
            let before = due(unit);
            (*lock(&work))(unit);
            found.store(due(unit) < before, Ordering::Relaxed);
            Disposition::RollBack
        });
        self.database.run(Access::Write, in_vain)?;
        Ok(takes.load(Ordering::Relaxed))
    }
}

impl Store for WithoutAttempts {
    fn submit(&self, access: Access, work: Work, done: Done) {
        done(self.run(access, work));
    }

    fn run(&self, access: Access, work: Work) -> Result<(), StoreError> {
        if access == Access::Read {
            return self.inner.run(access, work);
        }
        let work = Arc::new(Mutex::new(work));
        if !self.takes_jobs(&work)? {
            self.database.execute(CLAIMED)?;
        }
        self.inner.run(access, Box::new(move |unit| (*lock(&work))(unit)))
    }
}
