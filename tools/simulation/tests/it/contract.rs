//! The contract of the store's port, kept by the store in memory.

use std::sync::Arc;
use std::thread;

use kopeck_port_store::contract::TimeTravel;
use kopeck_port_store::{Access, Done, Store, Work};
use kopeck_port_system::Clock;
use kopeck_port_system::fake::FakeClock;
use simulation::store::MemoryStore;
use time::{Duration, OffsetDateTime};

/// The store, with a thread for every unit of work: the contract wants `submit` to return at once.
struct ThreadedStore {
    store: Arc<MemoryStore>,
    clock: Arc<FakeClock>,
}

impl Store for ThreadedStore {
    fn submit(&self, access: Access, work: Work, done: Done) {
        let store = Arc::clone(&self.store);
        thread::spawn(move || store.submit(access, work, done));
    }
}

impl TimeTravel for ThreadedStore {
    fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    fn step(&self, by: Duration) {
        self.clock.step(by);
    }
}

fn empty_store() -> ThreadedStore {
    let clock = Arc::new(FakeClock::starting_at(OffsetDateTime::UNIX_EPOCH + Duration::days(20_000)));
    let store = MemoryStore::new(Arc::clone(&clock) as Arc<dyn Clock>);
    ThreadedStore { store: Arc::new(store), clock }
}

kopeck_port_store::contract_tests!(empty_store);
