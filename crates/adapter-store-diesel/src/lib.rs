//! The store on diesel: SQLite and PostgreSQL, from one code base.
//!
//! [`DieselStore`] owns its threads. Some write, on SQLite one: each takes the units of work that wait, runs them in one
//! transaction, each in a savepoint where it needs one, and commits once, so that one `fsync` answers for all of them;
//! `done` is called after the commit. The others read, each on its own connection. The queues are bounded; what does not
//! fit is refused at once. A watch answers for a thread whose database is silent (`watch`) and finds
//! out whether one that fails can be written again (`condition`). On PostgreSQL units of work
//! that are run together share their look-ups and inserts too (`memory`), a lock for each partner stands in for SQLite's
//! one writer (`locks`), and a connection that is lost is made again (`unit`).
//!
//! Queries stay on the subset of diesel that its `MultiConnection` carries to every database. What differs stands in
//! `dialect`, with `bulk` beside it for statements over thousands of rows, and nowhere else.
//!
//! [`migrate()`] brings a database up to date; [`DieselStore::open`] refuses one that is not.
//!
//! ```no_run
//! # use std::sync::Arc;
//! use kopeck_adapter_store_diesel::{DieselStore, OpenError, StoreConfig, migrate};
//! # use kopeck_port_system::Clock;
//!
//! fn open(clock: Arc<dyn Clock>) -> Result<DieselStore, OpenError> {
//!     migrate("sqlite://kopeck.db")?;
//!     DieselStore::open(StoreConfig::new("sqlite://kopeck.db", clock))
//! }
//! ```

mod audit_chain;
mod bulk;
mod condition;
mod convert;
mod counters;
mod crew;
mod dialect;
mod encryption;
mod error;
mod files;
mod hand;
mod limit_text;
mod migrate;
mod observer;
mod outage;
mod postgres;
mod probe;
mod queue;
mod repositories;
mod schema;
mod server_url;
mod sqlite;
mod statements;
mod store;
#[cfg(feature = "testing")]
pub mod testing;
mod threads;
mod transaction;
mod update;
mod watch;
mod work_time;

pub use error::OpenError;
pub use files::DiskSpace;
pub use migrate::{grant, migrate};
pub use observer::{StoreObserver, Unobserved};
pub use outage::Outage;
pub use server_url::{Protection, protection};
pub use store::{AuditChain, AuditSettings, DieselStore, StoreConfig};
