//! The copy of the bank's transactions.

use diesel::prelude::*;
use kopeck_domain::Kopecks;
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::transaction::{Transaction, TransactionType};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{StoreError, TransactionFilter, TransactionRepository};
use time::OffsetDateTime;

use super::window;
use crate::connection::MultiBackend;
use crate::convert::{AsKey, corrupt, natural, word};
use crate::error::Stored;
use crate::schema::transactions;
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, binds, row};
use crate::transaction::DieselTransaction;

/// A transaction as its table has it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = transactions)]
pub(super) struct TransactionRow {
    partner_id: Id,
    card_id: Id,
    id: i64,
    executed_at: UtcTimestamp,
    kind: String,
    amount: i64,
    place: Option<String>,
    mcc: Option<String>,
    merchant_id: Option<String>,
}

row!(TransactionRow, transactions (" ON CONFLICT DO NOTHING"):
    partner_id, card_id, id, executed_at, kind, amount, place, mcc, merchant_id);

impl TransactionRow {
    fn new(partner: PartnerId, card: CardId, transaction: &Transaction) -> Self {
        Self {
            partner_id: partner.key(),
            card_id: card.key(),
            id: transaction.id,
            executed_at: UtcTimestamp::of(transaction.executed_at),
            kind: transaction.kind.as_str().to_owned(),
            amount: transaction.amount.get(),
            place: transaction.place.as_deref().map(storable),
            mcc: transaction.mcc.as_deref().map(storable),
            merchant_id: transaction.merchant_id.as_deref().map(storable),
        }
    }

    pub(super) fn card(&self) -> CardId {
        self.card_id.to()
    }

    pub(super) fn transaction(self) -> Result<Transaction, StoreError> {
        Ok(Transaction {
            id: self.id,
            executed_at: self.executed_at.time("transactions.executed_at")?,
            kind: word(&self.kind, "transactions.kind")?,
            amount: Kopecks::new(self.amount),
            place: self.place,
            mcc: self.mcc,
            merchant_id: self.merchant_id,
        })
    }
}

/// The bank's text without the one character that PostgreSQL does not store, which the service itself never writes.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// The card's transactions that fit `filter`.
fn filtered(
    partner: PartnerId,
    card: CardId,
    filter: TransactionFilter,
) -> transactions::BoxedQuery<'static, MultiBackend> {
    let mut query = transactions::table
        .filter(transactions::partner_id.eq(partner.key()))
        .filter(transactions::card_id.eq(card.key()))
        .into_boxed();
    if let Some(from) = filter.from {
        query = query.filter(transactions::executed_at.ge(UtcTimestamp::of(from)));
    }
    if let Some(before) = filter.before {
        query = query.filter(transactions::executed_at.lt(UtcTimestamp::of(before)));
    }
    if let Some(kind) = filter.kind {
        query = query.filter(transactions::kind.eq(kind.as_str()));
    }
    query
}

impl TransactionRepository for DieselTransaction {
    fn latest_id(&mut self, partner: PartnerId, card: CardId) -> Result<i64, StoreError> {
        let latest: Option<i64> = transactions::table
            .filter(transactions::partner_id.eq(partner.key()))
            .filter(transactions::card_id.eq(card.key()))
            .select(diesel::dsl::max(transactions::id))
            .get_result(self.of(partner)?)
            .stored()?;
        Ok(latest.unwrap_or(0))
    }

    fn append(
        &mut self,
        partner: PartnerId,
        card: CardId,
        transactions: &[Transaction],
        seen_at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        for some in transactions.chunks(statements::INSERT_CHUNK) {
            let rows: Vec<TransactionRow> =
                some.iter().map(|transaction| TransactionRow::new(partner, card, transaction)).collect();
            statements::insert(self.of(partner)?, &rows).stored()?;
        }
        let text = "UPDATE cards SET transactions_seen_at = ? WHERE partner_id = ? AND id = ?";
        self.change(partner, text, binds![UtcTimestamp::of(seen_at), partner.key(), card.key()])
    }

    fn spent(
        &mut self,
        partner: PartnerId,
        card: CardId,
        from: OffsetDateTime,
        until: OffsetDateTime,
    ) -> Result<Kopecks, StoreError> {
        let rows: Vec<(String, i64)> = transactions::table
            .filter(transactions::partner_id.eq(partner.key()))
            .filter(transactions::card_id.eq(card.key()))
            .filter(transactions::executed_at.ge(UtcTimestamp::of(from)))
            .filter(transactions::executed_at.lt(UtcTimestamp::of(until)))
            .select((transactions::kind, transactions::amount))
            .load(self.of(partner)?)
            .stored()?;
        rows.into_iter().try_fold(Kopecks::ZERO, |spent, (kind, amount)| {
            let (kind, amount) = (word(&kind, "transactions.kind")?, Kopecks::new(amount));
            let spent = match kind {
                TransactionType::Payment => spent.plus(amount),
                TransactionType::Refund => spent.minus(amount),
                TransactionType::Replenishment | TransactionType::Reversal | TransactionType::Correction => {
                    Ok(spent)
                }
            };
            spent.map_err(|_| corrupt("transactions.amount"))
        })
    }

    fn list(
        &mut self,
        partner: PartnerId,
        card: CardId,
        filter: TransactionFilter,
        page: Page,
    ) -> Result<Listed<Transaction>, StoreError> {
        let total: i64 = filtered(partner, card, filter).count().get_result(self.of(partner)?).stored()?;
        let (limit, offset) = window(page);
        let rows: Vec<TransactionRow> = filtered(partner, card, filter)
            .order((transactions::executed_at.desc(), transactions::id.desc()))
            .limit(limit)
            .offset(offset)
            .select(TransactionRow::as_select())
            .load(self.of(partner)?)
            .stored()?;
        Ok(Listed {
            items: rows.into_iter().map(TransactionRow::transaction).collect::<Result<_, _>>()?,
            total: natural(total, "transactions")?,
        })
    }
}
