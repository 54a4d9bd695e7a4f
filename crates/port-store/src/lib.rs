//! What the use cases ask of the database.
//!
//! A use case runs inside one *unit of work*: it reads, decides and writes through the repositories of a
//! [`UnitOfWork`], and all of it is committed together or not at all. The [`Store`] owns its threads and
//! connections; whoever submits work never holds a connection, and nothing can be left open.
//!
//! Two rules bind every caller: never call the bank inside a unit of work, and expect the work to be run more than
//! once (after a serialisation failure the store runs it again from the start).

mod audit;
mod error;
mod records;
mod repositories;
mod sealed_nonces;
mod store;
mod work;

#[cfg(feature = "contract")]
pub mod contract;
#[cfg(feature = "mock")]
pub mod mock;

pub use audit::{AuditFilter, AuditRepository, AuditSigner, HeadObserver, SignatureCheck};
pub use error::{Rule, StoreError};
pub use records::*;
pub use repositories::*;
pub use sealed_nonces::{SealedNonceRepository, SpentNonce};
pub use store::{Access, Done, Store, UnitOfWork, Verdict, Work, submit, submit_while, transact};
pub use work::{Backlog, Claim, Horizon, PutBack, StuckWork, Subject, WorkClock, WorkRepository};
