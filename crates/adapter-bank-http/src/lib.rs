//! The gateway to a bank across the network, by the protocol of `docs/BANK.md`.
//!
//! [`HttpBank`] implements `kopeck_port_bank::BankGateway`. Its rules:
//!
//! - A request that certainly never reached the bank, or that the bank refused with a 4xx, had no effect:
//!   `BankError::Unavailable`. Any other failure leaves the effect open: `BankError::Unknown`.
//! - Reads are retried, submissions never: their caller decides whether and when to send an instruction again.
//! - A concurrency limit refuses further requests, so that a bank that hangs does not take every thread with it.
//! - A circuit breaker pauses requests after several failures in a row; then one request decides how to go on.
//! - Neither the shared secret nor any data of an instruction or card is logged or part of an error.
//!
//! [`SimulatorControl`] implements `kopeck_port_bank::sandbox::SandboxControl` for a simulator across the network.
//!
//! All functions block, and must not be called from an async task.

mod address;
mod batch;
mod circuit_breaker;
mod concurrency_limit;
mod control;
mod gateway;
mod resilience;
mod tls;
mod transport;
mod transport_error;

pub use address::{BankAddress, ConfigError};
pub use control::SimulatorControl;
pub use gateway::HttpBank;
pub use resilience::{HttpBankSettings, ResilienceSettings};
pub use tls::{BankTls, ClientCertificate, PublicKeyPin};
