//! Cases of single kinds.

use kopeck_domain::closing::ClosingRefusal;

use super::{
    BatchFields, BatchItem, BatchState, Card, CardBatch, CardClaims, ClosingTerms, Closings, ItemCounts,
    ItemState, Kopecks, LimitChanges, Store, Stored, TAKEN, TopUps, Withdrawals, at, batch, insert_batch,
    list, page, partner, read, sample_limits, some_cards, targets, try_insert,
};

/// As it was given, of every shape.
pub fn a_limit_change_keeps_its_limit(store: &dyn Store) {
    let partner = partner(store);
    for limit in sample_limits() {
        let (change, items) = batch::<LimitChanges>(&some_cards(store, partner, 1));
        let change = CardBatch::from_stored(BatchFields { terms: limit, ..change.into_fields() });
        insert_batch(store, partner, &change, &items).unwrap();
        let stored = Stored::<LimitChanges> { store, partner, id: change.id() };
        assert_eq!(stored.get(), Some(change));
    }
}

/// Each lane has claims of its own: a limit change stands in no other's way, and an urgent closing comes beside what
/// moves money.
pub fn batches_of_each_lane_can_have_the_same_card(store: &dyn Store) {
    let partner = partner(store);
    let cards = some_cards(store, partner, 1);
    let claims = || targets::<TopUps>(store, partner, &[cards[0].id()])[&cards[0].id()].claims;
    Stored::<TopUps>::new(store, partner, &cards);
    Stored::<LimitChanges>::new(store, partner, &cards);
    assert_eq!(claims(), CardClaims { limits: true, money: true, urgent: false });
    assert_eq!(try_insert::<Withdrawals>(store, partner, &cards).1, TAKEN);
    assert_eq!(try_insert::<Closings>(store, partner, &cards).1, TAKEN);
    let (urgent, items) = urgent_closing(&cards);
    insert_batch(store, partner, &urgent, &items).unwrap();
    assert_eq!(claims(), CardClaims { limits: true, money: true, urgent: true });
    let (second, items) = urgent_closing(&cards);
    assert_eq!(insert_batch(store, partner, &second, &items), TAKEN);
    let stored = Stored::<Closings> { store, partner, id: urgent.id() };
    assert_eq!(stored.get(), Some(urgent));
    stored.release();
    assert_eq!(claims(), CardClaims { limits: true, money: true, urgent: false });
}

/// A new closing of these cards that is urgent.
fn urgent_closing(cards: &[Card]) -> (CardBatch<Closings>, Vec<BatchItem<Closings>>) {
    let (closing, items) = batch::<Closings>(cards);
    let terms = ClosingTerms { is_urgent: true };
    (CardBatch::from_stored(BatchFields { terms, ..closing.into_fields() }), items)
}

/// As it was given, of every shape: with a sum or without one, and of some cards all.
pub fn a_withdrawal_keeps_its_amounts(store: &dyn Store) {
    let partner = partner(store);
    let cards = some_cards(store, partner, 2);
    let (withdrawal, mut items) = batch::<Withdrawals>(&cards);
    items[1].terms = None;
    let withdrawal = CardBatch::from_stored(BatchFields { terms: None, ..withdrawal.into_fields() });
    insert_batch(store, partner, &withdrawal, &items).unwrap();
    let stored = Stored::<Withdrawals> { store, partner, id: withdrawal.id() };
    assert_eq!((stored.get(), stored.items(0, 10)), (Some(withdrawal), items));
}

/// And keeps it when its state changes. Nothing can come back from a card too.
pub fn returned_money_is_added_up(store: &dyn Store) {
    let partner = partner(store);
    let stored = Stored::<Closings>::new(store, partner, &some_cards(store, partner, 3));
    let states = [0, 700, 700].map(|amount| ItemState::Returned(Kopecks::new(amount)));
    stored.settle(&(0..).zip(states).collect::<Vec<_>>());
    assert_eq!(stored.states(), states);
    assert_eq!(stored.counts(), ItemCounts { open: 0, done: 3, refused: 0 });
    for amount in [700, 700] {
        stored.add_returned(amount);
    }
    let batch = stored.get().unwrap();
    assert_eq!(batch.returned(), Kopecks::new(1_400));
    stored.set_state(&CardBatch::from_stored(BatchFields {
        state: BatchState::Success,
        state_since: at(5),
        ..batch.into_fields()
    }));
    let listed = list::<Closings>(store, partner, None, page(1, 10));
    assert_eq!(listed.items.iter().map(|batch| batch.returned().get()).collect::<Vec<_>>(), [1_400]);
}

/// Each card by its own reason, whatever the reasons of the others are; an end of the batch is one for all cards.
pub fn a_lost_card_is_being_closed_until_the_verdict(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let cards = some_cards(store, partner, 5);
    let being_closed = |of| {
        let ids = cards.iter().map(|card| card.id());
        let of_one = |card| read(store, move |unit| unit.cards().is_being_closed(of, card));
        ids.map(of_one).collect::<Vec<_>>()
    };
    Stored::<TopUps>::new(store, partner, &cards[1..2]);
    Stored::<LimitChanges>::new(store, partner, &cards[..2]);
    assert_eq!(being_closed(partner), [false; 5]);
    // By ordinal: lost, stolen, damaged, leaver, other.
    let stored = Stored::<Closings>::new(store, partner, &[&cards[..1], &cards[2..]].concat());
    assert_eq!(being_closed(partner), [true, false, true, false, false]);
    assert_eq!(being_closed(other), [false; 5]);
    stored.settle(&[(0, ItemState::Refused(ClosingRefusal::RefusedByBank))]);
    assert_eq!(being_closed(partner), [false, false, true, false, false]);
    stored.release();
    assert_eq!(being_closed(partner), [false; 5]);
    let (urgent, items) = urgent_closing(&cards[1..2]);
    insert_batch(store, partner, &urgent, &items).unwrap();
    assert_eq!(being_closed(partner), [false, true, false, false, false]);
}
