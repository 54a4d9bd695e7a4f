#![doc = include_str!("../README.md")]

pub mod bank;
pub mod cli;
mod command_output;
mod commands;
pub mod compose;
mod connections;
pub mod daily_reconciliation;
pub mod deliveries;
pub mod keys;
pub mod liveness;
pub mod operations;
pub mod periodic_check;
mod stop;
pub mod workers;

pub use commands::run;
pub use kopeck_adapter_system::{flush, report};
