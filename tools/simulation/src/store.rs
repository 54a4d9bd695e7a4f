//! The database of a simulation: one in memory, which all of its runs use and each finds empty.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kopeck_adapter_store_diesel::testing::MemoryStore;
use kopeck_port_store::StoreError;
use kopeck_port_store::mock::FakeCipher;
use kopeck_port_system::Clock;
use kopeck_port_system::fake::FakeClock;
use time::{Duration, OffsetDateTime};

/// When every run begins, after 1970: some morning.
pub(crate) const START: Duration = Duration::new(1_773_133_200, 0);

/// The tables that are compared with each other after every commit.
const BOOKS: [&str; 8] =
    ["balances", "movements", "entries", "orders", "cards", "card_batches", "card_batch_items", "jobs"];

/// The tables by which a preview of a run is made.
const INPUTS: [&str; 4] = ["balances", "employees", "cards", "card_batch_items"];

/// How often the inputs of a partner's previews were changed; for each run how often when it was made, and when its items became a
/// request or were refused. A request of the run is inserted before it is noted, so the count of before it is kept.
const PREVIEWS: &str = "
    CREATE TEMP TABLE inputs (partner BLOB NOT NULL PRIMARY KEY, changes INTEGER NOT NULL, before_batch INTEGER);
    CREATE TEMP TABLE previews (run BLOB NOT NULL PRIMARY KEY, made INTEGER NOT NULL, begun INTEGER);
    CREATE TEMP TRIGGER preview_made AFTER INSERT ON runs WHEN NEW.programme_id IS NULL BEGIN
        INSERT INTO previews
        SELECT NEW.id, coalesce((SELECT changes FROM inputs WHERE partner = NEW.partner_id), 0), NULL;
    END;
    CREATE TEMP TRIGGER preview_batch BEFORE INSERT ON card_batches BEGIN
        UPDATE inputs SET before_batch = changes WHERE partner = NEW.partner_id;
    END;
    CREATE TEMP TRIGGER preview_refused AFTER UPDATE OF outcome ON run_items BEGIN
        UPDATE previews SET begun = coalesce(begun, (SELECT changes FROM inputs WHERE partner = NEW.partner_id))
        WHERE run = NEW.run_id;
    END;
    CREATE TEMP TRIGGER preview_begun AFTER INSERT ON run_requests BEGIN
        UPDATE previews SET begun = (SELECT before_batch FROM inputs WHERE partner = NEW.partner_id)
        WHERE run = NEW.run_id;
    END;";

/// The runs between whose preview and beginning nothing came.
pub(crate) const UNTOUCHED: &str = "SELECT lower(hex(run)) AS answer FROM previews WHERE made = begun";

/// The database and its clock. Its table `changed` has the partners of whom a row of the books was changed.
pub(crate) struct Database {
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) store: Arc<MemoryStore>,
}

impl Database {
    /// An empty database.
    pub(crate) fn open() -> Result<Self, StoreError> {
        let clock = Arc::new(FakeClock::starting_at(OffsetDateTime::UNIX_EPOCH + START));
        let cipher = Arc::new(FakeCipher(vec![1]));
        let store = MemoryStore::open(Arc::clone(&clock) as Arc<dyn Clock>, cipher)
            .map_err(|error| StoreError::Failed(error.to_string()))?;
        store.execute("CREATE TEMP TABLE changed (partner BLOB NOT NULL PRIMARY KEY);")?;
        for table in BOOKS {
            for (event, row) in [("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD")] {
                store.execute(&format!(
                    "CREATE TEMP TRIGGER changed_{table}_{event} AFTER {event} ON {table}
                     WHEN NOT EXISTS (SELECT 1 FROM changed WHERE partner = {row}.partner_id)
                     BEGIN INSERT INTO changed VALUES ({row}.partner_id); END;"
                ))?;
            }
        }
        store.execute(PREVIEWS)?;
        for table in INPUTS {
            for (event, row) in [("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD")] {
                store.execute(&format!(
                    "CREATE TEMP TRIGGER input_{table}_{event} AFTER {event} ON {table} BEGIN
                         INSERT INTO inputs VALUES ({row}.partner_id, 1, NULL)
                         ON CONFLICT (partner) DO UPDATE SET changes = changes + 1;
                     END;"
                ))?;
            }
        }
        Ok(Self { clock, store: Arc::new(store) })
    }

    /// Empties it, and sets its clock back.
    pub(crate) fn begin_again(&self) -> Result<(), StoreError> {
        self.clock.restart();
        self.store.clear()?;
        self.store.execute("DELETE FROM inputs; DELETE FROM previews;")
    }
}

/// What a unit of work left behind when it panicked is whole: it was rolled back.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
