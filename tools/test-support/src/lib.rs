//! Helpers that tests and tools share: seeded random numbers, a fake bank, a fault-injecting proxy.

mod bank;
mod proxy;
mod random;

pub use bank::FakeBank;
pub use proxy::{Proxy, Target};
pub use random::Random;
