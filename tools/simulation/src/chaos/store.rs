//! The store as a process sees it whose way there is bad.

use std::sync::{Arc, Mutex};

use kopeck_port_store::{Access, Disposition, Done, Store, StoreError, Work};

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
}

impl Store for FaultyStore {
    fn submit(&self, access: Access, work: Work, done: Done) {
        match self.chaos.store_fault() {
            None => self.inner.submit(access, work, done),
            Some(StoreFault::CrashBefore) => crash(),
            Some(StoreFault::CrashAfter) => {
                self.inner.submit(access, work, no_receiver());
                crash()
            }
            Some(StoreFault::Fail) => {
                self.inner.submit(access, in_vain(&Arc::new(Mutex::new(work))), no_receiver());
                done(Err(away()));
            }
            Some(StoreFault::LoseAnswer) => {
                self.inner.submit(access, work, no_receiver());
                done(Err(away()));
            }
            Some(StoreFault::RunAgain) => {
                let work = Arc::new(Mutex::new(work));
                self.inner.submit(access, in_vain(&work), no_receiver());
                self.inner.submit(access, Box::new(move |unit| (*lock(&work))(unit)), done);
            }
        }
    }
}

/// Runs the work, and rolls it back whatever it says.
fn in_vain(work: &Arc<Mutex<Work>>) -> Work {
    let work = Arc::clone(work);
    Box::new(move |unit| {
        (*lock(&work))(unit);
        Disposition::RollBack
    })
}

fn no_receiver() -> Done {
    Box::new(|_| ())
}

fn away() -> StoreError {
    StoreError::Unavailable("as the simulation has it".to_owned())
}
