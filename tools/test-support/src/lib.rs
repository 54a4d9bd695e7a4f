#![doc = include_str!("../README.md")]

mod bank;
mod proxy;
mod random;
mod structure;

pub use bank::FakeBank;
pub use proxy::{Proxy, Target};
pub use random::Random;
pub use structure::{Imports, SourceTree};
