//! The feed.

use kopeck_bank_protocol::{FEED, FeedResponse};
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::{FeedChange, FeedEntry};

use crate::session::{Broken, Checked, DONE, Session, hold};

/// Tries to find entries that become visible late.
const TRIES: usize = 50;

fn page(session: &mut Session<'_>, after: i64, limit: u32) -> Checked<Vec<FeedEntry>> {
    let query = [("after", after.to_string()), ("limit", limit.to_string())];
    let response: FeedResponse = session.read(FEED, &query)?;
    let entries: Vec<FeedEntry> = response.entries.into_iter().map(FeedEntry::from).collect();
    hold!(entries.len() <= limit as usize, "a page of {limit} entries has {}", entries.len());
    let numbers = std::iter::once(after).chain(entries.iter().map(|entry| entry.seq));
    hold!(numbers.is_sorted_by(|one, next| one < next), "the numbers of a page after {after} do not ascend");
    Ok(entries)
}

/// The number of the newest entry, 0 without one.
fn newest(session: &mut Session<'_>) -> Checked<i64> {
    let mut last = 0;
    loop {
        match page(session, last, 1_000)?.last() {
            Some(entry) => last = entry.seq,
            None => return Ok(last),
        }
    }
}

/// Entries of `card` after a number, as soon as there are `count`.
fn of_card(session: &mut Session<'_>, card: CardNumber, after: i64, count: usize) -> Checked<Vec<FeedEntry>> {
    let mut found = Vec::new();
    for _ in 0..TRIES {
        let entries = page(session, after, 1_000)?;
        found = entries.into_iter().filter(|entry| entry.card == card).collect();
        if found.len() >= count {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    Ok(found)
}

fn topped_up(session: &mut Session<'_>, times: i64) -> Checked<CardNumber> {
    let card = session.new_card()?;
    for amount in 1..=times {
        let top_up = session.top_up(card, amount * 100);
        session.expect(&top_up, DONE, "a top-up")?;
        session.expect(&top_up, DONE, "the same top-up again")?;
    }
    Ok(card)
}

pub(super) fn has_every_transaction(session: &mut Session<'_>) -> Checked {
    let after = newest(session)?;
    let card = topped_up(session, 3)?;
    let entries = of_card(session, card, after, 3)?;
    let mut told = Vec::new();
    let mut before = 0;
    for entry in entries {
        if let FeedChange::Transaction { transaction, previous } = entry.change {
            if told.contains(&transaction) {
                continue;
            }
            hold!(
                previous == before,
                "previousId of transaction {} is {previous}, expected {before}",
                transaction.id
            );
            before = transaction.id;
            told.push(transaction);
        }
    }
    let all = session.transactions(card, 0, 10)?;
    hold!(
        told == all,
        "the feed has {} transactions of a card that has {}, or other ones",
        told.len(),
        all.len()
    );
    Ok(())
}

pub(super) fn is_read_on(session: &mut Session<'_>) -> Checked {
    let after = newest(session)?;
    let card = topped_up(session, 5)?;
    let all = of_card(session, card, after, 5)?;
    let mut read = Vec::new();
    let mut last = after;
    loop {
        let entries = page(session, last, 2)?;
        let Some(entry) = entries.last() else { break };
        last = entry.seq;
        read.extend(entries.into_iter().filter(|entry| entry.card == card));
    }
    hold!(
        read == all,
        "pages of 2 entries do not join to the feed: {} and {} entries",
        read.len(),
        all.len()
    );
    hold!(page(session, last, 10)?.is_empty(), "there are entries after the newest one");
    Ok(())
}

pub(super) fn stays_as_it_was(session: &mut Session<'_>) -> Checked {
    let after = newest(session)?;
    let card = topped_up(session, 2)?;
    let first = of_card(session, card, after, 2)?;
    hold!(!first.is_empty(), "the feed has no entry of two top-ups");
    let top_up = session.top_up(card, 900);
    session.expect(&top_up, DONE, "a top-up")?;
    let later = of_card(session, card, after, first.len() + 1)?;
    let again = later.get(..first.len()).ok_or_else(|| Broken("the feed has lost entries".to_owned()))?;
    hold!(again == first, "entries of the feed have changed");
    Ok(())
}
