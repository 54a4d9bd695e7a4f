//! A unit of work made of mockall mocks, and a store that runs work on it at once.

mod events;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Mutex, PoisonError};

use kopeck_audit::Signature;
use kopeck_domain::closing::Closings;
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::withdrawal::Withdrawals;

pub use self::events::FakeEvents;
pub use crate::audit::MockAuditRepository;
pub use crate::bank_feed::MockBankFeedRepository;
pub use crate::card_batches::MockCardBatchRepository;
pub use crate::credentials::MockCredentialRepository;
pub use crate::jobs::MockJobRepository;
pub use crate::leavers::MockLeaverRepository;
pub use crate::movements::MockMovementRepository;
pub use crate::pending_deposits::MockPendingDepositRepository;
pub use crate::programmes::MockProgrammeRepository;
pub use crate::reports::MockReportRepository;
pub use crate::repositories::{
    MockCardRepository, MockCategoryRepository, MockEmployeeRepository, MockIdempotencyRepository,
    MockLedgerRepository, MockOrderRepository, MockPartnerRepository, MockReconciliationRepository,
    MockSessionRepository, MockThrottleRepository, MockTransactionRepository,
};
pub use crate::request_log::MockRequestLogRepository;
pub use crate::runs::MockRunRepository;
pub use crate::sealed_nonces::MockSealedNonceRepository;
use crate::store::{Access, Done, Store, UnitOfWork, Work};
pub use crate::users::MockUserRepository;
pub use crate::webhooks::MockWebhookRepository;
use crate::{
    AuditRepository, AuditSigner, BankFeedRepository, CardBatchRepository, CardRepository,
    CategoryRepository, ColumnCipher, ColumnPlace, CredentialRepository, EmployeeRepository, EventRepository,
    IdempotencyRepository, JobRepository, LeaverRepository, LedgerRepository, MovementRepository,
    OrderRepository, PartnerRepository, PendingDepositRepository, ProgrammeRepository,
    ReconciliationRepository, ReportRepository, RequestLogRepository, RunRepository, SealedNonceRepository,
    SessionRepository, SignatureCheck, StoreError, ThrottleRepository, TransactionRepository, UserRepository,
    WebhookRepository,
};

macro_rules! mock_unit {
    ($($field:ident: $mock:ty as $repository:path;)*) => {
        /// A unit of work whose every repository but `events` is a mock; a call that a test did not expect fails it.
        #[derive(Default)]
        pub struct MockUnit {
            $(/// The mock behind the method of this name.
            pub $field: $mock,)*
        }

        impl UnitOfWork for MockUnit {
            $(fn $field(&mut self) -> &mut dyn $repository {
                &mut self.$field
            })*
        }
    };
}

mock_unit! {
    partners: MockPartnerRepository as PartnerRepository;
    credentials: MockCredentialRepository as CredentialRepository;
    sessions: MockSessionRepository as SessionRepository;
    users: MockUserRepository as UserRepository;
    throttle: MockThrottleRepository as ThrottleRepository;
    idempotency: MockIdempotencyRepository as IdempotencyRepository;
    sealed_nonces: MockSealedNonceRepository as SealedNonceRepository;
    employees: MockEmployeeRepository as EmployeeRepository;
    categories: MockCategoryRepository as CategoryRepository;
    cards: MockCardRepository as CardRepository;
    transactions: MockTransactionRepository as TransactionRepository;
    orders: MockOrderRepository as OrderRepository;
    replenishments: MockCardBatchRepository<TopUps> as CardBatchRepository<TopUps>;
    limit_changes: MockCardBatchRepository<LimitChanges> as CardBatchRepository<LimitChanges>;
    closings: MockCardBatchRepository<Closings> as CardBatchRepository<Closings>;
    withdrawals: MockCardBatchRepository<Withdrawals> as CardBatchRepository<Withdrawals>;
    runs: MockRunRepository as RunRepository;
    leavers: MockLeaverRepository as LeaverRepository;
    pending_deposits: MockPendingDepositRepository as PendingDepositRepository;
    programmes: MockProgrammeRepository as ProgrammeRepository;
    ledger: MockLedgerRepository as LedgerRepository;
    movements: MockMovementRepository as MovementRepository;
    jobs: MockJobRepository as JobRepository;
    reconciliation: MockReconciliationRepository as ReconciliationRepository;
    reports: MockReportRepository as ReportRepository;
    events: FakeEvents as EventRepository;
    bank_feed: MockBankFeedRepository as BankFeedRepository;
    webhooks: MockWebhookRepository as WebhookRepository;
    request_log: MockRequestLogRepository as RequestLogRepository;
    audit: MockAuditRepository as AuditRepository;
}

/// A store that runs every unit of work at once, on the caller's thread, on the unit it was given.
pub struct InPlaceStore<U> {
    unit: Mutex<U>,
}

impl<U: UnitOfWork + Send> InPlaceStore<U> {
    /// A store over `unit`.
    pub fn new(unit: U) -> Self {
        Self { unit: Mutex::new(unit) }
    }
}

impl<U: UnitOfWork + Send> Store for InPlaceStore<U> {
    fn submit(&self, _access: Access, mut work: Work, done: Done) {
        work(&mut *self.unit.lock().unwrap_or_else(PoisonError::into_inner));
        done(Ok(()));
    }
}

/// Signs under keys that are numbers, the first of them current. Anybody could compute these signatures.
pub struct FakeSigner(pub Vec<u8>);

impl FakeSigner {
    fn signature(key: u8, message: &[u8]) -> Signature {
        let mut hasher = DefaultHasher::new();
        (key, message).hash(&mut hasher);
        let mut code = [0; 32];
        code.iter_mut().zip(hasher.finish().to_be_bytes()).for_each(|(byte, from)| *byte = from);
        Signature { key: [key; 8], code }
    }
}

impl AuditSigner for FakeSigner {
    fn sign(&self, message: &[u8]) -> Signature {
        Self::signature(self.0.first().copied().unwrap_or_default(), message)
    }

    fn check(&self, message: &[u8], signature: &Signature) -> SignatureCheck {
        match self.0.iter().find(|key| signature.key == [**key; 8]) {
            Some(key) if Self::signature(*key, message) == *signature => SignatureCheck::Valid,
            Some(_) => SignatureCheck::Wrong,
            None => SignatureCheck::UnknownKey,
        }
    }

    fn is_current(&self, signature: &Signature) -> bool {
        self.0.first().is_some_and(|key| signature.key == [*key; 8])
    }
}

/// Encrypts under keys that are numbers, the first of them current. Anybody could decrypt it.
pub struct FakeCipher(pub Vec<u8>);

impl FakeCipher {
    fn key(&self) -> u8 {
        self.0.first().copied().unwrap_or_default()
    }

    fn digest(key: u8, place: &ColumnPlace<'_>) -> [u8; 8] {
        let mut hasher = DefaultHasher::new();
        (key, place.table, place.column, place.partner, place.row).hash(&mut hasher);
        hasher.finish().to_be_bytes()
    }
}

impl ColumnCipher for FakeCipher {
    fn encrypt(&self, place: &ColumnPlace<'_>, plaintext: &[u8]) -> Result<Vec<u8>, StoreError> {
        let mut stored = vec![self.key()];
        stored.extend(Self::digest(self.key(), place));
        stored.extend(plaintext.iter().map(|byte| !byte));
        Ok(stored)
    }

    fn decrypt(&self, place: &ColumnPlace<'_>, stored: &[u8]) -> Result<Vec<u8>, StoreError> {
        let text = stored.split_first().filter(|(key, _)| self.0.contains(key)).and_then(|(key, rest)| {
            rest.split_first_chunk().filter(|(digest, _)| **digest == Self::digest(*key, place))
        });
        let (_, text) =
            text.ok_or_else(|| StoreError::Corrupt(format!("{}.{}", place.table, place.column)))?;
        Ok(text.iter().map(|byte| !byte).collect())
    }

    fn digests(&self, column: &'static str, plaintext: &[u8]) -> Vec<[u8; 32]> {
        let digest = |key: &u8| FakeSigner::signature(*key, &[column.as_bytes(), plaintext].concat()).code;
        self.0.iter().map(digest).collect()
    }

    fn current_prefix(&self) -> Vec<u8> {
        vec![self.key()]
    }
}
