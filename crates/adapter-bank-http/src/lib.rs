//! The way to a bank across the network, by the protocol of `docs/BANK.md`.
//!
//! [`HttpBank`] implements `kopeck_port_bank::BankGateway`. Its rules:
//!
//! - What certainly never reached the bank, or what the bank refused with a 4xx, had no effect:
//!   `BankError::Unavailable`. Whatever else went wrong after a call was sent leaves its effect open:
//!   `BankError::Unknown`.
//! - Reads are tried again, submissions never: whether and when to send an instruction again is its caller's to decide.
//! - A bounded number of calls is on its way at once; one more is turned away, so that a bank that hangs does not take
//!   every thread with it.
//! - After a number of failures in a row no call is made for a while, then one, which decides how to go on.
//! - Neither the shared secret nor anything of an instruction or of a card is ever logged or part of an error.
//!
//! [`SimulatorControl`] makes the calls by which a sandbox rules a simulator across the network.
//!
//! Calls block, and must not be made from an asynchronous task.

mod address;
mod batch;
mod breaker;
mod control;
mod failure;
mod gate;
mod gateway;
mod guard;
mod tls;
mod transport;

pub use address::{BankAddress, ConfigError};
pub use control::{ControlError, SimulatorControl};
pub use gateway::HttpBank;
pub use guard::{GuardSettings, HttpBankSettings};
pub use tls::{BankTls, ClientCertificate, PublicKeyPin};
