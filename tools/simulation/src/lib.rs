//! A simulation of the whole service at its ports, in one process and one thread.
//!
//! Partners call the use cases, workers of several processes take, call and settle, the accounts are refreshed; the
//! clock is virtual, the store is in memory, and the bank does what it likes: it loses answers, takes instructions
//! late, goes down. Processes vanish at any call to a port and pause beyond their leases. Which of them does what
//! next is drawn from a sequence that a seed names: one seed is one run, the same every time.
//!
//! Some things must hold whenever something was committed, others once all faults have ended and the workers have
//! nothing left to do. See [`run()`].

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
