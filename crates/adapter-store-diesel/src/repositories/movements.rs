//! The movements of the ledger.

use std::ops::Range;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use kopeck_domain::Kopecks;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::ledger::{Movement, MovementKind};
use kopeck_domain::request::RequestReference;
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{BookedMovement, KindTotal, MovementRepository, StoreError};
use time::OffsetDateTime;

use super::movement_reference::ReferenceColumns;
use super::window;
use crate::convert::{AsKey, corrupt, natural, word};
use crate::error::{Stored, StoredRows};
use crate::schema::{balances, movements};
use crate::sql_types::UtcTimestamp;
use crate::statements::{self, Bind, binds};
use crate::transaction::DieselTransaction;

/// A movement with its amount, and the reference of the request that it belongs to.
#[derive(QueryableByName)]
#[diesel(table_name = movements)]
struct BookedRow {
    number: i64,
    kind: String,
    #[diesel(embed)]
    reference: ReferenceColumns,
    created_at: UtcTimestamp,
    available_after: i64,
    held_after: i64,
    #[diesel(sql_type = BigInt)]
    amount: i64,
    #[diesel(sql_type = Nullable<Text>)]
    request_reference: Option<String>,
}

/// Of the two entries of a movement one is above zero, and has its amount.
macro_rules! booked {
    ($those:literal) => {
        concat!(
            "SELECT m.number, m.kind, m.transfer_reference, m.order_id, m.replenishment_id, m.closing_id, m.withdrawal_id, \
             m.created_at, m.available_after, m.held_after, e.amount, \
             COALESCE(o.reference, b.reference) AS request_reference \
             FROM movements m \
             JOIN entries e ON e.partner_id = m.partner_id AND e.movement = m.number AND e.amount > 0 \
             LEFT JOIN orders o ON o.partner_id = m.partner_id AND o.id = m.order_id \
             LEFT JOIN card_batches b ON b.partner_id = m.partner_id \
             AND b.id = COALESCE(m.replenishment_id, m.closing_id, m.withdrawal_id) \
             WHERE m.partner_id = ? AND m.number >= ? AND m.number < ? ",
            $those
        )
    };
}

const BY_NUMBER: &str = booked!("ORDER BY m.number");
const OF_KIND: &str = booked!("AND m.kind = ? ORDER BY m.number LIMIT ? OFFSET ?");

/// The movements of a kind.
#[derive(QueryableByName)]
struct TotalRow {
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = BigInt)]
    number: i64,
    #[diesel(sql_type = BigInt)]
    amount: i64,
}

const TOTALS: &str = "SELECT m.kind, COUNT(*) AS number, CAST(SUM(e.amount) AS BIGINT) AS amount \
    FROM movements m \
    JOIN entries e ON e.partner_id = m.partner_id AND e.movement = m.number AND e.amount > 0 \
    WHERE m.partner_id = ? AND m.number >= ? AND m.number < ? GROUP BY m.kind";

impl BookedRow {
    fn movement(self) -> Result<BookedMovement, StoreError> {
        let kind: MovementKind = word(&self.kind, "movements.kind")?;
        let movement = Movement::new(kind, self.reference.reference()?, Kopecks::new(self.amount));
        Ok(BookedMovement {
            number: self.number,
            movement: movement.map_err(|_| corrupt("entries.amount"))?,
            booked_at: self.created_at.time("movements.created_at")?,
            available: Kopecks::new(self.available_after),
            held: Kopecks::new(self.held_after),
            request_reference: self.request_reference.map(RequestReference::from_stored),
        })
    }
}

impl DieselTransaction {
    fn booked(
        &mut self,
        partner: PartnerId,
        statement: &'static str,
        values: Vec<Bind<'_>>,
    ) -> Result<Vec<BookedMovement>, StoreError> {
        statements::load(self.of(partner)?, statement, values).all(BookedRow::movement)
    }
}

impl MovementRepository for DieselTransaction {
    fn last(&mut self, partner: PartnerId) -> Result<i64, StoreError> {
        let last: Option<i64> = balances::table
            .find(partner.key())
            .select(balances::last_movement)
            .get_result(self.of(partner)?)
            .optional()
            .stored()?;
        Ok(last.unwrap_or(0))
    }

    fn first_since(&mut self, partner: PartnerId, moment: OffsetDateTime) -> Result<Option<i64>, StoreError> {
        movements::table
            .filter(movements::partner_id.eq(partner.key()))
            .filter(movements::created_at.ge(UtcTimestamp::of(moment)))
            .select(diesel::dsl::min(movements::number))
            .get_result(self.of(partner)?)
            .stored()
    }

    fn first_within(
        &mut self,
        partner: PartnerId,
        numbers: Range<i64>,
        moment: OffsetDateTime,
    ) -> Result<Option<i64>, StoreError> {
        movements::table
            .filter(movements::partner_id.eq(partner.key()))
            .filter(movements::number.ge(numbers.start))
            .filter(movements::number.lt(numbers.end))
            .filter(movements::created_at.ge(UtcTimestamp::of(moment)))
            .order(movements::number)
            .select(movements::number)
            .limit(1)
            .get_result(self.of(partner)?)
            .optional()
            .stored()
    }

    fn totals(&mut self, partner: PartnerId, numbers: Range<i64>) -> Result<Vec<KindTotal>, StoreError> {
        let values = binds![partner.key(), numbers.start, numbers.end];
        statements::load(self.of(partner)?, TOTALS, values).all(|row: TotalRow| {
            Ok(KindTotal {
                kind: word(&row.kind, "movements.kind")?,
                number: natural(row.number, "movements")?,
                amount: Kopecks::new(row.amount),
            })
        })
    }

    fn range(&mut self, partner: PartnerId, numbers: Range<i64>) -> Result<Vec<BookedMovement>, StoreError> {
        self.booked(partner, BY_NUMBER, binds![partner.key(), numbers.start, numbers.end])
    }

    fn of_kind(
        &mut self,
        partner: PartnerId,
        kind: MovementKind,
        numbers: Range<i64>,
        page: Page,
    ) -> Result<Listed<BookedMovement>, StoreError> {
        let total: i64 = movements::table
            .filter(movements::partner_id.eq(partner.key()))
            .filter(movements::number.ge(numbers.start))
            .filter(movements::number.lt(numbers.end))
            .filter(movements::kind.eq(kind.as_str()))
            .count()
            .get_result(self.of(partner)?)
            .stored()?;
        let (limit, offset) = window(page);
        let values = binds![partner.key(), numbers.start, numbers.end, kind.as_str(), limit, offset];
        let items = self.booked(partner, OF_KIND, values)?;
        Ok(Listed { items, total: natural(total, "movements")? })
    }
}
