//! A store in memory, for one process. It runs every unit of work at once, on the caller's thread, and passes the
//! contract of the port, constraints included.

mod audit;
mod bank_feed;
mod card_batches;
mod cards;
mod categories;
mod employees;
mod events;
mod idempotency;
mod jobs;
mod ledger;
mod orders;
mod partners;
mod reconciliation;
mod sealed_nonces;
mod sessions;
mod throttle;
mod transactions;
mod webhooks;

use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kopeck_audit::{Mark, Record};
use kopeck_domain::closing::Closings;
use kopeck_domain::ids::{EmployeeId, PartnerId};
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::request::RequestReference;
use kopeck_domain::withdrawal::Withdrawals;
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{
    Access, BankFeedState, Disposition, Done, RequestFilter, Rule, Store, StoreError, Work,
};
use kopeck_port_system::Clock;
use time::OffsetDateTime;

/// The store. Writing units of work run one after the other, readers look at what is committed.
pub struct MemoryStore {
    clock: Arc<dyn Clock>,
    committed: Mutex<CommittedState>,
    /// Held by the unit of work that writes.
    writing: Mutex<()>,
}

#[derive(Default)]
struct CommittedState {
    state: State,
    commits: u64,
}

impl MemoryStore {
    /// An empty store whose work is due by `clock`.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, committed: Mutex::default(), writing: Mutex::default() }
    }

    /// How often something was committed: as long as this stays, so does what is stored.
    #[must_use]
    pub fn commits(&self) -> u64 {
        lock(&self.committed).commits
    }

    fn run(&self, access: Access, work: &mut Work) -> Result<(), StoreError> {
        let _alone = (access == Access::Write).then(|| lock(&self.writing));
        let state = lock(&self.committed).state.clone();
        let mut unit = Unit { state, access, clock: Arc::clone(&self.clock) };
        match catch_unwind(AssertUnwindSafe(|| work(&mut unit))) {
            Ok(Disposition::Commit) if access == Access::Write => {
                let mut committed = lock(&self.committed);
                committed.state = unit.state;
                committed.commits += 1;
                Ok(())
            }
            Ok(Disposition::Commit | Disposition::RollBack) => Ok(()),
            Err(_) => Err(StoreError::Failed("a unit of work panicked".to_owned())),
        }
    }
}

impl Store for MemoryStore {
    /// Unlike a store with threads, it returns only after `done`.
    fn submit(&self, access: Access, mut work: Work, done: Done) {
        done(self.run(access, &mut work));
    }
}

/// A unit of work over its own copy of the state.
struct Unit {
    state: State,
    access: Access,
    clock: Arc<dyn Clock>,
}

impl Unit {
    /// The state, to be changed.
    fn writing(&mut self) -> Result<&mut State, StoreError> {
        match self.access {
            Access::Write => Ok(&mut self.state),
            Access::Read => Err(StoreError::Failed("a reading unit of work cannot write".to_owned())),
        }
    }
}

kopeck_port_store::unit_of_work!(Unit);

/// Everything that is stored. Rows stand in the order in which they were added.
#[derive(Clone, Default)]
struct State {
    partners: Table<partners::PartnerRow>,
    sealing_keys: Table<partners::SealingKeyRow>,
    sessions: Table<sessions::SessionRow>,
    token_pairs: Table<sessions::PairRow>,
    login_failures: Table<throttle::FailureRow>,
    spent_nonces: Table<throttle::NonceRow>,
    answers: Table<idempotency::AnswerRow>,
    sealed_nonces: Table<sealed_nonces::SealedNonceRow>,
    categories: Table<categories::CategoryRow>,
    employees: Table<employees::EmployeeRow>,
    /// What stays of those that were erased: others may refer to them.
    erased_employees: Table<(PartnerId, EmployeeId)>,
    cards: Table<cards::CardRow>,
    transactions: Table<transactions::TransactionRow>,
    orders: Table<orders::OrderRow>,
    replenishments: Table<card_batches::Row<TopUps>>,
    limit_changes: Table<card_batches::Row<LimitChanges>>,
    closings: Table<card_batches::Row<Closings>>,
    withdrawals: Table<card_batches::Row<Withdrawals>>,
    accounts: Table<ledger::AccountsRow>,
    movements: Table<ledger::MovementRow>,
    jobs: Table<jobs::JobRow>,
    events: Table<events::EventRow>,
    bank_feed: BankFeedState,
    bank_declines: Table<(PartnerId, i64)>,
    webhooks: Table<webhooks::WebhookRow>,
    deliveries: Table<webhooks::DeliveryRow>,
    audit: Table<Record>,
    audit_marks: Vec<Mark>,
}

impl State {
    /// # Errors
    /// [`Rule::Reference`] if there is no such partner.
    fn known_partner(&self, partner: PartnerId) -> Result<(), StoreError> {
        let known = self.partners.iter().any(|row| row.credentials.partner.id == partner);
        if known { Ok(()) } else { Err(StoreError::Conflict(Rule::Reference)) }
    }
}

/// Rows that units of work share until one of them changes them.
#[derive(Clone)]
struct Table<T>(Arc<Vec<T>>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Deref for Table<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Clone> DerefMut for Table<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        Arc::make_mut(&mut self.0)
    }
}

/// Whether a list shows a request.
fn fits<S: PartialEq>(
    filter: &RequestFilter<S>,
    state: S,
    reference: Option<&RequestReference>,
    created_at: OffsetDateTime,
) -> bool {
    let RequestFilter { state: wanted, reference: named, from, before } = filter;
    wanted.as_ref().is_none_or(|wanted| *wanted == state)
        && named.as_ref().is_none_or(|named| Some(named) == reference)
        && from.is_none_or(|from| created_at >= from)
        && before.is_none_or(|before| created_at < before)
}

/// A page of `all`, which stand in the order of the list.
fn page_of<T>(all: Vec<T>, page: Page) -> Listed<T> {
    let total = all.len() as u64;
    let skipped = usize::try_from(page.skip()).unwrap_or(usize::MAX);
    Listed { items: all.into_iter().skip(skipped).take(amount(page.size())).collect(), total }
}

/// A number of rows.
fn amount(rows: u32) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}

/// As many as there are rows; the stores of a simulation never hold more than fit.
fn count(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}

/// What a unit of work left behind when it panicked is whole: it worked on a copy.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
