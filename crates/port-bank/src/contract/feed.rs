//! The feed.

use kopeck_domain::transaction::TransactionType;

use super::{a_card, issue, plastic, submit_one, top_up, virtual_cards};
use crate::{BankGateway, FeedChange, FeedEntry, Verdict};

fn whole(bank: &dyn BankGateway) -> Vec<FeedEntry> {
    bank.feed(0, 1_000).unwrap()
}

/// A card with nothing but its issue behind it has no entries.
pub fn a_feed_begins_empty(bank: &dyn BankGateway) {
    assert_eq!(whole(bank), []);
    a_card(bank);
    assert_eq!(whole(bank), []);
    assert_eq!(bank.feed(7, 10), Ok(vec![]));
}

/// Each transaction has one entry, as the list of the card's transactions has it, with the one before it.
pub fn the_feed_has_every_transaction(bank: &dyn BankGateway) {
    let loaded = issue(bank, "v", &[virtual_cards(1, 1_000)])[0].number;
    let card = a_card(bank);
    let other = issue(bank, "p", &[plastic(1)])[0].number;
    for (key, card, amount) in [("1", card, 5), ("2", other, 6), ("3", card, 7)] {
        assert_eq!(submit_one(bank, &top_up(key, card, amount)), Ok(Verdict::Done));
    }
    // A retry moves no money.
    assert_eq!(submit_one(bank, &top_up("3", card, 7)), Ok(Verdict::Done));
    let entries = whole(bank);
    assert_eq!(entries.iter().map(|entry| entry.card).collect::<Vec<_>>(), [loaded, card, other, card]);
    assert!(entries.is_sorted_by(|one, next| 0 < one.seq && one.seq < next.seq));
    let (mut told, mut before) = (Vec::new(), 0);
    for entry in entries.into_iter().filter(|entry| entry.card == card) {
        let FeedChange::Transaction { transaction, previous } = entry.change else {
            unreachable!("{entry:?}")
        };
        assert_eq!((transaction.kind, previous), (TransactionType::Replenishment, before));
        before = transaction.id;
        told.push(transaction);
    }
    assert_eq!(told, bank.transactions(card, 0, 10).unwrap());
}

/// A reader goes on where it stopped, also in the middle.
pub fn the_feed_is_read_in_pages(bank: &dyn BankGateway) {
    let card = a_card(bank);
    for amount in 1..=5 {
        assert_eq!(submit_one(bank, &top_up(&amount.to_string(), card, amount)), Ok(Verdict::Done));
    }
    let all = whole(bank);
    let mut read: Vec<FeedEntry> = Vec::new();
    loop {
        let page = bank.feed(read.last().map_or(0, |last| last.seq), 2).unwrap();
        assert!(page.len() <= 2);
        if page.is_empty() {
            break;
        }
        read.extend(page);
    }
    assert_eq!((read.len(), &read), (5, &all));
}
