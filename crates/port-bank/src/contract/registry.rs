//! The registry.

use std::ops::Range;

use time::{Duration, OffsetDateTime};

use super::{a_card, issue, plastic, submit_one, top_up, virtual_cards};
use crate::{BankGateway, BankKey, DeclineReason, RegistryEntry, Verdict};

const ALWAYS: Range<OffsetDateTime> =
    OffsetDateTime::UNIX_EPOCH..OffsetDateTime::UNIX_EPOCH.saturating_add(Duration::days(100_000));

fn whole(bank: &dyn BankGateway) -> Vec<RegistryEntry> {
    bank.registry(&ALWAYS, None, 1_000).unwrap()
}

/// An empty card is no movement.
pub fn a_registry_begins_empty(bank: &dyn BankGateway) {
    assert_eq!(whole(bank), []);
    a_card(bank);
    assert_eq!(whole(bank), []);
}

/// Each transaction once, with the key of its instruction, by card and id. Declined instructions are not listed. A period
/// is half-open: `[from, until)`.
pub fn the_registry_has_every_movement_with_its_key(bank: &dyn BankGateway) {
    let loaded: Vec<_> =
        issue(bank, "v", &[virtual_cards(2, 1_000)]).iter().map(|card| card.number).collect();
    let card = issue(bank, "p", &[plastic(1)])[0].number;
    for (key, amount) in [("1", 5), ("2", 7), ("2", 7)] {
        assert_eq!(submit_one(bank, &top_up(key, card, amount)), Ok(Verdict::Done));
    }
    let declined = submit_one(bank, &top_up("3", loaded[0], 5));
    assert_eq!(declined, Ok(Verdict::Declined(DeclineReason::NotActivated)));
    let entries = whole(bank);
    let of = |card| entries.iter().filter(move |entry| entry.card == card);
    for (card, keys) in [(loaded[0], &["v"][..]), (loaded[1], &["v"]), (card, &["1", "2"])] {
        assert!(of(card).map(|entry| &entry.transaction).eq(&bank.transactions(card, 0, 10).unwrap()));
        assert!(
            of(card).map(|entry| entry.key.as_ref().map(BankKey::as_str)).eq(keys.iter().copied().map(Some))
        );
    }
    assert_eq!(entries.len(), 4);
    assert!(entries.is_sorted_by(|one, next| one.position() < next.position()));

    let at = entries[0].transaction.executed_at;
    let last = entries.iter().map(|entry| entry.transaction.executed_at).max().unwrap();
    let later = last + Duration::SECOND;
    let within = |period: Range<OffsetDateTime>| bank.registry(&period, None, 10).unwrap();
    assert_eq!(within(at..later), entries);
    assert_eq!(within(later..later + Duration::DAY), []);
    assert_eq!(within(at - Duration::DAY..at), []);
}

/// A reader goes on where it stopped, also in the middle of a card.
pub fn the_registry_is_read_in_pages(bank: &dyn BankGateway) {
    let cards = issue(bank, "p", &[plastic(2)]);
    for (number, card) in (0..6).zip(cards.iter().cycle()) {
        assert_eq!(
            submit_one(bank, &top_up(&number.to_string(), card.number, 100 + number)),
            Ok(Verdict::Done)
        );
    }
    let mut read: Vec<RegistryEntry> = Vec::new();
    loop {
        let page = bank.registry(&ALWAYS, read.last().map(RegistryEntry::position), 2).unwrap();
        assert!(page.len() <= 2);
        if page.is_empty() {
            break;
        }
        read.extend(page);
    }
    assert_eq!((read.len(), &read), (6, &whole(bank)));
}
