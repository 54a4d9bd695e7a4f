//! Helpers that tests and tools share: seeded random numbers and a fault-injecting proxy.

mod proxy;
mod random;

pub use proxy::{Proxy, Target};
pub use random::Random;
