//! The simulator from outside, as the service and the sandbox use it.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod bank;
mod bank_faults;
mod contract;
mod limits;
mod orders;
mod sandbox;
mod top_ups;
