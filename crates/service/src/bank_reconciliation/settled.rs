//! What was settled here on a day against the keys that the registry had.

use std::collections::HashSet;
use std::ops::Range;

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::CLOCK_SKEW;
use kopeck_domain::card_batch::{BatchItem, BatchState, CardBatch, ItemState};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::closing::Closings;
use kopeck_domain::ids::{CardId, OrderId, PartnerId};
use kopeck_domain::order::{Order, OrderKind, OrderState};
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::withdrawal::Withdrawals;
use kopeck_port_bank::{BankKey, RegistryEntry};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{BatchFilter, OrderFilter, OrderResultItem, StoreError, UnitOfWork};
use time::OffsetDateTime;

use super::booked::{Instruction, signed};
use super::registry::RegistryReader;
use super::seen::SeenKeys;
use super::{BankReconciler, Day, Difference, DifferenceKind, ReconcileError};
use crate::card_batches::ProcessedKind;
use crate::worker::order_key;

/// Items of a page.
const ITEMS: u32 = 500;

/// A movement that was made according to the service's records.
struct Expected {
    partner: PartnerId,
    card: CardNumber,
    /// The card's identifier, if the copy of its transactions is to be queried too.
    id: Option<CardId>,
    key: BankKey,
    amount: Kopecks,
    /// When it must have been made.
    window: Range<OffsetDateTime>,
}

impl BankReconciler {
    /// Looks for what was settled on the day and was not in its registry.
    pub(super) fn compare_settled(
        &self,
        day: &Day<'_>,
        seen: &SeenKeys,
        report: &mut dyn FnMut(Difference),
    ) -> Result<(), ReconcileError> {
        for partner in day.partners.iter().copied() {
            self.compare_batches::<TopUps>(day, partner, seen, report)?;
            self.compare_batches::<Closings>(day, partner, seen, report)?;
            self.compare_batches::<Withdrawals>(day, partner, seen, report)?;
            self.compare_orders(day, partner, seen, report)?;
        }
        Ok(())
    }

    fn compare_batches<K: ProcessedKind>(
        &self,
        day: &Day<'_>,
        partner: PartnerId,
        seen: &SeenKeys,
        report: &mut dyn FnMut(Difference),
    ) -> Result<(), ReconcileError> {
        let period = day.period.clone();
        for SettledBatch { id: batch, window } in
            self.read(move |unit| settled_batches::<K>(unit, partner, &period))?
        {
            let mut from = 0;
            loop {
                day.go_on()?;
                let items = self.read(move |unit| K::repository(unit).items(partner, batch, from, ITEMS))?;
                let Some(last) = items.last() else { break };
                from = last.ordinal + 1;
                let is_done =
                    |item: &&BatchItem<K>| matches!(item.state, ItemState::Done | ItemState::Returned(_));
                for item in items.iter().filter(is_done) {
                    let key = K::key(batch, item);
                    let Some(amount) = K::card_movement(item).filter(|_| !is_seen(seen, &key)) else {
                        continue;
                    };
                    let (card, id, window) = (item.number, Some(item.card), window.clone());
                    self.look_up(day, Expected { partner, card, id, key, amount, window }, report)?;
                }
            }
        }
        Ok(())
    }

    fn compare_orders(
        &self,
        day: &Day<'_>,
        partner: PartnerId,
        seen: &SeenKeys,
        report: &mut dyn FnMut(Difference),
    ) -> Result<(), ReconcileError> {
        let period = day.period.clone();
        for order in self.read(move |unit| settled_orders(unit, partner, &period))? {
            if seen.cards(order.id()) == order.cards() {
                continue;
            }
            let window = around(order.created_at(), order.state_since());
            let mut from = 0;
            loop {
                day.go_on()?;
                let (id, within) = (order.id(), window.clone());
                let page = self.read(move |unit| first_top_ups(unit, partner, id, from, &within))?;
                let Some(last) = page.last() else { break };
                from = last.ordinal + 1;
                for FirstTopUp { card, amount, .. } in page.into_iter().filter(|one| !one.is_stored) {
                    let (key, window) = (order_key(order.id()), window.clone());
                    self.look_up(day, Expected { partner, card, id: None, key, amount, window }, report)?;
                }
            }
        }
        Ok(())
    }

    /// Looks a movement up in the registry of the time when it must have been made. One that is there is compared on
    /// its own day.
    fn look_up(
        &self,
        day: &Day<'_>,
        expected: Expected,
        report: &mut dyn FnMut(Difference),
    ) -> Result<(), ReconcileError> {
        day.go_on()?;
        let Expected { partner, card, id, key, amount, window } = expected;
        let listed = RegistryReader::at_card(&*self.bank, window.clone(), card).up_to(Some(card))?;
        let is_listed = listed.iter().any(|entry| entry.key.as_ref() == Some(&key));
        if is_listed || self.is_unlisted(partner, id, amount, window, &listed)? {
            return Ok(());
        }
        report(Difference {
            day: day.date,
            partner: Some(partner),
            card,
            transaction: None,
            key: Some(key),
            here: Some(amount),
            there: None,
            kind: DifferenceKind::MissingThere,
        });
        Ok(())
    }

    /// Whether the copy of the card's transactions has the movement, and the registry does not: then it is found on its
    /// own day.
    fn is_unlisted(
        &self,
        partner: PartnerId,
        card: Option<CardId>,
        amount: Kopecks,
        window: Range<OffsetDateTime>,
        listed: &[RegistryEntry],
    ) -> Result<bool, ReconcileError> {
        let cards: Vec<CardId> = card.into_iter().collect();
        let stored = self.read(move |unit| unit.reconciliation().transactions(partner, &cards, &window))?;
        let is_listed = |id| listed.iter().any(|entry| entry.transaction.id == id);
        Ok(stored.iter().any(|(_, one)| signed(one) == amount && !is_listed(one.id)))
    }
}

fn is_seen(seen: &SeenKeys, key: &BankKey) -> bool {
    match Instruction::of(key) {
        Some(Instruction::Item { batch, ordinal }) => seen.has_item(batch, ordinal),
        Some(Instruction::Order(_)) | None => false,
    }
}

/// From a little before its creation until a little after its end: the bank has its own clock.
fn around(created_at: OffsetDateTime, settled_at: OffsetDateTime) -> Range<OffsetDateTime> {
    created_at - CLOCK_SKEW..settled_at + CLOCK_SKEW
}

/// A batch with cards that were carried out.
struct SettledBatch<K: ProcessedKind> {
    id: K::Id,
    /// The time it took.
    window: Range<OffsetDateTime>,
}

/// The batches with cards that were carried out and that ended in the period.
fn settled_batches<K: ProcessedKind>(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    period: &Range<OffsetDateTime>,
) -> Result<Vec<SettledBatch<K>>, StoreError> {
    let mut settled = Vec::new();
    let list = |page| K::repository(unit).list(partner, &BatchFilter::default(), page);
    each_of_list(list, |batch: CardBatch<K>| {
        let is_done = matches!(batch.state(), BatchState::Success | BatchState::PartSuccess);
        if is_done && period.contains(&batch.state_since()) {
            settled.push(SettledBatch {
                id: batch.id(),
                window: around(batch.created_at(), batch.state_since()),
            });
        }
    })?;
    Ok(settled)
}

/// The orders of virtual cards that ended in the period.
fn settled_orders(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    period: &Range<OffsetDateTime>,
) -> Result<Vec<Order>, StoreError> {
    let mut settled = Vec::new();
    let list = |page| unit.orders().list(partner, &OrderFilter::default(), page);
    each_of_list(list, |order| {
        let is_done = matches!(order.state(), OrderState::Success | OrderState::Confirmed);
        if order.kind() == OrderKind::Virtual && is_done && period.contains(&order.state_since()) {
            settled.push(order);
        }
    })?;
    Ok(settled)
}

/// Goes through a whole list. Its pages are ranges of an index, and one unit of work sees all of them alike.
fn each_of_list<T>(
    mut list: impl FnMut(Page) -> Result<Listed<T>, StoreError>,
    mut each: impl FnMut(T),
) -> Result<(), StoreError> {
    for number in 1..=Page::MAX_NUMBER {
        let page = Page::new(number, Page::MAX_SIZE)
            .map_err(|invalid| StoreError::Failed(format!("page: {}", invalid.detail())))?;
        let items = list(page)?.items;
        let is_last = items.len() < Page::MAX_SIZE as usize;
        items.into_iter().for_each(&mut each);
        if is_last {
            break;
        }
    }
    Ok(())
}

/// The money that a card of an order holds from the start.
struct FirstTopUp {
    ordinal: u32,
    card: CardNumber,
    amount: Kopecks,
    /// Whether the copy of the bank's transactions has it. Then it is compared on its own day.
    is_stored: bool,
}

/// The first top-ups of an order's cards, from this card on.
fn first_top_ups(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    order: OrderId,
    from: u32,
    window: &Range<OffsetDateTime>,
) -> Result<Vec<FirstTopUp>, StoreError> {
    let items = unit.orders().result(partner, order, from, ITEMS)?;
    let numbers: Vec<CardNumber> = items.iter().map(|item| item.number).collect();
    let owners = unit.cards().owners(&numbers)?;
    let cards: Vec<CardId> = owners.iter().map(|(.., card)| *card).collect();
    let mut stored = HashSet::new();
    for (card, transaction) in unit.reconciliation().transactions(partner, &cards, window)? {
        let number = owners.iter().find(|(.., owned)| *owned == card).map(|(number, ..)| *number);
        stored.extend(number.map(|number| (number, signed(&transaction))));
    }
    let first_top_up = |item: OrderResultItem| {
        let amount = item.activation.map_or(Kopecks::ZERO, |activation| activation.first_top_up);
        let is_stored = amount == Kopecks::ZERO || stored.contains(&(item.number, amount));
        FirstTopUp { ordinal: item.ordinal, card: item.number, amount, is_stored }
    };
    Ok(items.into_iter().map(first_top_up).collect())
}
