#![doc = include_str!("../README.md")]

mod actors;
mod bank;
mod chaos;
mod invariants;
mod run;
mod sabotage;
pub mod store;
mod trace;
mod world;

pub use run::{Report, Violation, run};
pub use sabotage::Sabotage;
