#![doc = include_str!("../README.md")]

pub mod bank;
pub mod cli;
mod command_output;
mod commands;
pub mod compose;
mod connections;
pub mod console;
pub mod keys;
pub mod operations;

pub use commands::run;
pub use kopeck_adapter_system::{flush, report};
