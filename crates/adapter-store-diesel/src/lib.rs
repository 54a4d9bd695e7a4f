#![doc = include_str!("../README.md")]

mod audit_chain;
mod availability;
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
mod feed_signal;
mod files;
mod history;
mod kind;
mod limit_text;
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
mod terms_text;
#[cfg(feature = "testing")]
pub mod testing;
mod transaction;

pub use batched::BatchedStore;
pub use config::{AuditChain, AuditSettings, StoreConfig};
pub use connection::PoolState;
pub use dialect::migrations::{check_file, grant, migrate};
pub use dialect::{check_may_rewrite, rewrite, scrub};
pub use error::OpenError;
pub use files::DiskSpace;
pub use history::accept_history;
pub use kind::StoreKind;
pub use plain::PooledStore;
pub use server_url::{Protection, protection};
pub use store::OpenStore;
