//! Helpers that tests and tools share: seeded random numbers, a fake bank, a fault-injecting proxy,
//! and the imports of a crate.

mod bank;
mod proxy;
mod random;
mod structure;

pub use bank::FakeBank;
pub use proxy::{Proxy, Target};
pub use random::Random;
pub use structure::{Imports, SourceTree};
