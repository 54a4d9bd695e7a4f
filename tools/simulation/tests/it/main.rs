//! Tests of the simulation: hundreds of seeds hold, and it bites.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test, as it should")]
mod bites;
mod seeds;
