#![doc = include_str!("../README.md")]

pub mod accounts;
pub mod audit;
pub mod balance;
pub mod bank_feed;
pub mod bank_reconciliation;
pub mod card_batches;
pub mod card_blocks;
pub mod cards;
pub mod categories;
pub mod closings;
pub mod employees;
pub mod entries;
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
mod returns;
pub mod statement;
pub mod stuck;
#[cfg(test)]
mod testing;
pub mod tokens;
pub mod transactions;
pub mod webhooks;
pub mod withdrawals;
pub mod worker;

pub use env::{Env, Settings};
