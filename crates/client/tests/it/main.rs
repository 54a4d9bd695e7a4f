//! The client against a service of the tests' own, over real connections.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a helper that panics fails its test, as it should"
)]

mod errors;
mod import;
mod lists;
mod operations;
mod programmes;
mod retries;
mod runs;
mod sealed;
mod stub;
mod tls;
mod tokens;
