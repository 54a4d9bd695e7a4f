//! Which keys the registry had: a bit for each card of a batch, a number for each order.

use std::collections::HashMap;

use kopeck_domain::ids::OrderId;
use uuid::Uuid;

/// The keys of a day.
#[derive(Default)]
pub(super) struct SeenKeys {
    /// By batch: the bits of ordinals.
    items: HashMap<Uuid, Vec<u64>>,
    /// By order: how many of its cards.
    orders: HashMap<OrderId, u32>,
}

impl SeenKeys {
    /// Notes an item of a batch; returns whether it is new.
    pub(super) fn add_item(&mut self, batch: Uuid, ordinal: u32) -> bool {
        let (word, bit) = place(ordinal);
        let bits = self.items.entry(batch).or_default();
        if bits.len() <= word {
            bits.resize(word + 1, 0);
        }
        let Some(word) = bits.get_mut(word) else { return true };
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Whether an item was noted.
    pub(super) fn has_item(&self, batch: Uuid, ordinal: u32) -> bool {
        let (word, bit) = place(ordinal);
        self.items.get(&batch).and_then(|bits| bits.get(word)).is_some_and(|word| word & bit != 0)
    }

    /// Notes a card of an order.
    pub(super) fn add_card(&mut self, order: OrderId) {
        *self.orders.entry(order).or_default() += 1;
    }

    /// How many cards of an order were noted.
    pub(super) fn cards(&self, order: OrderId) -> u32 {
        self.orders.get(&order).copied().unwrap_or(0)
    }
}

/// The word and the bit of an ordinal.
fn place(ordinal: u32) -> (usize, u64) {
    ((ordinal / u64::BITS) as usize, 1 << (ordinal % u64::BITS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::order_id;

    #[test]
    fn only_noted_entries_are_known() {
        let (mut seen, [one, two]) = (SeenKeys::default(), [1, 2].map(Uuid::from_u128));
        for ordinal in [0, 63, 64, 9_999] {
            assert!(seen.add_item(one, ordinal));
            assert!(!seen.add_item(one, ordinal), "a second time");
        }
        let known = [0, 1, 63, 64, 65, 9_998, 9_999, 10_000].map(|ordinal| seen.has_item(one, ordinal));
        assert_eq!(known, [true, false, true, true, false, false, true, false]);
        assert!(!seen.has_item(two, 0));
        seen.add_card(order_id(1));
        seen.add_card(order_id(1));
        assert_eq!([1, 2].map(|order| seen.cards(order_id(order))), [2, 0]);
    }
}
