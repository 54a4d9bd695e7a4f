//! The use cases of Kopeck, one file per group of verbs.
//!
//! A use case is a plain synchronous function over the ports. Most run inside one unit of work that the caller opens:
//! read, decide (the rules are `kopeck-domain`'s), write. Those that also ask the bank take the [`Store`] instead and
//! open their units of work themselves, because the bank is never called inside one.
//!
//! Architecture invariant: nothing here knows HTTP, SQL or the runtime.
//!
//! [`Store`]: kopeck_port_store::Store

pub mod accounts;
pub mod audit;
pub mod balance;
pub mod card_batches;
pub mod cards;
pub mod categories;
pub mod employees;
mod env;
pub mod events;
pub mod housekeeping;
pub mod idempotency;
pub mod limits;
mod money;
pub mod orders;
pub mod partners;
pub mod payments;
pub mod reconciliation;
pub mod replenishments;
pub mod stuck;
#[cfg(test)]
mod testing;
pub mod tokens;
pub mod transactions;
pub mod worker;

pub use env::{Env, Settings};
