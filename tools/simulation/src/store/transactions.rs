//! The copy of the bank's transactions.

use std::cmp::Reverse;

use kopeck_domain::Kopecks;
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::transaction::{Transaction, TransactionType};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{Rule, StoreError, TransactionFilter, TransactionRepository};
use time::OffsetDateTime;

use super::{State, Unit, page_of};

#[derive(Clone)]
pub(super) struct TransactionRow {
    partner: PartnerId,
    card: CardId,
    transaction: Transaction,
}

impl State {
    pub(super) fn transactions_of(
        &self,
        partner: PartnerId,
        card: CardId,
    ) -> impl Iterator<Item = &Transaction> {
        let rows = self.transactions.iter();
        rows.filter(move |row| row.partner == partner && row.card == card).map(|row| &row.transaction)
    }
}

/// What a transaction adds to what its card spent.
fn spending(transaction: &Transaction) -> Result<Kopecks, StoreError> {
    match transaction.kind {
        TransactionType::Payment => Ok(transaction.amount),
        TransactionType::Refund => transaction.amount.negated(),
        TransactionType::Replenishment | TransactionType::Reversal | TransactionType::Correction => {
            Ok(Kopecks::ZERO)
        }
    }
    .map_err(|overflow| StoreError::Corrupt(format!("transactions.amount: {overflow}")))
}

impl TransactionRepository for Unit {
    fn latest_id(&mut self, partner: PartnerId, card: CardId) -> Result<i64, StoreError> {
        Ok(self.state.transactions_of(partner, card).map(|one| one.id).max().unwrap_or(0))
    }

    fn append(
        &mut self,
        partner: PartnerId,
        card: CardId,
        transactions: &[Transaction],
        seen_at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let state = self.writing()?;
        match state.card_mut(partner, card) {
            Some(row) => row.record.transactions_seen_at = Some(seen_at),
            None if transactions.is_empty() => {}
            None => return Err(StoreError::Conflict(Rule::Reference)),
        }
        for transaction in transactions {
            if state.transactions_of(partner, card).all(|stored| stored.id != transaction.id) {
                state.transactions.push(TransactionRow { partner, card, transaction: transaction.clone() });
            }
        }
        Ok(())
    }

    fn spent(
        &mut self,
        partner: PartnerId,
        card: CardId,
        from: OffsetDateTime,
        until: OffsetDateTime,
    ) -> Result<Kopecks, StoreError> {
        let of_card = self.state.transactions_of(partner, card);
        let amounts: Vec<Kopecks> = of_card
            .filter(|one| (from..until).contains(&one.executed_at))
            .map(spending)
            .collect::<Result<_, _>>()?;
        Kopecks::sum(amounts)
            .map_err(|overflow| StoreError::Corrupt(format!("transactions.amount: {overflow}")))
    }

    fn list(
        &mut self,
        partner: PartnerId,
        card: CardId,
        filter: TransactionFilter,
        page: Page,
    ) -> Result<Listed<Transaction>, StoreError> {
        let of_card = self.state.transactions_of(partner, card);
        let mut fitting: Vec<Transaction> = of_card
            .filter(|one| filter.from.is_none_or(|from| one.executed_at >= from))
            .filter(|one| filter.before.is_none_or(|before| one.executed_at < before))
            .filter(|one| filter.kind.is_none_or(|kind| one.kind == kind))
            .cloned()
            .collect();
        fitting.sort_by_key(|one| Reverse((one.executed_at, one.id)));
        Ok(page_of(fitting, page))
    }
}
