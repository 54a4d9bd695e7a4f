//! The store as a process sees it whose way there is bad.

use std::sync::{Arc, Mutex};

use kopeck_port_store::{Access, Disposition, Done, Store, StoreError, UnitOfWork, Work};

use super::{Chaos, StoreFault, crash};
use crate::store::lock;

/// The store behind faults.
pub(crate) struct FaultyStore {
    inner: Arc<dyn Store>,
    chaos: Arc<Chaos>,
}

impl FaultyStore {
    pub(crate) fn new(inner: Arc<dyn Store>, chaos: Arc<Chaos>) -> Self {
        Self { inner, chaos }
    }

    /// Runs the work, and rolls it back whatever it says.
    fn in_vain(&self, access: Access, work: &Arc<Mutex<Work>>) {
        let work = Arc::clone(work);
        let rolled_back = Box::new(move |unit: &mut dyn UnitOfWork| {
            (*lock(&work))(unit);
            Disposition::RollBack
        });
        let _ = self.inner.run(access, rolled_back);
    }
}

impl Store for FaultyStore {
    /// Returns only after `done`.
    fn submit(&self, access: Access, work: Work, done: Done) {
        done(self.run(access, work));
    }

    fn run(&self, access: Access, work: Work) -> Result<(), StoreError> {
        match self.chaos.store_fault() {
            None => self.inner.run(access, work),
            Some(StoreFault::CrashBefore) => crash(),
            Some(StoreFault::CrashAfter) => {
                // The process does not learn the outcome.
                let _ = self.inner.run(access, work);
                crash()
            }
            Some(StoreFault::Fail) => {
                self.in_vain(access, &Arc::new(Mutex::new(work)));
                Err(away())
            }
            Some(StoreFault::LoseAnswer) => {
                let _ = self.inner.run(access, work);
                Err(away())
            }
            Some(StoreFault::RunAgain) => {
                let work = Arc::new(Mutex::new(work));
                self.in_vain(access, &work);
                self.inner.run(access, Box::new(move |unit| (*lock(&work))(unit)))
            }
        }
    }
}

fn away() -> StoreError {
    StoreError::Unavailable("as the simulation has it".to_owned())
}
