//! Safety rules that can be switched off, at the ports alone: the service's own code has no switches for it. A
//! simulation that finds nothing wrong without one of them would prove nothing with all of them.

mod bank;
mod store;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use kopeck_port_bank::BankGateway;
use kopeck_port_store::Store;

use crate::store::Database;
use bank::{with_new_keys, with_timeouts_as_refusals, with_unsafe_retries};
use store::WithoutAttempts;

/// A safety rule that is switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sabotage {
    /// Each submission to the bank has a new key.
    FreshKeys,
    /// A timeout of the bank counts as a refusal.
    TimeoutIsRefusal,
    /// A worker settles a job that another has claimed since.
    NoAttemptCheck,
    /// Money is not held before it is sent, but taken when the bank is done.
    NoHold,
    /// An unsafe bank is taken for one whose retries are idempotent.
    UnsafeRepeats,
    /// A claim does not say that an earlier one may have sent something.
    ForgottenSending,
    /// Cards are not marked as sent to an unsafe bank.
    ForgottenMarks,
    /// Answers are not recorded under their idempotency keys.
    ForgottenAnswers,
    /// Nonces of sealed requests are not recorded.
    ForgottenNonces,
    /// Events are duplicated.
    DoubledEvents,
    /// A programme does not know which period has its run, and no key of the store stands in its way.
    ForgottenPeriods,
    /// The first item of a run is refused when the run is submitted.
    DroppedItems,
}

impl Sabotage {
    /// All there are.
    pub const ALL: [Self; 12] = [
        Self::FreshKeys,
        Self::TimeoutIsRefusal,
        Self::NoAttemptCheck,
        Self::NoHold,
        Self::UnsafeRepeats,
        Self::ForgottenSending,
        Self::ForgottenMarks,
        Self::ForgottenAnswers,
        Self::ForgottenNonces,
        Self::DoubledEvents,
        Self::ForgottenPeriods,
        Self::DroppedItems,
    ];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FreshKeys => "fresh-keys",
            Self::TimeoutIsRefusal => "timeout-is-refusal",
            Self::NoAttemptCheck => "no-attempt-check",
            Self::NoHold => "no-hold",
            Self::UnsafeRepeats => "unsafe-repeats",
            Self::ForgottenSending => "forgotten-sending",
            Self::ForgottenMarks => "forgotten-marks",
            Self::ForgottenAnswers => "forgotten-answers",
            Self::ForgottenNonces => "forgotten-nonces",
            Self::DoubledEvents => "doubled-events",
            Self::ForgottenPeriods => "forgotten-periods",
            Self::DroppedItems => "dropped-items",
        }
    }

    /// The trigger by which the database breaks the rule.
    pub(crate) const fn trigger(self) -> Option<&'static str> {
        match self {
            Self::NoHold => Some(store::NO_HOLD),
            Self::ForgottenSending => Some(store::FORGOTTEN_SENDING),
            Self::ForgottenMarks => Some(store::FORGOTTEN_MARKS),
            Self::ForgottenAnswers => Some(store::FORGOTTEN_ANSWERS),
            Self::ForgottenNonces => Some(store::FORGOTTEN_NONCES),
            Self::DoubledEvents => Some(store::DOUBLED_EVENTS),
            Self::ForgottenPeriods => Some(store::FORGOTTEN_PERIODS),
            Self::DroppedItems => Some(store::DROPPED_ITEMS),
            Self::NoAttemptCheck | Self::FreshKeys | Self::TimeoutIsRefusal | Self::UnsafeRepeats => None,
        }
    }

    /// The store as the sabotaged service sees it.
    pub(crate) fn of_store(self, store: Arc<dyn Store>, database: &Database) -> Arc<dyn Store> {
        match self {
            Self::NoAttemptCheck => Arc::new(WithoutAttempts::new(store, database)),
            _ => store,
        }
    }

    /// The bank as the sabotaged service sees it.
    pub(crate) fn of_bank(self, bank: Arc<dyn BankGateway>) -> Arc<dyn BankGateway> {
        match self {
            Self::FreshKeys => Arc::new(with_new_keys(bank)),
            Self::TimeoutIsRefusal => Arc::new(with_timeouts_as_refusals(bank)),
            Self::UnsafeRepeats => Arc::new(with_unsafe_retries(bank)),
            Self::NoAttemptCheck
            | Self::NoHold
            | Self::ForgottenSending
            | Self::ForgottenMarks
            | Self::ForgottenAnswers
            | Self::ForgottenNonces
            | Self::DoubledEvents
            | Self::ForgottenPeriods
            | Self::DroppedItems => bank,
        }
    }
}

impl fmt::Display for Sabotage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Sabotage {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|sabotage| sabotage.name() == text);
        found.ok_or_else(|| format!("must be one of {}", names()))
    }
}
