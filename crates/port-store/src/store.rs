//! Units of work: how they are submitted and what they can reach.

use std::sync::{Arc, Mutex, PoisonError, mpsc};

use kopeck_domain::ids::PartnerId;

use crate::{
    AuditRepository, CardRepository, CategoryRepository, EmployeeRepository, IdempotencyRepository,
    JobRepository, LedgerRepository, LimitChangeRepository, OrderRepository, PartnerRepository,
    ReconciliationRepository, ReplenishmentRepository, SealedNonceRepository, SessionRepository, StoreError,
    ThrottleRepository, TransactionRepository,
};

/// Whether a unit of work writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It only looks, at one consistent state of the data.
    Read,
    /// It may write; writing units see each other's effects one after the other.
    Write,
}

/// What to do with the writes of a unit of work that has run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// Keep them.
    Commit,
    /// Undo them.
    RollBack,
}

/// The body of a unit of work. May be run several times; every run starts from the committed data.
pub type Work = Box<dyn FnMut(&mut dyn UnitOfWork) -> Disposition + Send>;

/// Told once how a unit of work ended: `Ok` after the commit or the wished roll-back.
pub type Done = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// A database with its threads.
pub trait Store: Send + Sync {
    /// Queues `work` and returns at once. `done` is called exactly once, on a thread of the store, so it must not
    /// block. If `work` panics, it is rolled back and `done` learns [`StoreError::Failed`].
    fn submit(&self, access: Access, work: Work, done: Done);

    /// The same for work that concerns the data of this partner alone, so that the store may run it beside that of others.
    /// What the work may do does not depend on it.
    fn submit_for(&self, partner: PartnerId, access: Access, work: Work, done: Done) {
        let _ = partner;
        self.submit(access, work, done);
    }
}

/// The repositories as they stand within one transaction.
pub trait UnitOfWork {
    /// Partners and their keys.
    fn partners(&mut self) -> &mut dyn PartnerRepository;
    /// Logins and token pairs.
    fn sessions(&mut self) -> &mut dyn SessionRepository;
    /// Failed logins and spent nonces.
    fn throttle(&mut self) -> &mut dyn ThrottleRepository;
    /// Answers of calls that may be repeated.
    fn idempotency(&mut self) -> &mut dyn IdempotencyRepository;
    /// Nonces of sealed requests.
    fn sealed_nonces(&mut self) -> &mut dyn SealedNonceRepository;
    /// Employees.
    fn employees(&mut self) -> &mut dyn EmployeeRepository;
    /// Categories.
    fn categories(&mut self) -> &mut dyn CategoryRepository;
    /// Cards.
    fn cards(&mut self) -> &mut dyn CardRepository;
    /// The copy of the bank's transactions.
    fn transactions(&mut self) -> &mut dyn TransactionRepository;
    /// Orders.
    fn orders(&mut self) -> &mut dyn OrderRepository;
    /// Replenishments.
    fn replenishments(&mut self) -> &mut dyn ReplenishmentRepository;
    /// Limit changes.
    fn limit_changes(&mut self) -> &mut dyn LimitChangeRepository;
    /// The ledger.
    fn ledger(&mut self) -> &mut dyn LedgerRepository;
    /// Work for the workers.
    fn jobs(&mut self) -> &mut dyn JobRepository;
    /// Sums over the whole books, for the check.
    fn reconciliation(&mut self) -> &mut dyn ReconciliationRepository;
    /// The audit log.
    fn audit(&mut self) -> &mut dyn AuditRepository;
}

/// Submits `body` and hands its result to `done` when it is certain: after the commit.
pub fn submit<T, E>(
    store: &dyn Store,
    access: Access,
    body: impl FnMut(&mut dyn UnitOfWork) -> Result<T, E> + Send + 'static,
    done: impl FnOnce(Result<T, E>) + Send + 'static,
) where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    submit_while(store, access, None, || true, body, done);
}

/// The same for work that loses its sense, because whoever wants it has gone or has no more time: it is not begun unless
/// it `is_wanted` when its turn comes. `done` learns [`StoreError::Busy`] then, and nothing has happened. `whose`: see
/// [`Store::submit_for`].
pub fn submit_while<T, E>(
    store: &dyn Store,
    access: Access,
    whose: Option<PartnerId>,
    is_wanted: impl Fn() -> bool + Send + 'static,
    mut body: impl FnMut(&mut dyn UnitOfWork) -> Result<T, E> + Send + 'static,
    done: impl FnOnce(Result<T, E>) + Send + 'static,
) where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    let slot: Arc<Mutex<Option<Result<T, E>>>> = Arc::new(Mutex::new(None));
    let filled = Arc::clone(&slot);
    let work: Work = Box::new(move |unit| {
        let result = if is_wanted() { body(unit) } else { Err(StoreError::Busy.into()) };
        let disposition = if result.is_ok() { Disposition::Commit } else { Disposition::RollBack };
        *filled.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        disposition
    });
    let done: Done = Box::new(move |ended| {
        let result = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        done(match (ended, result) {
            (Err(error), _) => Err(error.into()),
            (Ok(()), Some(result)) => result,
            (Ok(()), None) => Err(StoreError::Failed("the store did not run the work".to_owned()).into()),
        });
    });
    match whose {
        Some(partner) => store.submit_for(partner, access, work, done),
        None => store.submit(access, work, done),
    }
}

/// Runs `body` and waits for its result: for workers and commands, never on a thread that serves requests.
///
/// # Errors
/// What `body` answers, or the [`StoreError`] that kept it from being committed.
pub fn transact<T, E>(
    store: &dyn Store,
    access: Access,
    body: impl FnMut(&mut dyn UnitOfWork) -> Result<T, E> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    let (sender, receiver) = mpsc::sync_channel(1);
    submit(store, access, body, move |result| {
        // The receiver below waits until it has the result; if it is gone, nobody wants it.
        let _ = sender.send(result);
    });
    receiver
        .recv()
        .unwrap_or_else(|_| Err(StoreError::Failed("the store dropped the work".to_owned()).into()))
}
