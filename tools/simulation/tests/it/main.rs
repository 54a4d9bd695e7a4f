//! Tests of the simulation: hundreds of seeds hold, and it bites.
#![expect(clippy::unwrap_used, reason = "helpers of the tests fail by panicking")]

mod bites;
mod seeds;
