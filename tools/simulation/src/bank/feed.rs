//! The bank's feed, and what it does to a reader: entries come twice, late, or never, and old ones are forgotten.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::event::DeclinedPurchase;
use kopeck_domain::payment::PaymentRefusal;
use kopeck_domain::transaction::{Transaction, TransactionType};
use kopeck_port_bank::{BankKey, FeedChange, FeedEntry, FeedError, RegistryEntry, RegistryPosition};
use time::OffsetDateTime;

use kopeck_test_support::Random;

/// Cards' transactions, and the feed of them.
#[derive(Default)]
pub(super) struct Feed {
    transactions: BTreeMap<CardNumber, Vec<Transaction>>,
    /// The instructions that caused transactions, by their ids.
    causes: BTreeMap<i64, BankKey>,
    last_id: i64,
    entries: Vec<FeedEntry>,
    /// Numbers of entries that are not visible yet.
    late: BTreeSet<i64>,
    /// Entries up to this number are gone.
    forgotten: i64,
    /// How many purchases of each card were declined.
    declined: BTreeMap<CardNumber, usize>,
}

impl Feed {
    /// Adds a transaction of a card, caused by the instruction under `key` if by any. `dice` are there if something may
    /// go wrong.
    pub(super) fn book(
        &mut self,
        card: CardNumber,
        key: Option<&BankKey>,
        kind: TransactionType,
        amount: Kopecks,
        at: OffsetDateTime,
        dice: Option<&Random>,
    ) {
        self.last_id += 1;
        if let Some(key) = key {
            self.causes.insert(self.last_id, key.clone());
        }
        let transaction = Transaction {
            id: self.last_id,
            executed_at: at,
            kind,
            amount,
            place: None,
            mcc: None,
            merchant_id: None,
        };
        let earlier = self.transactions.entry(card).or_default();
        let previous = earlier.last().map_or(0, |last| last.id);
        earlier.push(transaction.clone());
        self.tell(card, FeedChange::Transaction { transaction, previous }, at, dice);
    }

    /// Adds a purchase that was declined. Its entry is never lost, because nothing else tells of it.
    pub(super) fn decline(&mut self, card: CardNumber, amount: Kopecks, at: OffsetDateTime) {
        *self.declined.entry(card).or_default() += 1;
        let reason = Some(PaymentRefusal::InsufficientBalance);
        let purchase = DeclinedPurchase { at, amount, reason, place: None, mcc: None, merchant_id: None };
        self.push(card, FeedChange::Declined(purchase), at);
    }

    /// Adds an entry; it may be lost, come twice or late.
    pub(super) fn tell(
        &mut self,
        card: CardNumber,
        change: FeedChange,
        at: OffsetDateTime,
        dice: Option<&Random>,
    ) {
        let chance = |of_thousand| dice.is_some_and(|dice| dice.chance(of_thousand));
        if chance(50) {
            return;
        }
        if chance(100) {
            self.push(card, change.clone(), at);
        }
        self.push(card, change, at);
        if chance(200) {
            self.late.insert(self.next() - 1);
        }
    }

    fn push(&mut self, card: CardNumber, change: FeedChange, at: OffsetDateTime) {
        let seq = self.next();
        self.entries.push(FeedEntry { seq, at, card, change });
        // Nothing is later than a reader looks back.
        self.late.retain(|late| seq - late < 50);
    }

    fn next(&self) -> i64 {
        self.entries.last().map_or(0, |last| last.seq) + 1
    }

    /// What was late is visible.
    pub(super) fn show_all(&mut self) {
        self.late.clear();
    }

    /// Forgets everything up to an entry.
    pub(super) fn forget(&mut self, dice: &Random) {
        self.forgotten =
            self.forgotten.max(i64::try_from(dice.below(self.next().unsigned_abs())).unwrap_or(0));
    }

    pub(super) fn has_forgotten(&self) -> bool {
        self.forgotten > 0
    }

    pub(super) fn declines(&self, card: CardNumber) -> usize {
        self.declined.get(&card).copied().unwrap_or(0)
    }

    pub(super) fn transactions(&self, card: CardNumber) -> &[Transaction] {
        self.transactions.get(&card).map_or(&[], Vec::as_slice)
    }

    pub(super) fn registry(
        &self,
        period: &Range<OffsetDateTime>,
        after: Option<RegistryPosition>,
        limit: u32,
    ) -> Vec<RegistryEntry> {
        let of_card = |(card, made): (&CardNumber, &Vec<Transaction>)| {
            let card = *card;
            let entry = |transaction: &Transaction| RegistryEntry {
                card,
                transaction: transaction.clone(),
                key: self.causes.get(&transaction.id).cloned(),
            };
            made.iter().map(entry).collect::<Vec<_>>()
        };
        let all = self.transactions.iter().flat_map(of_card);
        let within = all.filter(|entry| period.contains(&entry.transaction.executed_at));
        let behind = within.filter(|entry| after.is_none_or(|after| entry.position() > after));
        behind.take(usize::try_from(limit).unwrap_or(usize::MAX)).collect()
    }

    pub(super) fn read(&self, after: i64, limit: u32) -> Result<Vec<FeedEntry>, FeedError> {
        if after < self.forgotten {
            return Err(FeedError::Forgotten { oldest: self.forgotten + 1 });
        }
        let visible =
            self.entries.iter().filter(|entry| entry.seq > after && !self.late.contains(&entry.seq));
        Ok(visible.take(usize::try_from(limit).unwrap_or(usize::MAX)).cloned().collect())
    }
}
