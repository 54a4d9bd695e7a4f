//! The copy of the bank's transactions.

use std::cmp::Reverse;

use kopeck_domain::Kopecks;
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::transaction::Transaction;
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{
    PartnerTransaction, Rule, StoreError, TransactionFilter, TransactionQuery, TransactionRepository,
};
use time::OffsetDateTime;

use super::{State, Unit, amount, page_of};

#[derive(Clone)]
pub(super) struct TransactionRow {
    partner: PartnerId,
    card: CardId,
    /// Counts the partner's transactions, from 1.
    seq: i64,
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
    let spending = transaction.kind.spending(transaction.amount);
    spending.map_err(|overflow| StoreError::Corrupt(format!("transactions.amount: {overflow}")))
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
                let own = state.transactions.iter().filter(|row| row.partner == partner);
                let seq = own.map(|row| row.seq).max().unwrap_or(0) + 1;
                let transaction = transaction.clone();
                state.transactions.push(TransactionRow { partner, card, seq, transaction });
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
        let mut fitting: Vec<Transaction> = of_card.filter(|one| fits(filter, one)).cloned().collect();
        fitting.sort_by_key(|one| Reverse((one.executed_at, one.id)));
        Ok(page_of(fitting, page))
    }

    fn after(
        &mut self,
        partner: PartnerId,
        query: &TransactionQuery,
    ) -> Result<Vec<PartnerTransaction>, StoreError> {
        let holder = |card| {
            let cards = self.state.cards.iter().filter(|row| row.partner == partner);
            let employee = cards.map(|row| &row.record.card).find(|one| one.id() == card)?.link()?.employee;
            let employees = self.state.employees.iter().filter(|row| row.partner == partner);
            let custom_id =
                employees.map(|row| &row.employee).find(|one| one.id() == employee)?.custom_id().clone();
            Some((employee, Some(custom_id)))
        };
        let behind =
            self.state.transactions.iter().filter(|row| row.partner == partner && row.seq > query.after);
        let of_card = behind.filter(|row| query.card.is_none_or(|card| row.card == card));
        let fitting = of_card.filter(|row| fits(query.filter, &row.transaction));
        let all = fitting.map(|row| PartnerTransaction {
            seq: row.seq,
            card: row.card,
            holder: holder(row.card),
            transaction: row.transaction.clone(),
        });
        let wanted = |one: &PartnerTransaction| {
            query
                .employee
                .is_none_or(|employee| one.holder.as_ref().is_some_and(|(holder, _)| *holder == employee))
        };
        Ok(all.filter(wanted).take(amount(query.limit)).collect())
    }
}

fn fits(filter: TransactionFilter, one: &Transaction) -> bool {
    let TransactionFilter { from, before, kind } = filter;
    from.is_none_or(|from| one.executed_at >= from)
        && before.is_none_or(|before| one.executed_at < before)
        && kind.is_none_or(|kind| one.kind == kind)
}
