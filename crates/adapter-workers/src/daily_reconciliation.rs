//! The daily comparison of the day before with the bank's registry.

use std::sync::Arc;

use kopeck_audit::{Entry, Outcome};
use kopeck_domain::calendar::date_text;
use kopeck_domain::limit::TimeOfDay;
use kopeck_port_store::{Access, Store, transact};
use kopeck_service::Env;
use kopeck_service::bank_reconciliation::{BankReconciler, Difference, ReconcileError};
use time::{Date, Duration, OffsetDateTime};

use crate::liveness::Heartbeat;
use crate::stop::Stop;

/// How often the clock is looked at.
const POLL_INTERVAL: std::time::Duration = std::time::Duration::from_secs(1);
/// The most differences of a day in the log; `kopeck reconcile` has all of them.
const MOST_LOGGED: usize = 20;

/// Learns of comparisons.
pub trait ReconciliationObserver: Send + Sync {
    /// A day was compared, and so much differs.
    fn compared(&self, at: OffsetDateTime, differences: usize);
    /// A day could not be compared.
    fn failed(&self);
}

/// Compares each day once, from a time of the next day on.
pub struct DailyReconciliation {
    /// Compares.
    pub reconciler: BankReconciler,
    /// For the audit log.
    pub store: Arc<dyn Store>,
    /// Clock and zone.
    pub env: Arc<Env>,
    /// From when on the day before is compared.
    pub from: TimeOfDay,
    /// The entry of a comparison in the audit log, but for time, subject and outcome.
    pub entry: Entry,
    /// Metrics.
    pub observer: Arc<dyn ReconciliationObserver>,
}

impl DailyReconciliation {
    /// The pause after a comparison that did not come to its end.
    pub const RETRY_AFTER: Duration = Duration::minutes(10);

    /// Compares until a stop request. After a start, the day before is compared once more.
    pub(crate) fn run(self, stop: &Stop, heartbeat: &Heartbeat) {
        let (mut done, mut not_before) = (None, Duration::ZERO);
        while !stop.wait(POLL_INTERVAL) {
            heartbeat.beat();
            let now = self.env.clock.steady();
            let Some(day) = self.due().filter(|day| done != Some(*day) && now >= not_before) else {
                continue;
            };
            let stopping = || {
                heartbeat.beat();
                stop.is_requested()
            };
            if self.compare(day, &stopping) {
                done = Some(day);
            } else {
                not_before = now + Self::RETRY_AFTER;
            }
        }
    }

    /// The day to compare by now, if the time has come.
    fn due(&self) -> Option<Date> {
        due(self.env.now().to_offset(self.env.settings.zone.offset()), self.from)
    }

    /// Compares a day and tells the operators; returns whether it came to its end.
    fn compare(&self, day: Date, stopping: &dyn Fn() -> bool) -> bool {
        let mut differences = 0;
        let mut report = |difference: Difference| {
            differences += 1;
            if differences <= MOST_LOGGED {
                log_difference(&difference);
            }
        };
        let compared = self.reconciler.compare(&(day..=day), stopping, &mut report);
        let day = date_text(day);
        match &compared {
            Ok(_) => {
                self.observer.compared(self.env.now(), differences);
                if differences == 0 {
                    log::info!(day = day.as_str(); "the bank's registry and the service's records agree");
                } else {
                    log::error!(day = day.as_str(), differences = differences;
                        "the bank's registry and the service's records differ: see `kopeck reconcile`");
                }
            }
            Err(ReconcileError::Stopped) => return false,
            Err(error) => {
                self.observer.failed();
                log::error!(day = day.as_str(), error:% = error; "a day could not be compared with the bank");
            }
        }
        let outcome = if compared.is_ok() { Outcome::Done } else { Outcome::Failed };
        let subject = format!("from:{day} to:{day} differences:{differences}");
        // The real time: the sandbox moves the service's clock, and not this log's.
        let at = self.env.clock.now() - self.env.clock.ahead();
        let entry = Entry { at, subject, outcome, ..self.entry.clone() };
        if let Err(error) = transact(&*self.store, Access::Write, move |unit| unit.audit().append(&entry)) {
            log::error!(error:% = error; "an entry of the audit log could not be written");
        }
        compared.is_ok()
    }
}

fn log_difference(difference: &Difference) {
    let Difference { day, partner: _, card, transaction, key, here, there, kind } = difference;
    let amount =
        |amount: Option<kopeck_domain::Kopecks>| amount.map_or_else(String::new, |one| one.to_string());
    log::warn!(
        day = date_text(*day).as_str(),
        card:% = card,
        transaction:? = transaction,
        key = key.as_ref().map_or("", |key| key.as_str()),
        here = amount(*here).as_str(),
        bank = amount(*there).as_str();
        "a difference to the bank: {kind}"
    );
}

/// The day before `now`, from the time `from` on.
fn due(now: OffsetDateTime, from: TimeOfDay) -> Option<Date> {
    let minutes = u16::from(now.hour()) * 60 + u16::from(now.minute());
    (minutes >= from.minutes()).then(|| now.date().previous_day()).flatten()
}

#[cfg(test)]
mod tests {
    use time::macros::{date, datetime};

    use super::*;

    #[test]
    fn the_day_before_is_due_from_the_time_on() {
        let from = TimeOfDay::parse("06:30").unwrap();
        for (now, expected) in [
            (datetime!(2026-03-02 00:00 +3), None),
            (datetime!(2026-03-02 06:29:59 +3), None),
            (datetime!(2026-03-02 06:30 +3), Some(date!(2026 - 03 - 01))),
            (datetime!(2026-03-02 23:59 +3), Some(date!(2026 - 03 - 01))),
        ] {
            assert_eq!(due(now, from), expected, "{now}");
        }
    }
}
