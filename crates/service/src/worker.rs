//! The workers' steps. A worker *takes* due jobs under a lease, *calls* the bank outside of any unit of work, and
//! *settles* the bank's response in a second unit of work that counts only if the lease is still its own.
//!
//! The steps stand apart so that a test can stop between any two of them. What makes a crash harmless:
//!
//! - the bank's key of an instruction never changes, and is made of the request's own identifier;
//! - a claim says whether an earlier one may have sent something; then the worker queries the bank before it sends;
//! - an unknown outcome decides nothing: the money stays held and the job is due again later.
//!
//! A job in flight in one worker is not taken by another worker of the process, whatever the clock says of its lease.

mod blocks;
pub(crate) mod by_hand;
mod card_batch;
mod in_flight;
mod next;
mod order;
mod watch;

use std::sync::Arc;

use kopeck_domain::closing::Closings;
use kopeck_domain::ids::RunId;
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::withdrawal::Withdrawals;
use kopeck_port_bank::BankGateway;
use kopeck_port_store::{Access, Claim, Reschedule, Rule, Store, StoreError, Subject, UnitOfWork, transact};
use time::Duration;

use crate::{Env, runs};
use card_batch::{BatchTask, BatchVerdicts, SubmissionPolicy};
use in_flight::{JobGuard, JobsInFlight, Lease};
use next::{Next, back_off, conclude};
pub(crate) use order::{ORDER_KEY, order_key};
use order::{OrderFindings, OrderTask};
pub use watch::{ClockCheck, ClockWatch};

/// How a worker works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerSettings {
    /// How long a job is a worker's own. Longer than any request to the bank takes.
    pub lease: Duration,
    /// How many jobs are taken at a time.
    pub batch: u32,
    /// How many cards of a request are sent or fetched at a time. The job is rescheduled after each such chunk, so that
    /// a large request does not hold up small ones.
    pub chunk: u32,
}

impl Default for WorkerSettings {
    /// Four requests and a thousand cards at a time for half a minute.
    fn default() -> Self {
        Self { lease: Duration::seconds(30), batch: 4, chunk: 1_000 }
    }
}

/// Takes, calls, settles.
pub struct Worker {
    store: Arc<dyn Store>,
    bank: Arc<dyn BankGateway>,
    env: Arc<Env>,
    settings: WorkerSettings,
    in_flight: Arc<JobsInFlight>,
}

/// A job under a lease, with all that the bank has to know for it.
#[derive(Debug, Clone)]
pub struct Task {
    lease: Lease,
    step: Step,
    guard: Arc<JobGuard>,
}

#[derive(Debug, Clone)]
enum Step {
    Order(OrderTask),
    TopUps(BatchTask<TopUps>),
    LimitChanges(BatchTask<LimitChanges>),
    Closings(BatchTask<Closings>),
    Withdrawals(BatchTask<Withdrawals>),
    /// A step of a run calls no bank: all of it is in the unit of work that settles.
    Run(RunId),
}

/// The bank's response to a task.
#[derive(Debug, Clone)]
pub struct TaskResult {
    claim: Claim,
    result: BankResult,
}

#[derive(Debug, Clone)]
enum BankResult {
    Order(OrderFindings),
    TopUps(BatchVerdicts<TopUps>),
    LimitChanges(BatchVerdicts<LimitChanges>),
    Closings(BatchVerdicts<Closings>),
    Withdrawals(BatchVerdicts<Withdrawals>),
    Run(RunId),
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
        Self { store, bank, env, settings, in_flight: Arc::default() }
    }

    /// Takes due jobs and prepares what the bank has to know. Requests that were `NEW` are `IN_PROCESS`
    /// after this, and their money is held.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was taken.
    pub fn take(&self) -> Result<Vec<Task>, StoreError> {
        let _taking = self.in_flight.claiming();
        match self.take_up_to(self.settings.batch) {
            // One request whose stored data make no sense must not hold up all others.
            Err(StoreError::Corrupt(_)) => self.take_one_by_one(),
            taken => taken,
        }
    }

    fn take_up_to(&self, limit: u32) -> Result<Vec<Task>, StoreError> {
        let (env, settings) = (Arc::clone(&self.env), self.settings);
        let policy = SubmissionPolicy { chunk: settings.chunk, repeat_is_safe: self.bank.repeat_is_safe() };
        let in_flight = self.in_flight.subjects();
        let ends_at = env.clock.steady() + settings.lease;
        let (ready, renewed) = transact(&*self.store, Access::Write, move |unit| -> Result<_, StoreError> {
            let (mut ready, mut renewed) = (Vec::new(), Vec::new());
            for claim in unit.jobs().claim(settings.lease, limit)? {
                if in_flight.contains(&claim.subject) {
                    renewed.push(claim);
                } else if let Some(step) = prepare(unit, &env, policy, &claim)? {
                    ready.push((claim, step));
                }
            }
            Ok((ready, renewed))
        })?;
        let task = |(claim, step)| {
            let lease = Lease { claim, ends_at };
            Task { guard: self.in_flight.guard(&lease), lease, step }
        };
        let tasks = ready.into_iter().map(task).collect();
        for claim in renewed {
            // The job may be settled in part only: it is rescheduled at once.
            if let Err(Lease { claim, .. }) = self.in_flight.renew(Lease { claim, ends_at }) {
                let (subject, may_have_sent) = (claim.subject, claim.may_have_sent);
                // The tasks that were taken are marked as sent: they must not get lost with this one.
                if let Err(error) = self.release(claim, may_have_sent) {
                    log::debug!(job:? = subject, error:% = error; "the lease of a job ends by itself");
                }
            }
        }
        Ok(tasks)
    }

    /// Takes the jobs one at a time, and backs off from those that cannot be prepared.
    fn take_one_by_one(&self) -> Result<Vec<Task>, StoreError> {
        let mut tasks = Vec::new();
        for _ in 0..self.settings.batch {
            match self.take_up_to(1) {
                Ok(taken) => tasks.extend(taken),
                Err(StoreError::Corrupt(what)) => {
                    log::error!(what = what.as_str(); "a job cannot be prepared: backing off");
                    self.back_off_next()?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(tasks)
    }

    /// Backs off from the job that is due next, without a change of its claim.
    fn back_off_next(&self) -> Result<(), StoreError> {
        let lease = self.settings.lease;
        transact(&*self.store, Access::Write, move |unit| {
            for claim in unit.jobs().claim(lease, 1)? {
                back_off(unit, &claim, claim.may_have_sent)?;
            }
            Ok(())
        })
    }

    /// Calls the bank, and queries it first where an earlier worker may have sent something. Blocks until the response.
    #[must_use]
    pub fn call(&self, task: Task) -> TaskResult {
        let Task { lease, step, guard } = task;
        let partner = lease.claim.partner;
        let blocks: blocks::ReadBlocks<'_> =
            &|cards| transact(&*self.store, Access::Read, move |unit| unit.cards().blocked(partner, &cards));
        let result = match step {
            Step::Order(task) => BankResult::Order(task.call(&*self.bank, &lease.claim, self.settings.chunk)),
            Step::TopUps(task) => BankResult::TopUps(task.call(&*self.bank, blocks)),
            Step::LimitChanges(task) => BankResult::LimitChanges(task.call(&*self.bank, blocks)),
            Step::Closings(task) => BankResult::Closings(task.call(&*self.bank, blocks)),
            Step::Withdrawals(task) => BankResult::Withdrawals(task.call(&*self.bank, blocks)),
            Step::Run(id) => BankResult::Run(id),
        };
        TaskResult { claim: guard.latest(&lease).claim, result }
    }

    /// Books the bank's response if the claim is still current; else another worker has found it out.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was booked, and the job is due again when its lease ends.
    pub fn settle(&self, result: TaskResult) -> Result<(), StoreError> {
        let (env, claim) = (Arc::clone(&self.env), result.claim.clone());
        let settled = transact(&*self.store, Access::Write, move |unit| {
            let TaskResult { claim, result } = &result;
            if !unit.jobs().is_current(claim)? {
                return Ok(());
            }
            let next = match result {
                BankResult::Order(findings) => order::settle(unit, &env, claim, findings)?,
                BankResult::TopUps(verdicts) => card_batch::settle(unit, &env, claim, verdicts)?,
                BankResult::LimitChanges(verdicts) => card_batch::settle(unit, &env, claim, verdicts)?,
                BankResult::Closings(verdicts) => card_batch::settle(unit, &env, claim, verdicts)?,
                BankResult::Withdrawals(verdicts) => card_batch::settle(unit, &env, claim, verdicts)?,
                BankResult::Run(id) => return runs::execution::advance(unit, &env, claim, *id),
            };
            conclude(unit, claim, next)
        });
        match settled {
            Err(StoreError::Conflict(Rule::CardNumber)) => self.leave_to_person(claim),
            settled => settled,
        }
    }

    /// The bank issued a number that another card has. Only a person can find out which is right; nothing was booked.
    fn leave_to_person(&self, claim: Claim) -> Result<(), StoreError> {
        log::error!(subject:? = claim.subject; "the bank issued a card number that is taken");
        transact(&*self.store, Access::Write, move |unit| {
            if unit.jobs().is_current(&claim)? { conclude(unit, &claim, Next::LeaveToPerson) } else { Ok(()) }
        })
    }

    /// Releases a job that was taken but not submitted to the bank: for an orderly stop.
    ///
    /// # Errors
    /// [`StoreError`]; then the job is due again when its lease ends.
    pub fn give_back(&self, task: Task) -> Result<(), StoreError> {
        let Task { lease, step, guard } = task;
        let (claim, may_have_sent) = (guard.latest(&lease).claim, lease.claim.may_have_sent);
        let terms = Reschedule { delay: Duration::ZERO, failures: claim.failures, may_have_sent };
        transact(&*self.store, Access::Write, move |unit| {
            if step.is_marked() && unit.jobs().is_current(&claim)? {
                step.unmark(unit, &claim)?;
            }
            unit.jobs().reschedule(&claim, terms)
        })
    }

    fn release(&self, claim: Claim, may_have_sent: bool) -> Result<(), StoreError> {
        let terms = Reschedule { delay: Duration::ZERO, failures: claim.failures, may_have_sent };
        transact(&*self.store, Access::Write, move |unit| unit.jobs().reschedule(&claim, terms))
    }

    /// One round: takes what is due, calls the bank and settles. Returns how many jobs it had. Checks `stopping` before
    /// it takes jobs and before each bank request; it releases the remaining jobs once that is true. A job whose lease
    /// ended while it waited behind the others is released too.
    ///
    /// # Errors
    /// [`StoreError`] of the first step that failed, after all jobs were tried; what was not settled is due again when
    /// its lease ends.
    pub fn run_once(&self, stopping: &dyn Fn() -> bool) -> Result<usize, StoreError> {
        if stopping() {
            return Ok(0);
        }
        let tasks = self.take()?;
        let taken = tasks.len();
        let mut failed = None;
        for task in tasks {
            let stops = stopping();
            // Checked last: nothing may come between this and the request that takes time.
            let is_over = self.env.clock.steady() >= task.guard.latest(&task.lease).ends_at;
            let step = if stops || is_over { self.give_back(task) } else { self.settle(self.call(task)) };
            failed = failed.or(step.err());
        }
        failed.map_or(Ok(taken), Err)
    }
}

impl Step {
    /// Whether its cards are marked as sent already.
    fn is_marked(&self) -> bool {
        match self {
            Self::Order(_) | Self::Run(_) => false,
            Self::TopUps(task) => task.is_marked(),
            Self::LimitChanges(task) => task.is_marked(),
            Self::Closings(task) => task.is_marked(),
            Self::Withdrawals(task) => task.is_marked(),
        }
    }

    /// Takes the marks off cards that were not sent after all.
    fn unmark(&self, unit: &mut dyn UnitOfWork, claim: &Claim) -> Result<(), StoreError> {
        match self {
            Self::Order(_) | Self::Run(_) => Ok(()),
            Self::TopUps(task) => task.unmark(unit, claim),
            Self::LimitChanges(task) => task.unmark(unit, claim),
            Self::Closings(task) => task.unmark(unit, claim),
            Self::Withdrawals(task) => task.unmark(unit, claim),
        }
    }
}

/// What `claim` needs of the bank; `None` if the request needs nothing more and is settled with that.
fn prepare(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    policy: SubmissionPolicy,
    claim: &Claim,
) -> Result<Option<Step>, StoreError> {
    match claim.subject {
        Subject::Order(id) => Ok(order::prepare(unit, env, claim, id)?.map(Step::Order)),
        Subject::Replenishment(id) => {
            Ok(card_batch::prepare(unit, env, claim, id, policy)?.map(Step::TopUps))
        }
        Subject::LimitChange(id) => {
            Ok(card_batch::prepare(unit, env, claim, id, policy)?.map(Step::LimitChanges))
        }
        Subject::Closing(id) => Ok(card_batch::prepare(unit, env, claim, id, policy)?.map(Step::Closings)),
        Subject::Withdrawal(id) => {
            Ok(card_batch::prepare(unit, env, claim, id, policy)?.map(Step::Withdrawals))
        }
        Subject::Run(id) => Ok(Some(Step::Run(id))),
    }
}

#[cfg(test)]
mod tests;
