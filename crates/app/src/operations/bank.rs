//! Metrics of bank requests, and the log lines of an outage of the bank.

use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use kopeck_domain::card_number::CardNumber;
use kopeck_domain::transaction::Transaction;
use kopeck_port_bank::{
    BankCard, BankError, BankGateway, BankKey, Capabilities, FeedEntry, FeedError, IssuedCard, RegistryEntry,
    RegistryError, RegistryPosition, Submission, Verdict,
};
use time::OffsetDateTime;

use super::Metrics;
use super::metrics::{BankCalls, BankOutcome};

/// A bank gateway that counts requests by outcome, and logs the beginning and the end of an outage.
pub struct InstrumentedBank {
    bank: Arc<dyn BankGateway>,
    metrics: Arc<Metrics>,
    outage: Mutex<BankOutage>,
}

/// Requests in a row without a response.
#[derive(Default)]
struct BankOutage {
    failed: u32,
    since: Option<Instant>,
}

/// So many requests in a row without a response are an outage: one that is lost is no news.
const OUTAGE: u32 = 2;

impl BankOutage {
    /// A request has failed with this error, or has a response.
    fn follow(&mut self, error: Option<&dyn Display>) {
        match error {
            Some(reason) => {
                self.failed = self.failed.saturating_add(1);
                self.since.get_or_insert_with(Instant::now);
                if self.failed == OUTAGE {
                    log::warn!(reason:% = reason; "bank unavailable");
                }
            }
            None => {
                let since = self.since.take();
                if std::mem::take(&mut self.failed) >= OUTAGE
                    && let Some(since) = since
                {
                    log::info!(after:% = Seconds(since); "bank available again");
                }
            }
        }
    }
}

/// The time since then, in whole seconds.
struct Seconds(Instant);

impl Display for Seconds {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}s", self.0.elapsed().as_secs())
    }
}

impl InstrumentedBank {
    /// Counts the requests of `bank` in `metrics`.
    #[must_use]
    pub fn new(bank: Arc<dyn BankGateway>, metrics: Arc<Metrics>) -> Self {
        Self { bank, metrics, outage: Mutex::default() }
    }

    /// Notes that the bank has responded, or not. Its own refusals are responses.
    fn note<T, E: Display>(&self, answer: &Result<T, E>, failed: impl FnOnce(&E) -> BankOutcome) {
        let error = answer.as_ref().err().filter(|error| !matches!(failed(error), BankOutcome::Done));
        let mut outage = self.outage.lock().unwrap_or_else(PoisonError::into_inner);
        outage.follow(error.map(|error| error as &dyn Display));
    }

    /// Makes a read request and counts it. `failed` says what an error counts as.
    fn measured<T, E: Display>(
        &self,
        calls: &BankCalls,
        failed: impl Fn(&E) -> BankOutcome,
        call: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let began = Instant::now();
        let answer = call();
        calls.took(began.elapsed());
        calls.count(answer.as_ref().map_or_else(&failed, |_| BankOutcome::Done));
        self.note(&answer, failed);
        answer
    }
}

fn of_error(error: &BankError) -> BankOutcome {
    match error {
        BankError::Unavailable(_) => BankOutcome::Unavailable,
        BankError::Unknown(_) => BankOutcome::Unknown,
    }
}

/// A bank without a feed, or with a later beginning, has responded.
fn of_feed_error(error: &FeedError) -> BankOutcome {
    match error {
        FeedError::NotSupported | FeedError::Forgotten { .. } => BankOutcome::Done,
        FeedError::Bank(error) => of_error(error),
    }
}

/// A bank without a registry has responded.
fn of_registry_error(error: &RegistryError) -> BankOutcome {
    match error {
        RegistryError::NotSupported => BankOutcome::Done,
        RegistryError::Bank(error) => of_error(error),
    }
}

impl BankGateway for InstrumentedBank {
    fn repeat_is_safe(&self) -> bool {
        self.bank.repeat_is_safe()
    }

    fn capabilities(&self) -> Capabilities {
        self.bank.capabilities()
    }

    fn read_capabilities(&self) -> Result<Capabilities, BankError> {
        self.bank.read_capabilities()
    }

    fn submit(&self, submissions: &[Submission]) -> Vec<Result<Verdict, BankError>> {
        let (calls, began) = (&self.metrics.bank().submit, Instant::now());
        let answers = self.bank.submit(submissions);
        calls.took(began.elapsed());
        for answer in &answers {
            calls.count(match answer {
                Ok(Verdict::Done | Verdict::Returned(_)) => BankOutcome::Done,
                Ok(Verdict::Declined(_)) => BankOutcome::Declined,
                Ok(Verdict::Pending) => BankOutcome::Unknown,
                Err(error) => of_error(error),
            });
        }
        // One that is lost among others is no outage.
        if let Some(answer) = answers.iter().find(|answer| answer.is_ok()).or(answers.first()) {
            self.note(answer, of_error);
        }
        answers
    }

    fn query(&self, keys: &[BankKey]) -> Result<Vec<Option<Verdict>>, BankError> {
        self.measured(&self.metrics.bank().query, of_error, || self.bank.query(keys))
    }

    fn issued_cards(&self, key: &BankKey, skip: u32, limit: u32) -> Result<Vec<IssuedCard>, BankError> {
        self.measured(&self.metrics.bank().issued_cards, of_error, || {
            self.bank.issued_cards(key, skip, limit)
        })
    }

    fn card(&self, number: CardNumber) -> Result<Option<BankCard>, BankError> {
        self.measured(&self.metrics.bank().card, of_error, || self.bank.card(number))
    }

    fn transactions(
        &self,
        number: CardNumber,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Transaction>, BankError> {
        self.measured(&self.metrics.bank().transactions, of_error, || {
            self.bank.transactions(number, after, limit)
        })
    }

    fn feed(&self, after: i64, limit: u32) -> Result<Vec<FeedEntry>, FeedError> {
        self.measured(&self.metrics.bank().feed, of_feed_error, || self.bank.feed(after, limit))
    }

    fn registry(
        &self,
        period: &Range<OffsetDateTime>,
        after: Option<RegistryPosition>,
        limit: u32,
    ) -> Result<Vec<RegistryEntry>, RegistryError> {
        self.measured(&self.metrics.bank().registry, of_registry_error, || {
            self.bank.registry(period, after, limit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_requests_in_a_row_without_a_response_are_an_outage() {
        let mut outage = BankOutage::default();
        let follow = |outage: &mut BankOutage, answered: bool| {
            outage.follow((!answered).then_some(&"down" as &dyn Display));
            outage.failed >= OUTAGE
        };
        let seen: Vec<bool> =
            [false, true, false, false, false, true].map(|answered| follow(&mut outage, answered)).to_vec();
        assert_eq!(seen, [false, false, false, true, true, false]);
        assert!(outage.since.is_none());
    }
}
