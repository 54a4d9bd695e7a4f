#![doc = include_str!("../README.md")]

mod activation_codes;
mod blocks;
mod card_issuer;
mod card_numbers;
mod cards;
mod clock_reading;
mod connection;
mod error;
mod faults;
mod feed;
mod fingerprint;
mod gateway;
mod idempotency;
mod instructions;
mod ledger;
mod limits;
mod purchases;
mod registry;
mod returns;
mod sandbox;
mod schema;
#[cfg(feature = "server")]
pub mod server;
mod simulator;
mod submit;
mod top_up;

pub use activation_codes::CODE_DAYS;
pub use card_issuer::MOST_CARDS_OF_AN_ORDER;
pub use cards::CARD_LIMIT;
pub use error::SimulatorError;
pub use ledger::{Discrepancy, LedgerTotals};
pub use simulator::Simulator;
