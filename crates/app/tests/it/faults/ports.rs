//! The ports of a process to which one fault happens.

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kopeck_domain::card_number::CardNumber;
use kopeck_domain::transaction::Transaction;
use kopeck_port_bank::sandbox::{
    BankFaults, CommandKey, Purchase, PurchaseOutcome, Refund, Sandbox, SandboxClock, SandboxControl,
    SandboxError,
};
use kopeck_port_bank::{
    BankCard, BankError, BankGateway, BankKey, FeedEntry, FeedError, IssuedCard, RegistryEntry,
    RegistryError, RegistryPosition, Submission, Verdict,
};
use kopeck_port_store::{Access, Done, Store, StoreError, Work};
use time::OffsetDateTime;

use crate::deployment::Ports;

/// A fault of a call to a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It fails and has no effect.
    FailBefore,
    /// It has its effect, and the response is lost.
    FailAfter,
    /// The process ends before the call has an effect.
    KillBefore,
    /// The process ends after the call had its effect.
    KillAfter,
}

/// A call of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub what: &'static str,
    /// Whether it may leave a trace, so that it matters whether a fault comes before or after it.
    pub has_effect: bool,
}

/// Counts the calls of a process's ports from when it is armed, and lets one of them go wrong.
#[derive(Default)]
pub struct Watch(Mutex<PortState>);

#[derive(Default)]
struct PortState {
    armed: bool,
    steps: Vec<Step>,
    /// The place of the request that goes wrong, counted from zero, and how.
    planned: Option<(usize, Fault)>,
    /// From now on every call of this process fails.
    dead: bool,
}

struct WatchedStore(Arc<dyn Store>, Arc<Watch>);
struct WatchedBank(Arc<dyn BankGateway>, Arc<Watch>);
struct WatchedSandbox(Sandbox, Arc<Watch>);

impl Fault {
    /// The faults that make a difference at this step.
    pub fn of(step: Step) -> &'static [Self] {
        if step.has_effect {
            &[Self::FailBefore, Self::FailAfter, Self::KillBefore, Self::KillAfter]
        } else {
            &[Self::FailBefore, Self::KillBefore]
        }
    }

    /// Whether the call has its effect nevertheless.
    pub fn is_late(self) -> bool {
        matches!(self, Self::FailAfter | Self::KillAfter)
    }

    /// Whether the process ends with it.
    pub fn kills(self) -> bool {
        matches!(self, Self::KillBefore | Self::KillAfter)
    }
}

impl Watch {
    /// Counts from now on.
    pub fn arm(&self, planned: Option<(usize, Fault)>) {
        *self.0.lock().unwrap() = PortState { armed: true, planned, ..PortState::default() };
    }

    /// Counts no more. Returns the calls that were made, and whether the process is dead.
    pub fn disarm(&self) -> (Vec<Step>, bool) {
        let mut state = self.0.lock().unwrap();
        state.armed = false;
        (std::mem::take(&mut state.steps), state.dead)
    }

    /// Puts this watch in front of the ports.
    pub fn over(self: &Arc<Self>, ports: Ports) -> Ports {
        let sandbox = Arc::new(WatchedSandbox(ports.sandbox, Arc::clone(self)));
        Ports {
            store: Arc::new(WatchedStore(ports.store, Arc::clone(self))),
            bank: Arc::new(WatchedBank(ports.bank, Arc::clone(self))),
            sandbox: Sandbox { bank: Arc::clone(&sandbox) as _, clock: sandbox },
        }
    }

    fn next(&self, step: Step) -> Option<Fault> {
        let mut state = self.0.lock().unwrap();
        if state.dead {
            return Some(Fault::KillBefore);
        }
        if !state.armed {
            return None;
        }
        let place = state.steps.len();
        state.steps.push(step);
        let (_, fault) = state.planned.filter(|(at, _)| *at == place)?;
        state.dead = fault.kills();
        Some(fault)
    }

    /// A request that fails by its response.
    fn call<T>(
        &self,
        (what, has_effect): (&'static str, bool),
        call: impl FnOnce() -> T,
        failed: impl FnOnce(Fault) -> T,
    ) -> T {
        let Some(fault) = self.next(Step { what, has_effect }) else { return call() };
        if fault.is_late() {
            call();
        }
        failed(fault)
    }
}

impl Store for WatchedStore {
    fn submit(&self, access: Access, work: Work, done: Done) {
        let Self(inner, watch) = self;
        let step = match access {
            Access::Read => Step { what: "store read", has_effect: false },
            Access::Write => Step { what: "store write", has_effect: true },
        };
        match watch.next(step) {
            None => inner.submit(access, work, done),
            Some(Fault::FailBefore) => done(Err(away())),
            Some(Fault::FailAfter) => {
                inner.submit(access, work, Box::new(|ended| done(ended.and(Err(away())))));
            }
            // The caller of a dead process gets an error.
            Some(Fault::KillBefore) => drop(done),
            Some(Fault::KillAfter) => inner.submit(access, work, Box::new(|_| drop(done))),
        }
    }
}

fn away() -> StoreError {
    StoreError::Unavailable("as the test has it".to_owned())
}

/// The error of a gateway: only if the bank was certainly not reached, nothing has happened.
fn silence(fault: Fault) -> BankError {
    let reason = "as the test has it".to_owned();
    if fault.is_late() { BankError::Unknown(reason) } else { BankError::Unavailable(reason) }
}

impl WatchedBank {
    fn ask<T>(
        &self,
        what: &'static str,
        ask: impl FnOnce(&dyn BankGateway) -> Result<T, BankError>,
    ) -> Result<T, BankError> {
        self.1.call((what, false), || ask(&*self.0), |fault| Err(silence(fault)))
    }
}

impl BankGateway for WatchedBank {
    fn repeat_is_safe(&self) -> bool {
        self.0.repeat_is_safe()
    }

    fn submit(&self, submissions: &[Submission]) -> Vec<Result<Verdict, BankError>> {
        self.1.call(
            ("bank submit", true),
            || self.0.submit(submissions),
            |fault| submissions.iter().map(|_| Err(silence(fault))).collect(),
        )
    }

    fn query(&self, keys: &[BankKey]) -> Result<Vec<Option<Verdict>>, BankError> {
        self.ask("bank query", |bank| bank.query(keys))
    }

    fn issued_cards(&self, key: &BankKey, skip: u32, limit: u32) -> Result<Vec<IssuedCard>, BankError> {
        self.ask("bank issued cards", |bank| bank.issued_cards(key, skip, limit))
    }

    fn card(&self, number: CardNumber) -> Result<Option<BankCard>, BankError> {
        self.ask("bank card", |bank| bank.card(number))
    }

    fn transactions(
        &self,
        number: CardNumber,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Transaction>, BankError> {
        self.ask("bank transactions", |bank| bank.transactions(number, after, limit))
    }

    fn feed(&self, after: i64, limit: u32) -> Result<Vec<FeedEntry>, FeedError> {
        self.1.call(("bank feed", false), || self.0.feed(after, limit), |fault| Err(silence(fault).into()))
    }

    fn registry(
        &self,
        period: &Range<OffsetDateTime>,
        after: Option<RegistryPosition>,
        limit: u32,
    ) -> Result<Vec<RegistryEntry>, RegistryError> {
        let ask = || self.0.registry(period, after, limit);
        self.1.call(("bank registry", false), ask, |fault| Err(silence(fault).into()))
    }
}

impl WatchedSandbox {
    fn command<T>(
        &self,
        command: impl FnOnce(&Sandbox) -> Result<T, SandboxError>,
    ) -> Result<T, SandboxError> {
        let failed = |_| Err(SandboxError::Failed("as the test has it".to_owned()));
        self.1.call(("sandbox", true), || command(&self.0), failed)
    }
}

impl SandboxControl for WatchedSandbox {
    fn purchase(&self, card: CardNumber, purchase: &Purchase) -> Result<PurchaseOutcome, SandboxError> {
        self.command(|sandbox| sandbox.bank.purchase(card, purchase))
    }

    fn refund(&self, card: CardNumber, refund: &Refund) -> Result<i64, SandboxError> {
        self.command(|sandbox| sandbox.bank.refund(card, refund))
    }

    fn block(&self, card: CardNumber) -> Result<(), SandboxError> {
        self.command(|sandbox| sandbox.bank.block(card))
    }

    fn unblock(&self, card: CardNumber) -> Result<(), SandboxError> {
        self.command(|sandbox| sandbox.bank.unblock(card))
    }

    fn expire(&self, card: CardNumber) -> Result<(), SandboxError> {
        self.command(|sandbox| sandbox.bank.expire(card))
    }

    fn activate(&self, card: CardNumber, code: Option<&str>) -> Result<(), SandboxError> {
        self.command(|sandbox| sandbox.bank.activate(card, code))
    }

    fn inject_faults(&self, faults: BankFaults) -> Result<(), SandboxError> {
        self.command(|sandbox| sandbox.bank.inject_faults(faults))
    }
}

impl SandboxClock for WatchedSandbox {
    fn offset_micros(&self) -> Result<i64, SandboxError> {
        self.0.clock.offset_micros()
    }

    fn advance(&self, by: Duration, key: &CommandKey) -> Result<i64, SandboxError> {
        self.command(|sandbox| sandbox.clock.advance(by, key))
    }
}
