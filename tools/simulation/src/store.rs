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
        Ok(Self { clock, store: Arc::new(store) })
    }

    /// Empties it, and sets its clock back.
    pub(crate) fn begin_again(&self) -> Result<(), StoreError> {
        self.clock.restart();
        self.store.clear()
    }
}

/// What a unit of work left behind when it panicked is whole: it was rolled back.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
