#![doc = include_str!("../README.md")]

mod actors;
mod bank;
mod chaos;
mod invariants;
mod run;
mod sabotage;
mod store;
mod trace;
mod violation;
mod world;

pub use run::{Report, Simulation};
pub use sabotage::Sabotage;
pub use violation::Violation;
