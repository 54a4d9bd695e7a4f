//! What the service knows of the instructions behind the bank's movements.

use kopeck_domain::Kopecks;
use kopeck_domain::card_batch::ItemState;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::closing::Closings;
use kopeck_domain::ids::{OrderId, PartnerId};
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::order::{LineDetails, OrderState};
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::transaction::{Transaction, TransactionType};
use kopeck_domain::withdrawal::Withdrawals;
use kopeck_port_bank::BankKey;
use kopeck_port_store::{StoreError, UnitOfWork};
use uuid::Uuid;

use crate::card_batches::ProcessedKind;
use crate::worker::ORDER_KEY;

/// The instruction that a key names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Instruction {
    /// For a card of a batch.
    Item {
        /// The batch.
        batch: Uuid,
        /// The place of the card in it.
        ordinal: u32,
    },
    /// To issue the cards of an order.
    Order(OrderId),
}

impl Instruction {
    /// Reads a key of the service's own; `None` for any other.
    pub(super) fn of(key: &BankKey) -> Option<Self> {
        let (prefix, rest) = key.as_str().split_once('/')?;
        if prefix == ORDER_KEY {
            return rest.parse().ok().map(Self::Order);
        }
        let (batch, ordinal) = rest.split_once('/')?;
        let kinds = [TopUps::KEY, LimitChanges::KEY, Closings::KEY, Withdrawals::KEY];
        let is_batch = kinds.contains(&prefix);
        let batch = batch.parse().ok().filter(|_| is_batch)?;
        Some(Self::Item { batch, ordinal: ordinal.parse().ok()? })
    }
}

/// What became of an instruction here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BookedInstruction {
    pub(super) partner: PartnerId,
    /// The card it was for; `None` for an order.
    pub(super) card: Option<CardNumber>,
    /// Its state, unless it is done.
    pub(super) not_done: Option<&'static str>,
    /// What it may have moved on a card; none if that is not known.
    pub(super) amounts: Vec<Kopecks>,
}

/// Finds an instruction among those of the partners.
pub(super) fn find(
    unit: &mut dyn UnitOfWork,
    instruction: Instruction,
    partners: impl IntoIterator<Item = PartnerId>,
) -> Result<Option<BookedInstruction>, StoreError> {
    for partner in partners {
        let found = match instruction {
            Instruction::Order(id) => order(unit, partner, id)?,
            Instruction::Item { batch, ordinal } => any_item(unit, partner, batch, ordinal)?,
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The card in whichever kind of batch it is.
fn any_item(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    batch: Uuid,
    ordinal: u32,
) -> Result<Option<BookedInstruction>, StoreError> {
    for find in [item::<TopUps>, item::<LimitChanges>, item::<Closings>, item::<Withdrawals>] {
        let found = find(unit, partner, batch, ordinal)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn item<K: ProcessedKind>(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    batch: Uuid,
    ordinal: u32,
) -> Result<Option<BookedInstruction>, StoreError> {
    let id = K::Id::from(batch);
    let Some(batch) = K::repository(unit).get(partner, id)? else { return Ok(None) };
    let items = K::repository(unit).items(partner, id, ordinal, 1)?;
    let Some(item) = items.first().filter(|item| item.ordinal == ordinal) else { return Ok(None) };
    let not_done = match item.state {
        ItemState::Done | ItemState::Returned(_) => None,
        ItemState::Open => Some(batch.state().as_str()),
        ItemState::Refused(_) => Some("REFUSED"),
    };
    Ok(Some(BookedInstruction {
        partner,
        card: Some(item.number),
        not_done,
        amounts: K::card_movement(item).into_iter().collect(),
    }))
}

fn order(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: OrderId,
) -> Result<Option<BookedInstruction>, StoreError> {
    let Some(order) = unit.orders().get(partner, id)? else { return Ok(None) };
    let not_done = match order.state() {
        OrderState::Success | OrderState::Confirmed => None,
        state => Some(state.as_str()),
    };
    let mut amounts = Vec::new();
    for line in unit.orders().lines(partner, id)? {
        if let LineDetails::Virtual { amount } = line.details {
            amounts.push(amount);
        }
    }
    Ok(Some(BookedInstruction { partner, card: None, not_done, amounts }))
}

/// What a transaction moved on its card: below zero if money left it.
pub(super) fn signed(transaction: &Transaction) -> Kopecks {
    let amount = transaction.amount;
    match transaction.kind {
        // An amount above zero always has an opposite.
        TransactionType::Payment | TransactionType::Reversal => Kopecks::new(-amount.get()),
        TransactionType::Replenishment | TransactionType::Refund | TransactionType::Correction => amount,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::order_id;

    #[test]
    fn keys_of_the_service_are_read_and_others_are_not() {
        let uuid = "0198c2a4-7d3e-7f00-8000-000000000001";
        let batch = uuid.parse().unwrap();
        let of = |text: &str| Instruction::of(&BankKey::new(text).unwrap());
        for prefix in ["replenishment", "limit", "closing", "withdrawal"] {
            assert_eq!(of(&format!("{prefix}/{uuid}/17")), Some(Instruction::Item { batch, ordinal: 17 }));
        }
        assert_eq!(of(&format!("order/{}", order_id(7))), Some(Instruction::Order(order_id(7))));
        for text in ["order", "order/1", "replenishment/1/0", &format!("replenishment/{uuid}")] {
            assert_eq!(of(text), None, "{text}");
        }
        for text in [format!("replenishment/{uuid}/-1"), format!("block/{uuid}/1"), format!("order/{uuid}/0")]
        {
            assert_eq!(of(&text), None, "{text}");
        }
    }
}
