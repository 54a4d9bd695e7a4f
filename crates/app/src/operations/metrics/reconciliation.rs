//! Metrics of the comparison with the bank.

use prometheus::{IntCounter, IntGauge};
use time::OffsetDateTime;

use super::{Metrics, Registrar};
use kopeck_adapter_workers::ReconciliationObserver;

/// The outcome of the daily comparisons.
pub(super) struct Reconciliation {
    last: IntGauge,
    differences: IntGauge,
    failures: IntCounter,
}

impl Reconciliation {
    pub(super) fn new(registrar: &Registrar<'_>) -> prometheus::Result<Self> {
        Ok(Self {
            last: registrar.gauge(
                "kopeck_reconciliation_last_timestamp_seconds",
                "When a day was last compared with the bank's registry, Unix time; 0 if none was since the start.",
            )?,
            differences: registrar.gauge(
                "kopeck_reconciliation_differences",
                "Differences between the bank's registry and the service's records on the day that was last compared.",
            )?,
            failures: registrar.counter(
                "kopeck_reconciliation_failures_total",
                "Attempts to compare a day with the bank's registry that did not come to their end.",
            )?,
        })
    }
}

impl ReconciliationObserver for Metrics {
    fn compared(&self, at: OffsetDateTime, differences: usize) {
        self.reconciliation.last.set(at.unix_timestamp());
        self.reconciliation.differences.set(i64::try_from(differences).unwrap_or(i64::MAX));
    }

    fn failed(&self) {
        self.reconciliation.failures.inc();
    }
}
