//! Metrics of requests to the bank.

use std::time::Duration;

use prometheus::{Histogram, IntCounter};

use super::Registrar;

/// Upper bounds of latency buckets, in seconds.
const BANK_BUCKETS: [f64; 10] = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// Bank requests.
pub(in crate::operations) struct Bank {
    pub(in crate::operations) submit: BankCalls,
    pub(in crate::operations) query: BankCalls,
    pub(in crate::operations) issued_cards: BankCalls,
    pub(in crate::operations) card: BankCalls,
    pub(in crate::operations) transactions: BankCalls,
    pub(in crate::operations) feed: BankCalls,
    pub(in crate::operations) registry: BankCalls,
}

/// Bank requests of one kind.
pub(in crate::operations) struct BankCalls {
    seconds: Histogram,
    outcomes: [IntCounter; 4],
}

/// The outcome of a bank request; of a submission, of each instruction.
#[derive(Debug, Clone, Copy)]
pub(in crate::operations) enum BankOutcome {
    Done,
    Declined,
    Unavailable,
    Unknown,
}

impl BankOutcome {
    const LABELS: [&'static str; 4] = ["done", "declined", "unavailable", "unknown"];
}

impl Bank {
    pub(super) fn new(registrar: &Registrar<'_>) -> prometheus::Result<Self> {
        let calls = registrar.counters(
            "kopeck_bank_calls_total",
            "Bank requests by outcome; of submissions, each instruction.",
            &["call", "outcome"],
        )?;
        let seconds = registrar.histograms(
            "kopeck_bank_call_seconds",
            "Latency of bank requests.",
            &["call"],
            &BANK_BUCKETS,
        )?;
        let of = |call: &str| -> prometheus::Result<BankCalls> {
            let [done, declined, unavailable, unknown] =
                BankOutcome::LABELS.map(|outcome| calls.get_metric_with_label_values(&[call, outcome]));
            Ok(BankCalls {
                seconds: seconds.get_metric_with_label_values(&[call])?,
                outcomes: [done?, declined?, unavailable?, unknown?],
            })
        };
        Ok(Self {
            submit: of("submit")?,
            query: of("query")?,
            issued_cards: of("issued_cards")?,
            card: of("card")?,
            transactions: of("transactions")?,
            feed: of("feed")?,
            registry: of("registry")?,
        })
    }
}

impl Bank {
    /// The kinds of requests, each with its counts by outcome and its mean time in milliseconds.
    pub(in crate::operations) fn calls(&self) -> [(&'static str, [u64; 4], u64); 7] {
        let Self { submit, query, issued_cards, card, transactions, feed, registry } = self;
        [
            ("submit", submit),
            ("query", query),
            ("issued_cards", issued_cards),
            ("card", card),
            ("transactions", transactions),
            ("feed", feed),
            ("registry", registry),
        ]
        .map(|(name, calls)| {
            (name, calls.outcomes.each_ref().map(IntCounter::get), calls.mean_milliseconds())
        })
    }
}

impl BankCalls {
    fn mean_milliseconds(&self) -> u64 {
        let (sum, count) = (self.seconds.get_sample_sum(), self.seconds.get_sample_count());
        if count == 0 {
            return 0;
        }
        let mean = Duration::try_from_secs_f64(sum).unwrap_or_default().as_millis() / u128::from(count);
        u64::try_from(mean).unwrap_or(u64::MAX)
    }

    pub(in crate::operations) fn took(&self, time: Duration) {
        self.seconds.observe(time.as_secs_f64());
    }

    pub(in crate::operations) fn count(&self, outcome: BankOutcome) {
        let [done, declined, unavailable, unknown] = &self.outcomes;
        match outcome {
            BankOutcome::Done => done.inc(),
            BankOutcome::Declined => declined.inc(),
            BankOutcome::Unavailable => unavailable.inc(),
            BankOutcome::Unknown => unknown.inc(),
        }
    }
}
