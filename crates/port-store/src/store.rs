//! Units of work: how they are submitted and what they can reach.

use std::sync::{Arc, Mutex, PoisonError, mpsc};

use kopeck_domain::closing::Closings;
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::withdrawal::Withdrawals;

use crate::{
    AuditRepository, BankFeedRepository, CardBatchRepository, CardRepository, CategoryRepository,
    CredentialRepository, EmployeeRepository, EventRepository, IdempotencyRepository, JobRepository,
    LeaverRepository, LedgerRepository, MovementRepository, OrderRepository, PartnerRepository,
    PendingDepositRepository, ProgrammeRepository, ReconciliationRepository, ReportRepository,
    RequestLogRepository, RunRepository, SealedNonceRepository, SessionRepository, StoreError,
    ThrottleRepository, TransactionRepository, UserRepository, WebhookRepository,
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

/// A database that runs units of work.
pub trait Store: Send + Sync {
    /// Queues `work` and returns at once. `done` is called exactly once, on a thread of the store, so it must not
    /// block. If `work` panics, it is rolled back and `done` learns [`StoreError::Failed`].
    fn submit(&self, access: Access, work: Work, done: Done);

    /// Runs `work` and waits for its end.
    ///
    /// # Errors
    /// [`StoreError`] if it was not committed, or not rolled back as it wished.
    fn run(&self, access: Access, work: Work) -> Result<(), StoreError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let done = move |ended| {
            // The receiver below waits for the result.
            let _ = sender.send(ended);
        };
        self.submit(access, work, Box::new(done));
        receiver.recv().unwrap_or_else(|_| Err(StoreError::Failed("the store dropped the work".to_owned())))
    }
}

/// The repositories as they stand within one transaction.
pub trait UnitOfWork {
    /// Partners and their keys.
    fn partners(&mut self) -> &mut dyn PartnerRepository;
    /// Scoped credentials.
    fn credentials(&mut self) -> &mut dyn CredentialRepository;
    /// Logins and token pairs.
    fn sessions(&mut self) -> &mut dyn SessionRepository;
    /// Users, their second factors and their sessions.
    fn users(&mut self) -> &mut dyn UserRepository;
    /// Failed logins and spent nonces.
    fn throttle(&mut self) -> &mut dyn ThrottleRepository;
    /// Recorded responses of idempotent requests.
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
    fn replenishments(&mut self) -> &mut dyn CardBatchRepository<TopUps>;
    /// Limit changes.
    fn limit_changes(&mut self) -> &mut dyn CardBatchRepository<LimitChanges>;
    /// Closings.
    fn closings(&mut self) -> &mut dyn CardBatchRepository<Closings>;
    /// Withdrawals.
    fn withdrawals(&mut self) -> &mut dyn CardBatchRepository<Withdrawals>;
    /// Runs.
    fn runs(&mut self) -> &mut dyn RunRepository;
    /// Leavers, and the partners' rules for them.
    fn leavers(&mut self) -> &mut dyn LeaverRepository;
    /// Deposits that wait for a second operator.
    fn pending_deposits(&mut self) -> &mut dyn PendingDepositRepository;
    /// Programmes, and the calendar.
    fn programmes(&mut self) -> &mut dyn ProgrammeRepository;
    /// The ledger.
    fn ledger(&mut self) -> &mut dyn LedgerRepository;
    /// The movements of the ledger.
    fn movements(&mut self) -> &mut dyn MovementRepository;
    /// Work for the workers.
    fn jobs(&mut self) -> &mut dyn JobRepository;
    /// Sums over the whole ledger, for the check.
    fn reconciliation(&mut self) -> &mut dyn ReconciliationRepository;
    /// What moved on the cards of each person in a month.
    fn reports(&mut self) -> &mut dyn ReportRepository;
    /// The partners' feeds of events.
    fn events(&mut self) -> &mut dyn EventRepository;
    /// The place in the bank's feed.
    fn bank_feed(&mut self) -> &mut dyn BankFeedRepository;
    /// Webhooks and their deliveries.
    fn webhooks(&mut self) -> &mut dyn WebhookRepository;
    /// The partners' request logs.
    fn request_log(&mut self) -> &mut dyn RequestLogRepository;
    /// The audit log.
    fn audit(&mut self) -> &mut dyn AuditRepository;
}

/// Implements [`UnitOfWork`] for a type that implements every repository.
#[macro_export]
macro_rules! unit_of_work {
    ($unit:ty) => {
        $crate::unit_of_work! { $unit:
            partners: PartnerRepository,
            credentials: CredentialRepository,
            sessions: SessionRepository,
            users: UserRepository,
            throttle: ThrottleRepository,
            idempotency: IdempotencyRepository,
            sealed_nonces: SealedNonceRepository,
            employees: EmployeeRepository,
            categories: CategoryRepository,
            cards: CardRepository,
            transactions: TransactionRepository,
            orders: OrderRepository,
            replenishments: CardBatchRepository<kopeck_domain::replenishment::TopUps>,
            limit_changes: CardBatchRepository<kopeck_domain::limit_change::LimitChanges>,
            closings: CardBatchRepository<kopeck_domain::closing::Closings>,
            withdrawals: CardBatchRepository<kopeck_domain::withdrawal::Withdrawals>,
            runs: RunRepository,
            leavers: LeaverRepository,
            pending_deposits: PendingDepositRepository,
            programmes: ProgrammeRepository,
            ledger: LedgerRepository,
            movements: MovementRepository,
            jobs: JobRepository,
            reconciliation: ReconciliationRepository,
            reports: ReportRepository,
            events: EventRepository,
            bank_feed: BankFeedRepository,
            webhooks: WebhookRepository,
            request_log: RequestLogRepository,
            audit: AuditRepository,
        }
    };
    ($unit:ty: $($method:ident: $repository:ident $(<$kind:path>)?,)*) => {
        impl $crate::UnitOfWork for $unit {
            $(fn $method(&mut self) -> &mut dyn $crate::$repository $(<$kind>)? {
                self
            })*
        }
    };
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
    let (work, result) = unit(body);
    store.submit(access, work, Box::new(move |ended| done(result.after(ended))));
}

/// Runs `body` and waits for its result: for workers and commands, never on a thread that serves requests.
///
/// # Errors
/// What `body` returns, or the [`StoreError`] that kept it from being committed.
pub fn transact<T, E>(
    store: &dyn Store,
    access: Access,
    body: impl FnMut(&mut dyn UnitOfWork) -> Result<T, E> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    let (work, result) = unit(body);
    result.after(store.run(access, work))
}

/// The result of the latest run of a unit of work.
struct Latest<T, E>(Arc<Mutex<Option<Result<T, E>>>>);

impl<T, E: From<StoreError>> Latest<T, E> {
    /// The result, once the store has `ended` the unit of work.
    fn after(self, ended: Result<(), StoreError>) -> Result<T, E> {
        ended?;
        let result = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        result.unwrap_or_else(|| Err(StoreError::Failed("the store did not run the work".to_owned()).into()))
    }
}

/// The unit of work that commits if `body` succeeds.
fn unit<T, E>(
    mut body: impl FnMut(&mut dyn UnitOfWork) -> Result<T, E> + Send + 'static,
) -> (Work, Latest<T, E>)
where
    T: Send + 'static,
    E: Send + 'static,
{
    let latest = Arc::new(Mutex::new(None));
    let filled = Arc::clone(&latest);
    let work: Work = Box::new(move |unit| {
        let result = body(unit);
        let disposition = if result.is_ok() { Disposition::Commit } else { Disposition::RollBack };
        *filled.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        disposition
    });
    (work, Latest(latest))
}
