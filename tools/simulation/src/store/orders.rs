//! Orders.

use kopeck_domain::ids::{OrderId, PartnerId};
use kopeck_domain::order::OrderFields;
use kopeck_domain::order::{Order, OrderLine};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{OrderFilter, OrderRepository, OrderResultItem, StoreError};

use super::cards::CardRow;
use super::{State, Unit, amount, count, fits, page_of};

#[derive(Clone)]
pub(super) struct OrderRow {
    pub(super) partner: PartnerId,
    pub(super) order: Order,
    lines: Vec<OrderLine>,
}

impl State {
    fn order(&self, partner: PartnerId, id: OrderId) -> Option<&OrderRow> {
        self.orders.iter().find(|row| row.partner == partner && row.order.id() == id)
    }

    fn cards_of_order(&self, partner: PartnerId, id: OrderId) -> impl Iterator<Item = &CardRow> {
        self.cards_of(partner).filter(move |row| row.record.card.order() == id)
    }
}

impl OrderRepository for Unit {
    fn insert(&mut self, partner: PartnerId, order: &Order, lines: &[OrderLine]) -> Result<(), StoreError> {
        let state = self.writing()?;
        state.known_partner(partner)?;
        state.orders.push(OrderRow { partner, order: order.clone(), lines: lines.to_vec() });
        Ok(())
    }

    fn get(&mut self, partner: PartnerId, id: OrderId) -> Result<Option<Order>, StoreError> {
        Ok(self.state.order(partner, id).map(|row| row.order.clone()))
    }

    fn lines(&mut self, partner: PartnerId, id: OrderId) -> Result<Vec<OrderLine>, StoreError> {
        Ok(self.state.order(partner, id).map(|row| row.lines.clone()).unwrap_or_default())
    }

    fn set_state(&mut self, partner: PartnerId, order: &Order) -> Result<(), StoreError> {
        let orders = self.writing()?.orders.iter_mut();
        for row in orders.filter(|row| row.partner == partner && row.order.id() == order.id()) {
            row.order = Order::from_stored(OrderFields {
                state: order.state(),
                state_since: order.state_since(),
                ..row.order.clone().into_fields()
            });
        }
        Ok(())
    }

    fn stored_cards(&mut self, partner: PartnerId, id: OrderId) -> Result<u32, StoreError> {
        Ok(count(self.state.cards_of_order(partner, id).count()))
    }

    fn result(
        &mut self,
        partner: PartnerId,
        id: OrderId,
        from_ordinal: u32,
        limit: u32,
    ) -> Result<Vec<OrderResultItem>, StoreError> {
        let cards = self.state.cards_of_order(partner, id).filter(|row| row.ordinal >= from_ordinal);
        let item = |row: &CardRow| OrderResultItem {
            ordinal: row.ordinal,
            card_type: row.record.card.kind(),
            number: row.record.card.number(),
            activation: row.activation.clone(),
        };
        let mut items: Vec<OrderResultItem> = cards.map(item).collect();
        items.sort_by_key(|item| item.ordinal);
        items.truncate(amount(limit));
        Ok(items)
    }

    fn list(
        &mut self,
        partner: PartnerId,
        filter: &OrderFilter,
        page: Page,
    ) -> Result<Listed<Order>, StoreError> {
        let own = self.state.orders.iter().rev().filter(|row| row.partner == partner);
        let fitting = own.filter(|row| {
            let order = &row.order;
            fits(filter, order.state(), order.reference(), order.created_at())
        });
        Ok(page_of(fitting.map(|row| row.order.clone()).collect(), page))
    }
}
