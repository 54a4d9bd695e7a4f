#![doc = include_str!("../README.md")]

mod address;
mod batch;
mod broken_rule;
mod circuit_breaker;
mod clock_sync;
mod concurrency_limit;
mod control;
mod gateway;
mod probe;
mod resilience;
mod tls;
mod transport;
mod transport_error;

pub use address::{BankAddress, ConfigError};
pub use clock_sync::SynchronisedClock;
pub use control::SimulatorControl;
pub use gateway::HttpBank;
pub use probe::{BankProbe, NoResponse, ProbeResponse};
pub use resilience::{HttpBankSettings, ResilienceSettings};
pub use tls::{BankTls, ClientCertificate, PublicKeyPin};
