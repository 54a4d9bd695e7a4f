//! Work for the workers: what is due, and who has it.
//!
//! What is due and which leases are over is decided by the store's own clock alone, which on a database server is the
//! server's: the clocks of the machines that share the work need not agree. That clock may be set; see
//! [`JobRepository::bring_within`].

use kopeck_domain::ids::{
    ClosingId, LimitChangeId, OrderId, PartnerId, ReplenishmentId, RunId, WithdrawalId,
};
use time::{Duration, OffsetDateTime};

use crate::StoreError;

/// What the work is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// Issue the cards of an order.
    Order(OrderId),
    /// Top up the cards of a replenishment.
    Replenishment(ReplenishmentId),
    /// Set the limits of the cards of a limit change.
    LimitChange(LimitChangeId),
    /// Close the cards of a closing.
    Closing(ClosingId),
    /// Take money from the cards of a withdrawal.
    Withdrawal(WithdrawalId),
    /// Carry a run out: make its requests, and follow them.
    Run(RunId),
}

/// Work that a worker has under a lease. Only the worker with the latest attempt may settle it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Whose work it is.
    pub partner: PartnerId,
    /// What it is about.
    pub subject: Subject,
    /// Counts the claims of this work, from 1.
    pub attempt: u32,
    /// Whether an earlier claim may have sent something to the bank without settling it: a worker that finds this
    /// asks the bank before it sends anything. Set by every claim, and cleared only by [`JobRepository::reschedule`].
    pub may_have_sent: bool,
    /// Tries in a row that ended without a word from the bank; decides how long to wait for the next.
    pub failures: u32,
}

/// Work that needs a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StuckJob {
    /// Whose work it is.
    pub partner: PartnerId,
    /// What it is about.
    pub subject: Subject,
    /// Since when, by the store's clock.
    pub since: OffsetDateTime,
}

/// The queue of jobs, of all partners.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// All jobs, due or not, leased or not.
    pub all: u64,
    /// Those that a claim would find.
    pub due: u64,
    /// For how long the longest due of them has been waiting.
    pub oldest_due: Duration,
    /// Those whose latest try ended without a word from the bank.
    pub failing: u64,
    /// Stuck jobs, which an operator has to settle.
    pub stuck: u64,
}

/// The furthest ahead that the times of work can lie, by how long work is postponed and leased. Times further ahead were
/// stored by a clock that was set back since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Horizon {
    /// For work that was never claimed: the longest delay of [`JobRepository::enqueue`].
    pub first: Duration,
    /// For work that was: the longest delay of [`Reschedule`].
    pub again: Duration,
    /// The longest lease.
    pub lease: Duration,
}

/// What the store's clock shows, and how the times of work fit it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobClock {
    /// The present, by the store's clock.
    pub now: OffsetDateTime,
    /// Whether times of work lie beyond the horizon.
    pub is_exceeded: bool,
}

/// How work is given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reschedule {
    /// After how long it is due again.
    pub delay: Duration,
    /// Fruitless tries in a row so far.
    pub failures: u32,
    /// Whether something may have been sent to the bank that is not settled; see [`Claim::may_have_sent`].
    pub may_have_sent: bool,
}

/// Work for the workers.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait JobRepository {
    /// Adds work that is due after `delay`.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    fn enqueue(&mut self, partner: PartnerId, subject: Subject, delay: Duration) -> Result<(), StoreError>;

    /// Takes up to `limit` jobs that are due and not leased (or whose lease is over), and leases them for
    /// `lease`. Partners take turns: the longest due of each comes first, then the second of each, and so on, so
    /// that one partner's thousands of requests do not delay another's one. No two workers ever get the same attempt.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    fn claim(&mut self, lease: Duration, limit: u32) -> Result<Vec<Claim>, StoreError>;

    /// Whether `claim` is still the latest attempt. Within a writing unit of work the result holds until its end.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    fn is_current(&mut self, claim: &Claim) -> Result<bool, StoreError>;

    /// Gives the work back and ends the lease. Does nothing if the claim is not current.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    fn reschedule(&mut self, claim: &Claim, terms: Reschedule) -> Result<(), StoreError>;

    /// Removes the work: it is done.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    fn complete(&mut self, claim: &Claim) -> Result<(), StoreError>;

    /// Removes the work of a request that was cancelled before a worker took it.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    fn cancel(&mut self, partner: PartnerId, subject: Subject) -> Result<(), StoreError>;

    /// Ends every lease: for the start of a process that is the only one on its database.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    fn end_all_leases(&mut self) -> Result<(), StoreError>;

    /// Notes that the work needs a person: something was sent once, must not be sent again, and the bank does not know
    /// it. The work stays due. Does nothing if the claim is not current; noted twice, the first timestamp stays.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    fn mark_stuck(&mut self, claim: &Claim) -> Result<(), StoreError>;

    /// Every partner's work that needs a person, the longest stuck first.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    fn stuck(&mut self) -> Result<Vec<StuckJob>, StoreError>;

    /// Claims this job by the next attempt, due or not, leased or not; `None` if there is
    /// none. For a person who settles what no worker can.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    fn force_claim(
        &mut self,
        partner: PartnerId,
        subject: Subject,
        lease: Duration,
    ) -> Result<Option<Claim>, StoreError>;

    /// Whether a claim would find something now.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    fn is_any_due(&mut self) -> Result<bool, StoreError>;

    /// Reads the store's clock, and whether it was set back since times of work were stored.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    fn clock(&mut self, horizon: Horizon) -> Result<JobClock, StoreError>;

    /// Moves the times of work that lie beyond `horizon` there, and returns the number of such jobs. Nothing
    /// waits until a clock that was set back has caught up.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    fn bring_within(&mut self, horizon: Horizon) -> Result<u64, StoreError>;

    /// The number of jobs, due or not.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    fn count(&mut self) -> Result<u64, StoreError>;

    /// The number of jobs of the partner: one for each of its requests that are not finished.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    fn count_of(&mut self, partner: PartnerId) -> Result<u64, StoreError>;

    /// The number of jobs, for metrics.
    ///
    /// # Errors
    /// [`StoreError`] if the database fails.
    fn backlog(&mut self) -> Result<Backlog, StoreError>;
}
