//! Orders.

use diesel::dsl::max;
use diesel::prelude::*;
use kopeck_domain::Kopecks;
use kopeck_domain::ids::{OrderId, PartnerId};
use kopeck_domain::order::OrderFields;
use kopeck_domain::order::{LineDetails, Order, OrderLine};
use kopeck_domain::person::{DeliveryAddress, Recipient};
use kopeck_domain::request::RequestReference;
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{ColumnCipher, OrderFilter, OrderRepository, OrderResultItem, StoreError};

use super::card_row::ResultRow;
use super::{descending, listed, window};
use crate::connection::MultiBackend;
use crate::convert::{AsKey, corrupt, natural, word};
use crate::counters::List;
use crate::encryption::{RowCipher, part_row};
use crate::error::{Stored, StoredRows};
use crate::schema::{cards, order_lines, orders};
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, binds, row};
use crate::transaction::DieselTransaction;

#[derive(Queryable, Selectable)]
#[diesel(table_name = orders)]
struct OrderRow {
    partner_id: Id,
    id: Id,
    seq: i64,
    kind: String,
    card_type: String,
    cards: i64,
    cost: i64,
    state: String,
    created_at: UtcTimestamp,
    state_since: UtcTimestamp,
    reference: Option<String>,
}

row!(OrderRow, orders: partner_id, id, seq, kind, card_type, cards, cost, state, created_at, state_since, reference);

impl OrderRow {
    fn new(partner: PartnerId, seq: i64, order: &Order) -> Self {
        Self {
            partner_id: partner.key(),
            id: order.id().key(),
            seq,
            kind: order.kind().as_str().to_owned(),
            card_type: order.card_type().as_str().to_owned(),
            cards: i64::from(order.cards()),
            cost: order.cost().get(),
            state: order.state().as_str().to_owned(),
            created_at: UtcTimestamp::of(order.created_at()),
            state_since: UtcTimestamp::of(order.state_since()),
            reference: order.reference().map(|reference| reference.as_str().to_owned()),
        }
    }

    fn order(self) -> Result<Order, StoreError> {
        Ok(Order::from_stored(OrderFields {
            id: self.id.to(),
            kind: word(&self.kind, "orders.kind")?,
            card_type: word(&self.card_type, "orders.card_type")?,
            cards: natural(self.cards, "orders.cards")?,
            cost: Kopecks::new(self.cost),
            state: word(&self.state, "orders.state")?,
            created_at: self.created_at.time("orders.created_at")?,
            state_since: self.state_since.time("orders.state_since")?,
            reference: self.reference.map(RequestReference::from_stored),
        }))
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = order_lines)]
struct LineRow {
    partner_id: Id,
    order_id: Id,
    position: i64,
    card_type: String,
    cards: i64,
    address: Option<Vec<u8>>,
    recipient: Option<Vec<u8>>,
    phone: Option<Vec<u8>>,
    amount: Option<i64>,
}

row!(LineRow, order_lines:
    partner_id, order_id, position, card_type, cards, address, recipient, phone, amount);

impl LineRow {
    fn new(
        partner: PartnerId,
        order: OrderId,
        position: i64,
        line: &OrderLine,
        cipher: &dyn ColumnCipher,
    ) -> Result<Self, StoreError> {
        let row = Self {
            partner_id: partner.key(),
            order_id: order.key(),
            position,
            card_type: line.card_type.as_str().to_owned(),
            cards: i64::from(line.count),
            address: None,
            recipient: None,
            phone: None,
            amount: None,
        };
        let key = part_row(order.key(), position);
        let cipher = RowCipher { cipher, table: "order_lines", partner, row: &key };
        Ok(match &line.details {
            LineDetails::Plastic { address, recipient, phone } => Self {
                address: Some(cipher.encrypt("address", address.as_str().as_bytes())?),
                recipient: Some(cipher.encrypt("recipient", recipient.as_str().as_bytes())?),
                phone: Some(cipher.encrypt("phone", phone.as_str().as_bytes())?),
                ..row
            },
            LineDetails::Virtual { amount } => Self { amount: Some(amount.get()), ..row },
        })
    }

    fn line(self, partner: PartnerId, cipher: &dyn ColumnCipher) -> Result<OrderLine, StoreError> {
        let key = part_row(self.order_id, self.position);
        let cipher = RowCipher { cipher, table: "order_lines", partner, row: &key };
        let details = match (self.address, self.recipient, self.phone, self.amount) {
            (Some(address), Some(recipient), Some(phone), None) => LineDetails::Plastic {
                address: DeliveryAddress::from_stored(cipher.text("address", &address)?),
                recipient: Recipient::from_stored(cipher.text("recipient", &recipient)?),
                phone: word(&cipher.text("phone", &phone)?, "order_lines.phone")?,
            },
            (None, None, None, Some(amount)) => LineDetails::Virtual { amount: Kopecks::new(amount) },
            _ => return Err(corrupt("order_lines.amount")),
        };
        Ok(OrderLine {
            card_type: word(&self.card_type, "order_lines.card_type")?,
            count: natural(self.cards, "order_lines.cards")?,
            details,
        })
    }
}

/// The partner's orders that fit `filter`.
fn filtered(partner: PartnerId, filter: &OrderFilter) -> orders::BoxedQuery<'static, MultiBackend> {
    let OrderFilter { state, reference, from, before } = filter;
    let mut query = orders::table.filter(orders::partner_id.eq(partner.key())).into_boxed();
    if let Some(state) = state {
        query = query.filter(orders::state.eq(state.as_str()));
    }
    if let Some(reference) = reference {
        query = query.filter(orders::reference.eq(reference.as_str().to_owned()));
    }
    if let Some(from) = from {
        query = query.filter(orders::created_at.ge(UtcTimestamp::of(*from)));
    }
    if let Some(before) = before {
        query = query.filter(orders::created_at.lt(UtcTimestamp::of(*before)));
    }
    query
}

impl OrderRepository for DieselTransaction {
    fn insert(&mut self, partner: PartnerId, order: &Order, lines: &[OrderLine]) -> Result<(), StoreError> {
        let seq = self.next_number(partner, List::Orders)?;
        statements::insert(self.of(partner)?, &[OrderRow::new(partner, seq, order)]).stored()?;
        self.give_out(partner, List::Orders, seq)?;
        let line = |(position, line)| LineRow::new(partner, order.id(), position, line, &*self.cipher);
        let rows: Vec<LineRow> = (0..).zip(lines).map(line).collect::<Result<_, _>>()?;
        statements::insert(self.of(partner)?, &rows).stored()
    }

    fn get(&mut self, partner: PartnerId, id: OrderId) -> Result<Option<Order>, StoreError> {
        orders::table
            .find((partner.key(), id.key()))
            .select(OrderRow::as_select())
            .get_result(self.of(partner)?)
            .found(OrderRow::order)
    }

    fn lines(&mut self, partner: PartnerId, id: OrderId) -> Result<Vec<OrderLine>, StoreError> {
        order_lines::table
            .filter(order_lines::partner_id.eq(partner.key()))
            .filter(order_lines::order_id.eq(id.key()))
            .order(order_lines::position)
            .select(LineRow::as_select())
            .load(self.of(partner)?)
            .all(|row| row.line(partner, &*self.cipher))
    }

    fn set_state(&mut self, partner: PartnerId, order: &Order) -> Result<(), StoreError> {
        let text = "UPDATE orders SET state = ?, state_since = ? WHERE partner_id = ? AND id = ?";
        let (state, since) = (order.state().as_str(), UtcTimestamp::of(order.state_since()));
        self.change(partner, text, binds![state, since, partner.key(), order.id().key()])
    }

    fn stored_cards(&mut self, partner: PartnerId, id: OrderId) -> Result<u32, StoreError> {
        // Cards of an order are numbered from 0 without gaps and never deleted. To count them at each chunk would cost
        // a large order the square of its size.
        let last: Option<i64> = cards::table
            .filter(cards::partner_id.eq(partner.key()))
            .filter(cards::order_id.eq(id.key()))
            .select(max(cards::ordinal))
            .get_result(self.of(partner)?)
            .stored()?;
        natural(last.map_or(0, |last| last + 1), "cards.ordinal")
    }

    fn result(
        &mut self,
        partner: PartnerId,
        id: OrderId,
        from_ordinal: u32,
        limit: u32,
    ) -> Result<Vec<OrderResultItem>, StoreError> {
        cards::table
            .filter(cards::partner_id.eq(partner.key()))
            .filter(cards::order_id.eq(id.key()))
            .filter(cards::ordinal.ge(i64::from(from_ordinal)))
            .order(cards::ordinal)
            .limit(i64::from(limit))
            .select(ResultRow::as_select())
            .load(self.of(partner)?)
            .all(|row| row.item(partner, &*self.cipher))
    }

    fn list(
        &mut self,
        partner: PartnerId,
        filter: &OrderFilter,
        page: Page,
    ) -> Result<Listed<Order>, StoreError> {
        let own = || filtered(partner, filter).order(orders::seq.desc()).select(OrderRow::as_select());
        let (total, rows) = if filter.is_empty() {
            let total = self.last_number(partner, List::Orders)?.unwrap_or(0);
            let (after, up_to) = descending(page, total);
            (total, own().filter(orders::seq.gt(after)).filter(orders::seq.le(up_to)))
        } else {
            let total: i64 = filtered(partner, filter).count().get_result(self.of(partner)?).stored()?;
            let (limit, offset) = window(page);
            (total, own().limit(limit).offset(offset))
        };
        listed(total, rows.load(self.of(partner)?), OrderRow::order)
    }
}
