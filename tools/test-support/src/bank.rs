//! A bank gateway over another, some of whose methods a test replaces.

use std::ops::Range;
use std::sync::Arc;

use kopeck_domain::card_number::CardNumber;
use kopeck_domain::transaction::Transaction;
use kopeck_port_bank::{
    BankCard, BankError, BankGateway, BankKey, FeedEntry, FeedError, IssuedCard, RegistryEntry,
    RegistryError, RegistryPosition, Submission, Verdict,
};
use time::OffsetDateTime;

type Verdicts = Vec<Result<Verdict, BankError>>;
type Found = Result<Vec<Option<Verdict>>, BankError>;
type Issued = Result<Vec<IssuedCard>, BankError>;

type Entries = Result<Vec<FeedEntry>, FeedError>;

type Feed = dyn Fn(&dyn BankGateway, i64, u32) -> Entries + Send + Sync;
type Listed = Result<Vec<RegistryEntry>, RegistryError>;
type Registry =
    dyn Fn(&dyn BankGateway, &Range<OffsetDateTime>, Option<RegistryPosition>, u32) -> Listed + Send + Sync;
type Made = Result<Vec<Transaction>, BankError>;
type Transactions = dyn Fn(&dyn BankGateway, CardNumber, i64, u32) -> Made + Send + Sync;
type Submit = dyn Fn(&dyn BankGateway, &[Submission]) -> Verdicts + Send + Sync;
type Query = dyn Fn(&dyn BankGateway, &[BankKey]) -> Found + Send + Sync;
type IssuedCards = dyn Fn(&dyn BankGateway, &BankKey, u32, u32) -> Issued + Send + Sync;

/// Passes every request on to the gateway below, but for the methods that were replaced.
pub struct FakeBank {
    bank: Arc<dyn BankGateway>,
    repeat_is_safe: Option<bool>,
    submit: Box<Submit>,
    query: Box<Query>,
    issued_cards: Box<IssuedCards>,
    feed: Box<Feed>,
    registry: Box<Registry>,
    transactions: Box<Transactions>,
}

impl FakeBank {
    /// A gateway that differs in nothing yet.
    #[must_use]
    pub fn over(bank: Arc<dyn BankGateway>) -> Self {
        Self {
            repeat_is_safe: None,
            submit: Box::new(|bank, submissions| bank.submit(submissions)),
            query: Box::new(|bank, keys| bank.query(keys)),
            issued_cards: Box::new(|bank, key, skip, limit| bank.issued_cards(key, skip, limit)),
            feed: Box::new(|bank, after, limit| bank.feed(after, limit)),
            registry: Box::new(|bank, period, after, limit| bank.registry(period, after, limit)),
            transactions: Box::new(|bank, card, after, limit| bank.transactions(card, after, limit)),
            bank,
        }
    }

    /// Replaces [`BankGateway::transactions`].
    #[must_use]
    pub fn on_transactions(
        self,
        transactions: impl Fn(&dyn BankGateway, CardNumber, i64, u32) -> Made + Send + Sync + 'static,
    ) -> Self {
        Self { transactions: Box::new(transactions), ..self }
    }

    /// Replaces [`BankGateway::feed`].
    #[must_use]
    pub fn on_feed(
        self,
        feed: impl Fn(&dyn BankGateway, i64, u32) -> Entries + Send + Sync + 'static,
    ) -> Self {
        Self { feed: Box::new(feed), ..self }
    }

    /// Replaces [`BankGateway::registry`].
    #[must_use]
    pub fn on_registry(
        self,
        registry: impl Fn(&dyn BankGateway, &Range<OffsetDateTime>, Option<RegistryPosition>, u32) -> Listed
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self { registry: Box::new(registry), ..self }
    }

    /// Replaces [`BankGateway::repeat_is_safe`].
    #[must_use]
    pub fn repeat_is_safe(self, repeat_is_safe: bool) -> Self {
        Self { repeat_is_safe: Some(repeat_is_safe), ..self }
    }

    /// Replaces [`BankGateway::submit`].
    #[must_use]
    pub fn on_submit(
        self,
        submit: impl Fn(&dyn BankGateway, &[Submission]) -> Verdicts + Send + Sync + 'static,
    ) -> Self {
        Self { submit: Box::new(submit), ..self }
    }

    /// Replaces [`BankGateway::query`].
    #[must_use]
    pub fn on_query(
        self,
        query: impl Fn(&dyn BankGateway, &[BankKey]) -> Found + Send + Sync + 'static,
    ) -> Self {
        Self { query: Box::new(query), ..self }
    }

    /// Replaces [`BankGateway::issued_cards`].
    #[must_use]
    pub fn on_issued_cards(
        self,
        issued_cards: impl Fn(&dyn BankGateway, &BankKey, u32, u32) -> Issued + Send + Sync + 'static,
    ) -> Self {
        Self { issued_cards: Box::new(issued_cards), ..self }
    }
}

impl BankGateway for FakeBank {
    fn repeat_is_safe(&self) -> bool {
        self.repeat_is_safe.unwrap_or_else(|| self.bank.repeat_is_safe())
    }

    fn submit(&self, submissions: &[Submission]) -> Verdicts {
        (self.submit)(&*self.bank, submissions)
    }

    fn query(&self, keys: &[BankKey]) -> Found {
        (self.query)(&*self.bank, keys)
    }

    fn issued_cards(&self, key: &BankKey, skip: u32, limit: u32) -> Issued {
        (self.issued_cards)(&*self.bank, key, skip, limit)
    }

    fn card(&self, number: CardNumber) -> Result<Option<BankCard>, BankError> {
        self.bank.card(number)
    }

    fn transactions(
        &self,
        number: CardNumber,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Transaction>, BankError> {
        (self.transactions)(&*self.bank, number, after, limit)
    }

    fn feed(&self, after: i64, limit: u32) -> Result<Vec<FeedEntry>, FeedError> {
        (self.feed)(&*self.bank, after, limit)
    }

    fn registry(
        &self,
        period: &Range<OffsetDateTime>,
        after: Option<RegistryPosition>,
        limit: u32,
    ) -> Result<Vec<RegistryEntry>, RegistryError> {
        (self.registry)(&*self.bank, period, after, limit)
    }
}
