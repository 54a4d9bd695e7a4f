//! The way to the bank, at each request of which the process may vanish.

use std::ops::Range;
use std::sync::Arc;

use kopeck_domain::card_number::CardNumber;
use kopeck_domain::transaction::Transaction;
use kopeck_port_bank::{
    BankCard, BankError, BankGateway, BankKey, FeedEntry, FeedError, IssuedCard, RegistryEntry,
    RegistryError, RegistryPosition, Submission, Verdict,
};
use time::OffsetDateTime;

use super::{BankFault, Chaos, crash};

/// The bank behind a process that crashes.
pub(crate) struct CrashingBank {
    inner: Arc<dyn BankGateway>,
    chaos: Arc<Chaos>,
}

impl CrashingBank {
    pub(crate) fn new(inner: Arc<dyn BankGateway>, chaos: Arc<Chaos>) -> Self {
        Self { inner, chaos }
    }

    fn call<T>(&self, call: impl FnOnce(&dyn BankGateway) -> T) -> T {
        match self.chaos.bank_fault() {
            None => call(&*self.inner),
            Some(BankFault::CrashBefore) => crash(),
            Some(BankFault::CrashAfter) => {
                call(&*self.inner);
                crash()
            }
        }
    }
}

impl BankGateway for CrashingBank {
    fn repeat_is_safe(&self) -> bool {
        self.inner.repeat_is_safe()
    }

    fn submit(&self, submissions: &[Submission]) -> Vec<Result<Verdict, BankError>> {
        self.call(|bank| bank.submit(submissions))
    }

    fn query(&self, keys: &[BankKey]) -> Result<Vec<Option<Verdict>>, BankError> {
        self.call(|bank| bank.query(keys))
    }

    fn issued_cards(&self, key: &BankKey, skip: u32, limit: u32) -> Result<Vec<IssuedCard>, BankError> {
        self.call(|bank| bank.issued_cards(key, skip, limit))
    }

    fn card(&self, number: CardNumber) -> Result<Option<BankCard>, BankError> {
        self.call(|bank| bank.card(number))
    }

    fn transactions(
        &self,
        number: CardNumber,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Transaction>, BankError> {
        self.call(|bank| bank.transactions(number, after, limit))
    }

    fn feed(&self, after: i64, limit: u32) -> Result<Vec<FeedEntry>, FeedError> {
        self.call(|bank| bank.feed(after, limit))
    }

    fn registry(
        &self,
        period: &Range<OffsetDateTime>,
        after: Option<RegistryPosition>,
        limit: u32,
    ) -> Result<Vec<RegistryEntry>, RegistryError> {
        self.call(|bank| bank.registry(period, after, limit))
    }
}
