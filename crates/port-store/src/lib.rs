#![doc = include_str!("../README.md")]

mod audit;
mod bank_feed;
mod card_batches;
mod credentials;
mod encryption;
mod error;
mod events;
mod jobs;
mod leavers;
mod movements;
mod observer;
mod outage;
pub mod page;
mod pending_deposits;
mod programmes;
mod records;
mod reports;
mod repositories;
mod request_log;
mod runs;
mod sealed_nonces;
pub mod session;
mod store;
mod users;
pub mod webhook;
mod webhooks;

#[cfg(feature = "contract")]
pub mod contract;
#[cfg(feature = "mock")]
pub mod mock;

pub use audit::{AuditFilter, AuditRepository, AuditSigner, HeadObserver, SignatureCheck};
pub use bank_feed::{BankFeedRepository, BankFeedState};
pub use card_batches::*;
pub use credentials::{CredentialRecord, CredentialRepository};
pub use encryption::{ColumnCipher, ColumnPlace, ReencryptionCursor};
pub use error::{Rule, StoreError};
pub use events::{EventRepository, FeedEvent, FeedListener};
pub use jobs::{Backlog, Claim, Horizon, JobClock, JobRepository, Reschedule, StuckJob, Subject};
pub use leavers::LeaverRepository;
pub use movements::{BookedMovement, KindTotal, MovementRepository};
pub use observer::{NoopObserver, StoreObserver};
pub use outage::Outage;
pub use pending_deposits::PendingDepositRepository;
pub use programmes::{Member, ProgrammeRepository};
pub use records::*;
pub use reports::{ClosedMonth, ReportPeriod, ReportPerson, ReportRepository, ReportRow};
pub use repositories::*;
pub use request_log::{
    LoggedRequest, NewestRequests, RequestLogFilter, RequestLogPage, RequestLogRepository, RequestRecord,
};
pub use runs::{RunDecision, RunFilter, RunItemFilter, RunOutcomes, RunRepository, RunRequest};
pub use sealed_nonces::{SealedNonceRepository, SpentNonce};
pub use store::{Access, Disposition, Done, Store, UnitOfWork, Work, submit, transact};
pub use users::{
    SecondFactor, SessionStage, TotpSecret, UserRecord, UserRepository, UserSessionRecord, UserUpload,
};
pub use webhooks::{
    ATTEMPT_HORIZON, DeliveryBacklog, EventRef, Lease, RedeliveryRange, SecretBytes, WebhookRecord,
    WebhookRepository,
};
