//! The API in process, over mocked repositories: the whole pipeline.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of a test fail it by panicking, as the test itself does"
)]

mod audit;
mod cards;
mod checks;
mod client;
mod docs_page;
mod front_end;
mod idempotency;
mod results;
mod sandbox;
mod server;
mod structure;
mod support;
mod tokens;
