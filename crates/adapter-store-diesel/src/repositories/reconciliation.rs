//! Sums over the whole ledger of a partner, each added up from the rows it is made of; and the copy of the bank's
//! transactions by card and time.

use std::ops::Range;

use diesel::dsl;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Text};
use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::ids::{CardId, EmployeeId, PartnerId};
use kopeck_domain::ledger::{Account, Balances};
use kopeck_domain::transaction::Transaction;
use kopeck_port_store::{OrderFacts, ReconciliationRepository, ReferenceSums, StoreError};
use time::OffsetDateTime;

use super::jobs;
use super::movement_reference::ReferenceColumns;
use super::transactions::TransactionRow;
use crate::convert::{AsKey, card_number, natural, number, word};
use crate::error::{Stored, StoredRows};
use crate::schema::{cards, transactions};
use crate::sql_types::{Id, UtcTimestamp, sql};
use crate::statements::{self, binds};
use crate::transaction::DieselTransaction;

/// What is held and spent of the money of one reference.
#[derive(QueryableByName)]
struct SumsRow {
    #[diesel(embed)]
    reference: ReferenceColumns,
    #[diesel(sql_type = BigInt)]
    held: i64,
    #[diesel(sql_type = BigInt)]
    spent: i64,
}

impl SumsRow {
    fn sums(self) -> Result<ReferenceSums, StoreError> {
        let (held, spent) = (Kopecks::new(self.held), Kopecks::new(self.spent));
        Ok(ReferenceSums { reference: self.reference.reference()?, held, spent })
    }
}

/// An order, with what belongs to it.
#[derive(QueryableByName)]
struct OrderRow {
    #[diesel(sql_type = sql::Id)]
    id: Id,
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = BigInt)]
    cost: i64,
    #[diesel(sql_type = BigInt)]
    cards: i64,
    #[diesel(sql_type = BigInt)]
    stored_cards: i64,
    #[diesel(sql_type = Bool)]
    has_job: bool,
}

impl OrderRow {
    fn facts(self) -> Result<OrderFacts, StoreError> {
        Ok(OrderFacts {
            id: self.id.to(),
            state: word(&self.state, "orders.state")?,
            cost: Kopecks::new(self.cost),
            cards: natural(self.cards, "orders.cards")?,
            stored_cards: natural(self.stored_cards, "cards")?,
            has_job: self.has_job,
        })
    }
}

#[derive(QueryableByName)]
struct EntrySum {
    #[diesel(sql_type = Text)]
    account: String,
    #[diesel(sql_type = BigInt)]
    sum: i64,
}

#[derive(QueryableByName)]
struct MovementNumber {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

#[derive(QueryableByName)]
struct Holder {
    #[diesel(sql_type = sql::Id)]
    employee_id: Id,
}

const ENTRY_SUMS: &str =
    "SELECT account, CAST(SUM(amount) AS BIGINT) AS sum FROM entries WHERE partner_id = ? GROUP BY account";

const UNBALANCED_MOVEMENTS: &str = "
    SELECT m.number FROM movements m LEFT JOIN entries e ON e.partner_id = m.partner_id AND e.movement = m.number
    WHERE m.partner_id = ?
    GROUP BY m.number HAVING COUNT(e.amount) = 0 OR SUM(e.amount) <> 0 ORDER BY m.number";

const WRONG_BALANCES_AFTER: &str = "
    SELECT number FROM (
        SELECT m.number, m.available_after, m.held_after,
            SUM(COALESCE(a.amount, 0)) OVER (ORDER BY m.number) AS available,
            SUM(COALESCE(h.amount, 0)) OVER (ORDER BY m.number) AS held
        FROM movements m
        LEFT JOIN entries a ON a.partner_id = m.partner_id AND a.movement = m.number AND a.account = 'AVAILABLE'
        LEFT JOIN entries h ON h.partner_id = m.partner_id AND h.movement = m.number AND h.account = 'HELD'
        WHERE m.partner_id = ?
    ) sums WHERE available <> available_after OR held <> held_after ORDER BY number";

const ORDERS: &str = "
    SELECT o.id, o.state, o.cost, o.cards,
        (SELECT COUNT(*) FROM cards c WHERE c.partner_id = o.partner_id AND c.order_id = o.id) AS stored_cards,
        EXISTS (
            SELECT 1 FROM jobs w WHERE w.partner_id = o.partner_id AND w.subject_id = o.id AND w.subject_kind = ?
        ) AS has_job
    FROM orders o WHERE o.partner_id = ? ORDER BY o.seq";

const TWO_MAIN_CARDS: &str = "
    SELECT employee_id FROM cards WHERE link_status = 'MAIN' AND partner_id = ?
    GROUP BY employee_id HAVING COUNT(*) > 1";

const REFERENCE_SUMS: &str = "
    SELECT transfer_reference, order_id, replenishment_id, closing_id, withdrawal_id, held, spent FROM (
        SELECT m.transfer_reference, m.order_id, m.replenishment_id, m.closing_id, m.withdrawal_id,
            CAST(SUM(CASE e.account WHEN 'HELD' THEN e.amount ELSE 0 END) AS BIGINT) AS held,
            CAST(SUM(CASE e.account WHEN 'SPENT' THEN e.amount ELSE 0 END) AS BIGINT) AS spent
        FROM movements m JOIN entries e ON e.partner_id = m.partner_id AND e.movement = m.number
        WHERE m.partner_id = ?
        GROUP BY m.transfer_reference, m.order_id, m.replenishment_id, m.closing_id, m.withdrawal_id
    ) sums
    WHERE held <> 0 OR spent <> 0";

impl ReconciliationRepository for DieselTransaction {
    fn entry_sums(&mut self, partner: PartnerId) -> Result<Balances, StoreError> {
        let sums: Vec<EntrySum> =
            statements::load(self.of(partner)?, ENTRY_SUMS, binds![partner.key()]).stored()?;
        let mut balances = Balances::default();
        for EntrySum { account, sum } in sums {
            let slot = match word(&account, "entries.account")? {
                Account::Deposited => &mut balances.deposited,
                Account::Available => &mut balances.available,
                Account::Held => &mut balances.held,
                Account::Spent => &mut balances.spent,
            };
            *slot = Kopecks::new(sum);
        }
        Ok(balances)
    }

    fn unbalanced_movements(&mut self, partner: PartnerId) -> Result<Vec<i64>, StoreError> {
        let values = binds![partner.key()];
        statements::load(self.of(partner)?, UNBALANCED_MOVEMENTS, values)
            .all(|MovementNumber { number }| Ok(number))
    }

    fn wrong_balances_after(&mut self, partner: PartnerId) -> Result<Vec<i64>, StoreError> {
        let values = binds![partner.key()];
        statements::load(self.of(partner)?, WRONG_BALANCES_AFTER, values)
            .all(|MovementNumber { number }| Ok(number))
    }

    fn reference_sums(&mut self, partner: PartnerId) -> Result<Vec<ReferenceSums>, StoreError> {
        let values = binds![partner.key()];
        statements::load(self.of(partner)?, REFERENCE_SUMS, values).all(SumsRow::sums)
    }

    fn orders(&mut self, partner: PartnerId) -> Result<Vec<OrderFacts>, StoreError> {
        let values = binds![jobs::ORDER, partner.key()];
        statements::load(self.of(partner)?, ORDERS, values).all(OrderRow::facts)
    }

    fn held_by_all(&mut self) -> Result<Kopecks, StoreError> {
        let held: i64 = dsl::sql::<BigInt>("SELECT CAST(COALESCE(SUM(held), 0) AS BIGINT) FROM balances")
            .get_result(self.unlocked()?)
            .stored()?;
        Ok(Kopecks::new(held))
    }

    fn employees_with_two_main_cards(&mut self, partner: PartnerId) -> Result<Vec<EmployeeId>, StoreError> {
        statements::load(self.of(partner)?, TWO_MAIN_CARDS, binds![partner.key()])
            .all(|Holder { employee_id }| Ok(employee_id.to()))
    }

    fn cards(
        &mut self,
        after: Option<CardNumber>,
        limit: u32,
    ) -> Result<Vec<(CardNumber, PartnerId, CardId)>, StoreError> {
        cards::table
            .filter(cards::number.gt(after.map_or(0, number)))
            .order(cards::number)
            .limit(i64::from(limit))
            .select((cards::number, cards::partner_id, cards::id))
            .load(self.unlocked()?)
            .all(|(number, partner, card): (i64, Id, Id)| {
                Ok((card_number(number, "cards.number")?, partner.to(), card.to()))
            })
    }

    fn transactions(
        &mut self,
        partner: PartnerId,
        cards: &[CardId],
        period: &Range<OffsetDateTime>,
    ) -> Result<Vec<(CardId, Transaction)>, StoreError> {
        let mut found = Vec::new();
        for cards in cards.chunks(statements::UPDATE_CHUNK as usize) {
            let rows: Vec<TransactionRow> = transactions::table
                .filter(transactions::partner_id.eq(partner.key()))
                .filter(transactions::card_id.eq_any(cards.iter().map(AsKey::key)))
                .filter(transactions::executed_at.ge(UtcTimestamp::of(period.start)))
                .filter(transactions::executed_at.lt(UtcTimestamp::of(period.end)))
                .select(TransactionRow::as_select())
                .load(self.of(partner)?)
                .stored()?;
            for row in rows {
                found.push((row.card(), row.transaction()?));
            }
        }
        Ok(found)
    }

    fn transaction(
        &mut self,
        partner: PartnerId,
        card: CardId,
        id: i64,
    ) -> Result<Option<Transaction>, StoreError> {
        transactions::table
            .find((partner.key(), card.key(), id))
            .select(TransactionRow::as_select())
            .get_result(self.of(partner)?)
            .found(TransactionRow::transaction)
    }
}
