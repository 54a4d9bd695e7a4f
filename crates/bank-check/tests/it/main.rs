//! The rules against the simulator, as it is and as a poor bank.

#![expect(unreachable_pub, reason = "a test binary has no outside")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of a test fail it by panicking, as the test itself does"
)]

mod bank;
mod mistakes;
mod simulator;
mod tutorial;
