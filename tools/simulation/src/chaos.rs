//! What goes wrong between the service and its ports: a process that vanishes at a request, a transaction that fails, one
//! whose answer is lost, one that the database runs twice.

mod bank;
mod store;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) use bank::CrashingBank;
pub(crate) use store::FaultyStore;

use crate::trace::Trace;
use kopeck_test_support::Random;

/// How likely each thing is, in so many of a thousand calls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rates {
    /// The process vanishes before or after a call to a port.
    pub(crate) crash: u32,
    /// A transaction fails before its commit.
    pub(crate) store_fails: u32,
    /// The response of a transaction that is committed is lost.
    pub(crate) answer_lost: u32,
    /// The database runs a unit of work twice.
    pub(crate) run_again: u32,
}

/// Injects faults between start and stop.
pub(crate) struct Chaos {
    dice: Arc<Random>,
    trace: Arc<Trace>,
    rates: Rates,
    loose: AtomicBool,
}

/// What becomes of a request to the store.
#[derive(Debug, Clone, Copy)]
enum StoreFault {
    CrashBefore,
    CrashAfter,
    Fail,
    LoseAnswer,
    RunAgain,
}

/// What becomes of a request to the bank.
#[derive(Debug, Clone, Copy)]
enum BankFault {
    CrashBefore,
    CrashAfter,
}

impl Chaos {
    pub(crate) fn new(dice: Arc<Random>, trace: Arc<Trace>, rates: Rates) -> Self {
        Self { dice, trace, rates, loose: AtomicBool::new(false) }
    }

    /// From now on things go wrong.
    pub(crate) fn begin(&self) {
        self.loose.store(true, Ordering::Relaxed);
    }

    /// From now on nothing goes wrong.
    pub(crate) fn end(&self) {
        self.loose.store(false, Ordering::Relaxed);
    }

    fn store_fault(&self) -> Option<StoreFault> {
        let Rates { crash, store_fails, answer_lost, run_again } = self.rates;
        self.strikes(&[
            (crash, StoreFault::CrashBefore),
            (crash, StoreFault::CrashAfter),
            (store_fails, StoreFault::Fail),
            (answer_lost, StoreFault::LoseAnswer),
            (run_again, StoreFault::RunAgain),
        ])
    }

    fn bank_fault(&self) -> Option<BankFault> {
        let crash = self.rates.crash;
        self.strikes(&[(crash, BankFault::CrashBefore), (crash, BankFault::CrashAfter)])
    }

    fn strikes<T: Copy + std::fmt::Debug>(&self, faults: &[(u32, T)]) -> Option<T> {
        if !self.loose.load(Ordering::Relaxed) {
            return None;
        }
        let likely: u32 = faults.iter().map(|(rate, _)| rate).sum();
        if !self.dice.chance(likely) {
            return None;
        }
        let fault = self.dice.weighted(faults)?;
        self.trace.note("chaos", || format!("{fault:?}"));
        Some(fault)
    }
}

/// The process is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Crash;

/// Ends the process that is at work.
fn crash() -> ! {
    resume_unwind(Box::new(Crash))
}

/// Runs a step of a process.
///
/// # Errors
/// [`Crash`] if the process vanished in it.
pub(crate) fn survive<T>(step: impl FnOnce() -> T) -> Result<T, Crash> {
    catch_unwind(AssertUnwindSafe(step)).map_err(|payload| match payload.downcast::<Crash>() {
        Ok(crashed) => *crashed,
        // A panic of the service itself.
        Err(panic) => resume_unwind(panic),
    })
}
