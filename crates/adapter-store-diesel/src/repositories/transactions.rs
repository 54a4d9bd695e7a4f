//! The copy of the bank's transactions.

use std::collections::HashSet;

use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text};
use kopeck_domain::Kopecks;
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::person::CustomId;
use kopeck_domain::transaction::{Transaction, TransactionType};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{
    CardRepository, PartnerTransaction, StoreError, TransactionFilter, TransactionQuery,
    TransactionRepository,
};
use time::OffsetDateTime;

use super::{listed, window};
use crate::connection::MultiBackend;
use crate::convert::{AsKey, corrupt, word};
use crate::counters::List;
use crate::error::Stored;
use crate::schema::transactions;
use crate::sql_types::{Id, UtcTimestamp, sql};
use crate::statements::{self, Bind, binds, row};
use crate::transaction::DieselTransaction;

/// A transaction as its table has it.
#[derive(Queryable, QueryableByName, Selectable)]
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
    seq: i64,
}

row!(TransactionRow, transactions:
    partner_id, card_id, id, executed_at, kind, amount, place, mcc, merchant_id, seq);

impl TransactionRow {
    fn new(partner: PartnerId, card: CardId, seq: i64, transaction: &Transaction) -> Self {
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
            seq,
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
    let TransactionFilter { from, before, kind } = filter;
    let mut query = transactions::table
        .filter(transactions::partner_id.eq(partner.key()))
        .filter(transactions::card_id.eq(card.key()))
        .into_boxed();
    if let Some(from) = from {
        query = query.filter(transactions::executed_at.ge(UtcTimestamp::of(from)));
    }
    if let Some(before) = before {
        query = query.filter(transactions::executed_at.lt(UtcTimestamp::of(before)));
    }
    if let Some(kind) = kind {
        query = query.filter(transactions::kind.eq(kind.as_str()));
    }
    query
}

/// A transaction among those of all cards.
#[derive(QueryableByName)]
struct NumberedRow {
    #[diesel(embed)]
    transaction: TransactionRow,
    #[diesel(sql_type = Nullable<sql::Id>)]
    employee_id: Option<Id>,
    #[diesel(sql_type = Nullable<Text>)]
    custom_id: Option<String>,
}

impl NumberedRow {
    fn transaction(self) -> Result<PartnerTransaction, StoreError> {
        // What is no custom identifier stands for none.
        let custom_id: Option<CustomId> = self.custom_id.and_then(|text| text.parse().ok());
        Ok(PartnerTransaction {
            seq: self.transaction.seq,
            card: self.transaction.card(),
            holder: self.employee_id.map(|employee| (employee.to(), custom_id)),
            transaction: self.transaction.transaction()?,
        })
    }
}

/// With outer joins SQLite keeps this order of tables, in which nothing is sorted.
const NUMBERED: &str = "SELECT t.partner_id, t.card_id, t.id, t.executed_at, t.kind, t.amount, t.place, t.mcc, \
    t.merchant_id, t.seq, c.employee_id, e.custom_id \
    FROM transactions t \
    LEFT JOIN cards c ON c.partner_id = t.partner_id AND c.id = t.card_id \
    LEFT JOIN employees e ON e.id = c.employee_id AND e.partner_id = c.partner_id \
    WHERE t.partner_id = ? AND t.seq > ?";

impl DieselTransaction {
    /// Adds those that are not stored yet, with the next numbers of the partner.
    fn add_new(
        &mut self,
        partner: PartnerId,
        card: CardId,
        transactions: &[Transaction],
    ) -> Result<(), StoreError> {
        let ids = || transactions.iter().map(|transaction| transaction.id);
        let (Some(least), Some(greatest)) = (ids().min(), ids().max()) else { return Ok(()) };
        let known: Vec<i64> = transactions::table
            .filter(transactions::partner_id.eq(partner.key()))
            .filter(transactions::card_id.eq(card.key()))
            .filter(transactions::id.ge(least))
            .filter(transactions::id.le(greatest))
            .select(transactions::id)
            .load(self.of(partner)?)
            .stored()?;
        let mut known: HashSet<i64> = known.into_iter().collect();
        let new = transactions.iter().filter(|transaction| known.insert(transaction.id));
        let next = self.next_number(partner, List::Transactions)?;
        let rows: Vec<TransactionRow> =
            (next..).zip(new).map(|(seq, new)| TransactionRow::new(partner, card, seq, new)).collect();
        let Some(last) = rows.last().map(|row| row.seq) else { return Ok(()) };
        statements::insert(self.of(partner)?, &rows).stored()?;
        self.give_out(partner, List::Transactions, last)
    }

    /// Transactions of all cards, or of one.
    fn numbered(
        &mut self,
        partner: PartnerId,
        query: &TransactionQuery,
        card: Option<CardId>,
    ) -> Result<Vec<NumberedRow>, StoreError> {
        let (mut text, mut values) = (NUMBERED.to_owned(), binds![partner.key(), query.after]);
        let mut and = |condition: &str, value: Option<Bind<'static>>| {
            if let Some(value) = value {
                text.push_str(condition);
                values.push(value);
            }
        };
        let TransactionFilter { from, before, kind } = query.filter;
        and(" AND t.card_id = ?", card.map(|card| card.key().into()));
        and(" AND t.executed_at >= ?", from.map(|from| UtcTimestamp::of(from).into()));
        and(" AND t.executed_at < ?", before.map(|before| UtcTimestamp::of(before).into()));
        and(" AND t.kind = ?", kind.map(|kind| kind.as_str().into()));
        text.push_str(" ORDER BY t.seq LIMIT ?");
        values.push(i64::from(query.limit).into());
        statements::load(self.of(partner)?, &text, values).stored()
    }
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
            self.add_new(partner, card, some)?;
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
        let spending = rows.into_iter().map(|(kind, amount)| {
            let kind: TransactionType = word(&kind, "transactions.kind")?;
            kind.spending(Kopecks::new(amount)).map_err(|_| corrupt("transactions.amount"))
        });
        let spending: Vec<Kopecks> = spending.collect::<Result<_, _>>()?;
        Kopecks::sum(spending).map_err(|_| corrupt("transactions.amount"))
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
        let rows = filtered(partner, card, filter)
            .order((transactions::executed_at.desc(), transactions::id.desc()))
            .limit(limit)
            .offset(offset)
            .select(TransactionRow::as_select());
        listed(total, rows.load(self.of(partner)?), TransactionRow::transaction)
    }

    fn after(
        &mut self,
        partner: PartnerId,
        query: &TransactionQuery,
    ) -> Result<Vec<PartnerTransaction>, StoreError> {
        let mut rows = Vec::new();
        if let Some(employee) = query.employee {
            // One look at an index for each card, of which an employee has few.
            let cards = CardRepository::of_employee(self, partner, employee)?;
            for (card, _) in
                cards.into_iter().filter(|(card, _)| query.card.is_none_or(|wanted| wanted == *card))
            {
                rows.append(&mut self.numbered(partner, query, Some(card))?);
            }
            rows.sort_unstable_by_key(|row| row.transaction.seq);
            rows.truncate(usize::try_from(query.limit).unwrap_or(usize::MAX));
        } else {
            rows = self.numbered(partner, query, query.card)?;
        }
        rows.into_iter().map(NumberedRow::transaction).collect()
    }
}
