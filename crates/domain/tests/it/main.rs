//! Tests of the crate from outside.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test, as it should")]

mod examples;
mod public_api;
#[cfg(feature = "serde")]
mod round_trip;
#[cfg(feature = "serde")]
mod stored_events;
