#![doc = include_str!("../README.md")]

mod audit;
mod bank_feed;
mod card_batches;
mod encryption;
mod error;
mod events;
mod jobs;
mod movements;
mod observer;
mod outage;
pub mod page;
mod records;
mod repositories;
mod sealed_nonces;
pub mod session;
mod store;
pub mod webhook;
mod webhooks;

#[cfg(feature = "contract")]
pub mod contract;
#[cfg(feature = "mock")]
pub mod mock;

pub use audit::{AuditFilter, AuditRepository, AuditSigner, HeadObserver, SignatureCheck};
pub use bank_feed::{BankFeedRepository, BankFeedState};
pub use card_batches::*;
pub use encryption::{ColumnCipher, ColumnPlace, ReencryptionCursor};
pub use error::{Rule, StoreError};
pub use events::{EventRepository, FeedEvent, FeedListener};
pub use jobs::{Backlog, Claim, Horizon, JobClock, JobRepository, Reschedule, StuckJob, Subject};
pub use movements::{BookedMovement, KindTotal, MovementRepository};
pub use observer::{NoopObserver, StoreObserver};
pub use outage::Outage;
pub use records::*;
pub use repositories::*;
pub use sealed_nonces::{SealedNonceRepository, SpentNonce};
pub use store::{Access, Disposition, Done, Store, UnitOfWork, Work, submit, transact};
pub use webhooks::{
    ATTEMPT_HORIZON, DeliveryBacklog, EventRef, Lease, RedeliveryRange, SecretBytes, WebhookRecord,
    WebhookRepository,
};
