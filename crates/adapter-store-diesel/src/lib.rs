//! The store on diesel: SQLite and PostgreSQL, from one code base.
//!
//! The plain store ([`PooledStore`]) runs each unit of work in a transaction of its own, on a connection of an r2d2 pool. The
//! batched store ([`BatchedStore`]) adds threads on which units of work share transactions, commits and statements; nothing
//! of the plain store knows it. A transaction implements every repository. On PostgreSQL an advisory lock for each partner
//! stands in for SQLite's one writer (`transaction::locks`).
//!
//! Queries stay on the subset of diesel that its `MultiConnection` carries to every database. Differences stand in
//! `connection`, `dialect` and `statements`.
//!
//! [`migrate()`] brings a database up to date; a store refuses one that is not.
//!
//! ```no_run
//! # use std::sync::Arc;
//! use kopeck_adapter_store_diesel::{OpenError, OpenStore, StoreConfig, StoreKind, migrate};
//! # use kopeck_port_system::Clock;
//!
//! fn open(clock: Arc<dyn Clock>) -> Result<Arc<dyn OpenStore>, OpenError> {
//!     migrate("sqlite://kopeck.db")?;
//!     StoreKind::Plain.open(StoreConfig::new("sqlite://kopeck.db", clock))
//! }
//! ```

mod audit_chain;
mod batched;
mod condition;
mod config;
mod connection;
mod convert;
mod counters;
mod database;
mod dialect;
mod encryption;
mod error;
mod files;
mod kind;
mod limit_text;
mod observer;
mod outage;
mod plain;
mod queue;
mod repositories;
mod schema;
mod server_url;
mod single;
mod sql_types;
mod statements;
mod store;
#[cfg(feature = "testing")]
pub mod testing;
mod transaction;
mod update;

pub use batched::BatchedStore;
pub use config::{AuditChain, AuditSettings, StoreConfig};
pub use connection::PoolState;
pub use dialect::migrations::{grant, migrate};
pub use error::OpenError;
pub use files::DiskSpace;
pub use kind::StoreKind;
pub use observer::{NoopObserver, StoreObserver};
pub use outage::Outage;
pub use plain::PooledStore;
pub use server_url::{Protection, protection};
pub use store::OpenStore;
