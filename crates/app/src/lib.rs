#![doc = include_str!("../README.md")]

pub mod audit;
pub mod bank;
pub mod cli;
pub mod clock;
mod command_output;
mod commands;
pub mod compose;
mod connections;
pub mod daily_reconciliation;
pub mod deliveries;
pub mod folder;
pub mod keys;
pub mod liveness;
mod logging;
mod open_files;
pub mod operations;
mod operator;
pub mod periodic_check;
mod port;
mod service_output;
mod stop;
pub mod system;
pub mod system_clock;
pub mod tls;
pub mod workers;

pub use commands::run;
pub use service_output::{flush, report};
