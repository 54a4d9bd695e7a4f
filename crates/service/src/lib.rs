#![doc = include_str!("../README.md")]

pub mod accounts;
pub mod audit;
pub mod balance;
pub mod bank_feed;
pub mod bank_reconciliation;
pub mod calendar;
pub mod card_batches;
pub mod card_blocks;
pub mod card_refs;
pub mod cards;
pub mod categories;
pub mod closings;
pub mod employees;
pub mod entries;
mod env;
pub mod events;
pub mod housekeeping;
pub mod idempotency;
pub mod leavers;
pub mod limits;
pub mod logins;
mod money;
pub mod orders;
pub mod partners;
pub mod password;
pub mod payments;
pub mod programmes;
pub mod reconciliation;
pub mod replenishments;
pub mod report;
pub mod request_log;
mod returns;
pub mod runs;
pub mod sessions;
pub mod statement;
pub mod stuck;
#[cfg(test)]
mod testing;
pub mod tokens;
pub mod transactions;
pub mod users;
pub mod webhooks;
pub mod withdrawals;
pub mod worker;

pub use env::{Env, Settings};

/// The outcome of a round of background work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// There may be more to do.
    More,
    /// There is nothing to do at present, or not before a pause.
    Idle,
    /// The bank has not responded to some of it.
    BankUnavailable,
}
