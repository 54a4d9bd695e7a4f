//! The gateway against a simulator across the network, and against other servers.

#![expect(unreachable_pub, reason = "a test binary has no outside")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of a test fail it by panicking, as the test itself does"
)]

mod capabilities;
mod certificates;
mod contract;
mod control;
mod examples;
mod hostile;
mod layout;
mod log_lines;
mod openapi;
mod resilience;
mod script;
mod server;
mod test_bank;
mod tls;
