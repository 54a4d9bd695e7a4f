//! The place in the bank's feed, and what follows it.

use kopeck_domain::card::{BankView, expiry_notice_due};
use kopeck_domain::card_number::CardNumber;
use time::{Date, Duration};
use uuid::Uuid;

use super::support::{at, get_card, last_day, partner, read, some_cards, write};
use crate::{BankFeedState, Store};

fn state(store: &dyn Store) -> BankFeedState {
    read(store, |unit| unit.bank_feed().state())
}

/// There is one place, for all partners.
pub fn the_place_in_the_feed_is_stored(store: &dyn Store) {
    assert_eq!(state(store), BankFeedState::default());
    let leased =
        BankFeedState { cursor: 7, forgotten_at: Some(at(5)), lease: Some((Uuid::from_u128(9), at(20))) };
    for stored in [leased, BankFeedState { cursor: 8, ..BankFeedState::default() }] {
        write(store, move |unit| unit.bank_feed().set_state(&stored)).unwrap();
        assert_eq!(state(store), stored);
    }
}

/// An entry is one partner's; two partners' cards never share one, but nothing depends on that.
pub fn a_decline_is_recorded_once(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let record = |partner, seq| write(store, move |unit| unit.bank_feed().record_decline(partner, seq));
    assert_eq!(record(partner, 5), Ok(true));
    assert_eq!(record(partner, 6), Ok(true));
    assert_eq!(record(other, 6), Ok(true));
    assert_eq!((record(partner, 5), record(partner, 6)), (Ok(false), Ok(false)));
    write(store, |unit| unit.bank_feed().forget_declines(5)).unwrap();
    assert_eq!((record(partner, 5), record(partner, 6)), (Ok(true), Ok(false)));
}

/// Whosever they are.
pub fn owners_are_found_by_number(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let (own, others) = (some_cards(store, partner, 2), some_cards(store, other, 1));
    let owners = |numbers: &[CardNumber]| {
        let numbers = numbers.to_vec();
        let mut owners = read(store, move |unit| unit.cards().owners(&numbers));
        owners.sort();
        owners
    };
    assert_eq!(owners(&[]), []);
    let unknown = CardNumber::parse("9999999999").unwrap();
    let mut expected =
        vec![(own[1].number(), partner, own[1].id()), (others[0].number(), other, others[0].id())];
    expected.sort();
    assert_eq!(owners(&[unknown, own[1].number(), others[0].number()]), expected);
}

fn due(store: &dyn Store, today: Date) -> usize {
    read(store, move |unit| unit.cards().expiries_due(today, 10)).len()
}

/// Of two who take it, one has it.
pub fn an_expiry_is_due_until_it_is_taken(store: &dyn Store) {
    let partner = partner(store);
    let cards = some_cards(store, partner, 2);
    let first = expiry_notice_due(last_day());
    assert_eq!((due(store, first - Duration::DAY), due(store, first)), (0, 2));
    assert_eq!(read(store, move |unit| unit.cards().expiries_due(first, 1)).len(), 1);
    let take = |index: usize, today, next| {
        let card = cards[index].id();
        write(store, move |unit| unit.cards().take_expiry(partner, card, today, next)).unwrap()
    };
    assert!(!take(0, first - Duration::DAY, None));
    assert!(take(0, first, Some(last_day())));
    assert!(!take(0, first, Some(last_day())));
    let left = read(store, move |unit| unit.cards().expiries_due(first, 10));
    assert_eq!(left, [(partner, cards[1].id())]);
    assert!(take(1, first, None));
    assert_eq!((due(store, first), due(store, last_day())), (0, 1));
}

/// The bank's data with the same last day changes nothing; a card that was renewed expires again.
pub fn another_last_day_is_a_new_event(store: &dyn Store) {
    let partner = partner(store);
    let card = some_cards(store, partner, 1)[0].id();
    let renewed = last_day() + Duration::days(365);
    let told = move |today: Date| {
        write(store, move |unit| unit.cards().take_expiry(partner, card, today, None)).unwrap()
    };
    assert!(told(last_day()));
    let view = get_card(store, partner, card).unwrap().bank;
    for (seconds, valid_until, expected) in [(100, last_day(), 0), (200, renewed, 1)] {
        let view = BankView { seen_at: at(seconds), ..view };
        let stored = write(store, move |unit| unit.cards().set_bank_view(partner, card, &view, valid_until));
        assert_eq!(stored, Ok(true));
        assert_eq!(due(store, renewed), expected);
    }
    assert_eq!(due(store, last_day()), 0);
}
