#![doc = include_str!("../README.md")]

mod daily_reconciliation;
mod deliveries;
mod failures;
mod liveness;
mod periodic_check;
mod stop;
mod workers;

pub use daily_reconciliation::{DailyReconciliation, ReconciliationObserver};
pub use deliveries::{Deliverer, DeliveryObserver};
pub use liveness::{HANG_TIMEOUT, Heartbeat, LivenessRegistry, LivenessReport};
pub use periodic_check::PeriodicCheck;
pub use workers::{BackgroundWork, Workers};
