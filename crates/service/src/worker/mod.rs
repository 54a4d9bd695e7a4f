//! The workers' steps. A worker *takes* work that is due under a lease, *calls* the bank outside of any unit of work,
//! and *settles* what the bank said in a second unit of work that counts only if the lease is still its own.
//!
//! The steps stand apart so that a test can stop between any two of them. What makes a crash harmless:
//!
//! - the key under which the bank is told something never changes, and is made of the request's own identifier;
//! - a claim says whether an earlier one may have sent something; then the bank is asked before anything is sent;
//! - an answer that is not known decides nothing: the money stays held and the work is due again later.
//!
//! What one worker of a process has in hand no other of the same process takes, whatever the clock says of its lease.

pub(crate) mod by_hand;
mod chunk;
mod in_hand;
mod limit_change;
mod order;
mod replenishment;
mod turns;
mod watch;

use std::num::NonZeroUsize;
use std::sync::Arc;

use kopeck_port_bank::BankGateway;
use kopeck_port_store::{Access, Claim, Reschedule, Rule, Store, StoreError, Subject, UnitOfWork, transact};
use time::Duration;

use crate::Env;
use in_hand::{Hold, InHand, Lease};
use limit_change::{LimitErrand, LimitReport};
use order::{OrderErrand, OrderReport};
use replenishment::{TopUpErrand, TopUpReport};
use turns::Turns;
pub use watch::{ClockCheck, ClockWatch};

/// The longest that work waits after a try without a word from the bank.
const LONGEST_PAUSE: Duration = Duration::seconds(10);

/// How a worker works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerSettings {
    /// How long work is a worker's own. Longer than any call to the bank takes.
    pub lease: Duration,
    /// How many requests are taken at a time.
    pub batch: u32,
    /// How many cards of a request are sent or fetched at a time. Work is given back after each such chunk, so that
    /// a large request does not hold up small ones.
    pub chunk: u32,
    /// How many workers of the process are busy at once, beside those that wait for a slow bank or for a lock.
    pub at_once: NonZeroUsize,
}

impl Default for WorkerSettings {
    /// Four requests and a thousand cards at a time for half a minute. As many workers are busy at once as half of the
    /// processors: the others are free for calls.
    fn default() -> Self {
        let processors = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self { lease: Duration::seconds(30), batch: 4, chunk: 1_000, at_once: half_of(processors) }
    }
}

fn half_of(processors: NonZeroUsize) -> NonZeroUsize {
    NonZeroUsize::new(processors.get() / 2).unwrap_or(NonZeroUsize::MIN)
}

/// Takes, calls, settles.
pub struct Worker {
    store: Arc<dyn Store>,
    bank: Arc<dyn BankGateway>,
    env: Arc<Env>,
    settings: WorkerSettings,
    in_hand: Arc<InHand>,
    turns: Turns,
}

/// Work under a lease, with all that the bank has to be told.
#[derive(Debug, Clone)]
pub struct Errand {
    lease: Lease,
    task: Task,
    hold: Arc<Hold>,
}

#[derive(Debug, Clone)]
enum Task {
    Order(OrderErrand),
    TopUp(TopUpErrand),
    Limit(LimitErrand),
}

impl Errand {
    /// About how many cards the bank is told of, or asked for: a chunk at most.
    fn cards(&self, chunk: u32) -> u32 {
        match &self.task {
            Task::Order(errand) => errand.cards(chunk),
            Task::TopUp(errand) => errand.cards(),
            Task::Limit(errand) => errand.cards(),
        }
    }
}

/// What the bank said.
#[derive(Debug, Clone)]
pub struct Report {
    claim: Claim,
    findings: Findings,
}

#[derive(Debug, Clone)]
enum Findings {
    Order(OrderReport),
    TopUp(TopUpReport),
    Limit(LimitReport),
}

/// How a piece of work goes on after a step that left it current.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// The request is decided.
    Finished,
    /// There is more to do at once.
    GoOn,
    /// There is no verdict on something, which may have been sent or not.
    Later { may_have_sent: bool },
    /// Something was sent once, must not be sent again, and the bank does not know it; or the bank issued other cards
    /// than were ordered. The bank is asked on, since its answer may change; a person who finds out otherwise says so.
    LeaveToPerson,
}

/// How chunks of a request's cards are made.
#[derive(Debug, Clone, Copy)]
struct Tactics {
    chunk: u32,
    /// Whether the bank does once only what it is sent twice under one key.
    repeat_is_safe: bool,
}

impl Worker {
    /// A worker over these ports.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        bank: Arc<dyn BankGateway>,
        env: Arc<Env>,
        settings: WorkerSettings,
    ) -> Self {
        let turns = Turns::new(settings.at_once, turns::AT_WORK);
        Self { store, bank, env, settings, in_hand: Arc::default(), turns }
    }

    /// Takes work that is due and makes ready what the bank has to be told. Requests that were NEW are IN_PROCESS
    /// after this, and their money is held.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was taken.
    pub fn take(&self) -> Result<Vec<Errand>, StoreError> {
        let _taking = self.in_hand.taking();
        match self.take_up_to(self.settings.batch) {
            // One request whose stored data make no sense must not hold up all others.
            Err(StoreError::Corrupt(_)) => self.take_one_by_one(),
            taken => taken,
        }
    }

    fn take_up_to(&self, limit: u32) -> Result<Vec<Errand>, StoreError> {
        let (env, settings) = (Arc::clone(&self.env), self.settings);
        let tactics = Tactics { chunk: settings.chunk, repeat_is_safe: self.bank.repeat_is_safe() };
        let in_hand = self.in_hand.subjects();
        let ends_at = env.clock.steady() + settings.lease;
        let (ready, renewed) = transact(&*self.store, Access::Write, move |unit| -> Result<_, StoreError> {
            let (mut ready, mut renewed) = (Vec::new(), Vec::new());
            for claim in unit.jobs().claim(settings.lease, limit)? {
                if in_hand.contains(&claim.subject) {
                    renewed.push(claim);
                } else if let Some(task) = prepare(unit, &env, tactics, &claim)? {
                    ready.push((claim, task));
                }
            }
            Ok((ready, renewed))
        })?;
        let errand = |(claim, task)| {
            let lease = Lease { claim, ends_at };
            Errand { hold: self.in_hand.hold(&lease), lease, task }
        };
        let errands = ready.into_iter().map(errand).collect();
        for claim in renewed {
            // Whoever had it may have settled nothing in the meantime: the work waits for its next turn.
            if let Err(Lease { claim, .. }) = self.in_hand.pass_on(Lease { claim, ends_at }) {
                let may_have_sent = claim.may_have_sent;
                self.put_back_now(claim, may_have_sent)?;
            }
        }
        Ok(errands)
    }

    /// Takes the batch a piece at a time, and puts off what cannot be made ready.
    fn take_one_by_one(&self) -> Result<Vec<Errand>, StoreError> {
        let mut errands = Vec::new();
        for _ in 0..self.settings.batch {
            match self.take_up_to(1) {
                Ok(taken) => errands.extend(taken),
                Err(StoreError::Corrupt(what)) => {
                    log::error!(what = what.as_str(); "a request cannot be worked on and is put off");
                    self.put_off_next()?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(errands)
    }

    /// Puts the piece of work that is due next off, with all that is known of it.
    fn put_off_next(&self) -> Result<(), StoreError> {
        let lease = self.settings.lease;
        transact(&*self.store, Access::Write, move |unit| {
            for claim in unit.jobs().claim(lease, 1)? {
                put_off(unit, &claim, claim.may_have_sent)?;
            }
            Ok(())
        })
    }

    /// Tells the bank, and asks it first where an earlier worker may have told it already. Blocks while the bank
    /// thinks.
    #[must_use]
    pub fn call(&self, errand: Errand) -> Report {
        let Errand { lease, task, hold } = errand;
        let claim = &lease.claim;
        let findings = match task {
            Task::Order(errand) => Findings::Order(errand.call(&*self.bank, claim, self.settings.chunk)),
            Task::TopUp(errand) => Findings::TopUp(errand.call(&*self.bank)),
            Task::Limit(errand) => Findings::Limit(errand.call(&*self.bank)),
        };
        Report { claim: hold.latest(&lease).claim, findings }
    }

    /// Books what the bank said, if the work is still this worker's; else somebody else has found it out.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was booked, and the work is due again when its lease ends.
    pub fn settle(&self, report: Report) -> Result<(), StoreError> {
        let (env, claim) = (Arc::clone(&self.env), report.claim.clone());
        let settled = transact(&*self.store, Access::Write, move |unit| {
            let Report { claim, findings } = &report;
            if !unit.jobs().is_current(claim)? {
                return Ok(());
            }
            let next = match findings {
                Findings::Order(report) => order::settle(unit, &env, claim, report)?,
                Findings::TopUp(report) => replenishment::settle(unit, &env, claim, report)?,
                Findings::Limit(report) => limit_change::settle(unit, &env, claim, report)?,
            };
            conclude(unit, claim, next)
        });
        match settled {
            Err(StoreError::Conflict(Rule::CardNumber)) => self.leave_to_person(claim),
            settled => settled,
        }
    }

    /// The bank issued a number that another card has. Whose it is only a person can find out; nothing was booked.
    fn leave_to_person(&self, claim: Claim) -> Result<(), StoreError> {
        log::error!(subject:? = claim.subject; "the bank issued a card number that is taken");
        transact(&*self.store, Access::Write, move |unit| {
            if unit.jobs().is_current(&claim)? { conclude(unit, &claim, Next::LeaveToPerson) } else { Ok(()) }
        })
    }

    /// Gives work back that was taken but not told to the bank: for an orderly stop.
    ///
    /// # Errors
    /// [`StoreError`]; then the work is due again when its lease ends.
    pub fn give_back(&self, errand: Errand) -> Result<(), StoreError> {
        let Errand { lease, task, hold } = errand;
        let (claim, may_have_sent) = (hold.latest(&lease).claim, lease.claim.may_have_sent);
        let terms = Reschedule { delay: Duration::ZERO, failures: claim.failures, may_have_sent };
        transact(&*self.store, Access::Write, move |unit| {
            match &task {
                Task::TopUp(errand) if errand.is_marked() && unit.jobs().is_current(&claim)? => {
                    errand.take_back(unit, &claim)?;
                }
                Task::Limit(errand) if errand.is_marked() && unit.jobs().is_current(&claim)? => {
                    errand.take_back(unit, &claim)?;
                }
                Task::Order(_) | Task::TopUp(_) | Task::Limit(_) => {}
            }
            unit.jobs().reschedule(&claim, terms)
        })
    }

    fn put_back_now(&self, claim: Claim, may_have_sent: bool) -> Result<(), StoreError> {
        let terms = Reschedule { delay: Duration::ZERO, failures: claim.failures, may_have_sent };
        transact(&*self.store, Access::Write, move |unit| unit.jobs().reschedule(&claim, terms))
    }

    /// One round: takes what is due, calls and settles it, each when it is this worker's turn. Answers how many pieces of
    /// work it had. Asks `stopping` before it takes anything, and before each call to the bank: it gives the rest back
    /// once it is told so. A piece whose lease ended while it waited for its turn is given back too, if nobody else has it
    /// by now.
    ///
    /// # Errors
    /// [`StoreError`] of the first step that failed, after all pieces had their turn; what was not settled comes
    /// back when its lease ends.
    pub fn run_once(&self, stopping: &dyn Fn() -> bool) -> Result<usize, StoreError> {
        let errands = {
            let _turn = self.turns.wait();
            if stopping() {
                return Ok(0);
            }
            self.take()?
        };
        let taken = errands.len();
        let mut failed = None;
        for errand in errands {
            let mut turn = self.turns.wait();
            let stops = stopping();
            // Looked at last: nothing may come between this and the call that takes time.
            let is_over = self.env.clock.steady() >= errand.hold.latest(&errand.lease).ends_at;
            let step = if stops || is_over {
                self.give_back(errand)
            } else {
                let kept = turns::AT_THE_BANK * errand.cards(self.settings.chunk);
                self.settle(turn.away(kept, || self.call(errand)))
            };
            failed = failed.or(step.err());
        }
        failed.map_or(Ok(taken), Err)
    }
}

/// What `claim` needs of the bank; `None` if the request needs nothing more and is settled with that.
fn prepare(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    tactics: Tactics,
    claim: &Claim,
) -> Result<Option<Task>, StoreError> {
    match claim.subject {
        Subject::Order(id) => Ok(order::prepare(unit, env, claim, id)?.map(Task::Order)),
        Subject::Replenishment(id) => {
            let ready = replenishment::prepare(unit, env, claim, id, tactics)?;
            Ok(ready.map(Task::TopUp))
        }
        Subject::LimitChange(id) => {
            let ready = limit_change::prepare(unit, env, claim, id, tactics)?;
            Ok(ready.map(Task::Limit))
        }
    }
}

fn conclude(unit: &mut dyn UnitOfWork, claim: &Claim, next: Next) -> Result<(), StoreError> {
    match next {
        Next::Finished => unit.jobs().complete(claim),
        Next::GoOn => {
            let terms = Reschedule { delay: Duration::ZERO, failures: 0, may_have_sent: false };
            unit.jobs().reschedule(claim, terms)
        }
        Next::Later { may_have_sent } => put_off(unit, claim, may_have_sent),
        Next::LeaveToPerson => {
            unit.jobs().mark_stuck(claim)?;
            put_off(unit, claim, true)
        }
    }
}

fn put_off(unit: &mut dyn UnitOfWork, claim: &Claim, may_have_sent: bool) -> Result<(), StoreError> {
    let failures = claim.failures.saturating_add(1);
    unit.jobs().reschedule(claim, Reschedule { delay: pause_after(failures), failures, may_have_sent })
}

/// How long to wait after so many tries in a row without a word from the bank: doubling from a quarter of a second
/// to ten seconds, so that nothing waits long once the bank is well.
fn pause_after(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(6);
    Duration::milliseconds(250_i64 << doublings).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests;
