//! Metrics of the service's clocks.

use prometheus::{IntCounter, IntGauge};
use time::Duration;

use super::Registrar;

/// A clock that may step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockLabel {
    /// The machine's, for expiry.
    Machine,
    /// The database server's, for due times of jobs.
    Database,
}

impl ClockLabel {
    const fn label(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Database => "database",
        }
    }
}

/// Steps of the clocks, and their offsets.
pub(super) struct Clocks {
    /// Of the machine's and the database's, each ahead and back.
    steps: [[IntCounter; 2]; 2],
    offset: IntGauge,
    database_offset: IntGauge,
}

impl Clocks {
    pub(super) fn new(registrar: &Registrar<'_>) -> prometheus::Result<Self> {
        let steps = registrar.counters(
            "kopeck_clock_steps_total",
            "Steps of a clock by more than three seconds, by direction.",
            &["clock", "direction"],
        )?;
        let of = |clock: ClockLabel| -> prometheus::Result<[IntCounter; 2]> {
            Ok([
                steps.get_metric_with_label_values(&[clock.label(), "ahead"])?,
                steps.get_metric_with_label_values(&[clock.label(), "back"])?,
            ])
        };
        Ok(Self {
            steps: [of(ClockLabel::Machine)?, of(ClockLabel::Database)?],
            offset: registrar.gauge(
                "kopeck_clock_offset_seconds",
                "How far the machine's clock was set ahead since the start of the process; back if negative.",
            )?,
            database_offset: registrar.gauge(
                "kopeck_database_clock_offset_seconds",
                "How far the database server's clock is ahead of the machine's; behind if negative.",
            )?,
        })
    }

    /// Counts and logs a step of `clock`.
    pub(super) fn stepped(&self, clock: ClockLabel, by: Duration) {
        let [machine, database] = &self.steps;
        let [ahead, back] = match clock {
            ClockLabel::Machine => machine,
            ClockLabel::Database => database,
        };
        if by.is_negative() {
            back.inc();
        } else {
            ahead.inc();
        }
        log::warn!(seconds = by.whole_seconds(); "the {}'s clock was set; is it synchronised (NTP)?", clock.label());
    }

    /// Sets how far `clock` is ahead: the machine's of its time without steps, the database's of the machine's.
    pub(super) fn stands(&self, clock: ClockLabel, ahead: Duration) {
        let gauge = match clock {
            ClockLabel::Machine => &self.offset,
            ClockLabel::Database => &self.database_offset,
        };
        gauge.set(ahead.whole_seconds());
    }
}
