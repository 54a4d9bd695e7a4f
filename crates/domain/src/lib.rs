#![doc = include_str!("../README.md")]

pub mod calendar;
pub mod card;
pub mod card_batch;
pub mod card_number;
pub mod category;
pub mod closing;
pub mod employee;
pub mod event;
mod fields;
pub mod ids;
mod invalid;
pub mod ledger;
pub mod limit;
pub mod limit_change;
pub mod money;
pub mod order;
pub mod partner;
pub mod payment;
pub mod person;
pub mod replenishment;
pub mod request;
mod string_enum;
pub mod text;
pub mod transaction;
pub mod withdrawal;

pub use invalid::Invalid;
pub use money::Kopecks;
