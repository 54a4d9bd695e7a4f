//! The registry.

use kopeck_bank_protocol::{REGISTRY, RegistryResponse};
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::{BankKey, Capability, RegistryEntry, RegistryPosition, Verdict};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use crate::session::{Answer, Broken, Checked, DONE, Session, hold};

/// A page of the movements in `[from, until)` behind a position.
fn page(
    session: &mut Session<'_>,
    period: (OffsetDateTime, OffsetDateTime),
    after: Option<RegistryPosition>,
    limit: u32,
) -> Checked<Vec<RegistryEntry>> {
    let text = |at: OffsetDateTime| {
        let text = at.to_offset(time::UtcOffset::UTC).format(&Rfc3339);
        text.map_err(|_| Broken("the period is out of range".to_owned()))
    };
    let mut query = vec![("from", text(period.0)?), ("until", text(period.1)?), ("limit", limit.to_string())];
    if let Some(RegistryPosition { card, id }) = after {
        query.extend([("afterCard", card.to_string()), ("afterId", id.to_string())]);
    }
    let response: RegistryResponse = session.read(REGISTRY, &query)?;
    let entries = response.entries.into_iter().map(RegistryEntry::try_from).collect::<Result<Vec<_>, _>>();
    let entries = entries.map_err(|error| Broken(error.to_string()))?;
    hold!(entries.len() <= limit as usize, "a page of {limit} entries has {}", entries.len());
    let positions = after.into_iter().chain(entries.iter().map(RegistryEntry::position));
    hold!(
        positions.is_sorted_by(|one, next| one < next),
        "a page is not sorted by card and id, or not behind the last one"
    );
    for entry in &entries {
        let at = entry.transaction.executed_at;
        hold!(period.0 <= at && at < period.1, "transaction {} is not of the period", entry.transaction.id);
    }
    Ok(entries)
}

/// Every movement of a period, read in pages.
fn whole(
    session: &mut Session<'_>,
    period: (OffsetDateTime, OffsetDateTime),
    limit: u32,
) -> Checked<Vec<RegistryEntry>> {
    let mut all: Vec<RegistryEntry> = Vec::new();
    loop {
        let after = all.last().map(RegistryEntry::position);
        let entries = page(session, period, after, limit)?;
        let is_last = entries.len() < limit as usize;
        all.extend(entries);
        if is_last {
            return Ok(all);
        }
    }
}

/// Ten minutes around now, whatever the difference of the clocks.
fn around(session: &Session<'_>) -> (OffsetDateTime, OffsetDateTime) {
    let now = session.clock().now();
    (now - Duration::minutes(10), now + Duration::minutes(10))
}

/// A card with two top-ups and a withdrawal, and the keys of its movements.
fn moved(session: &mut Session<'_>) -> Checked<(CardNumber, Vec<BankKey>)> {
    let card = session.new_card()?;
    let mut keys = Vec::new();
    for amount in [500, 700] {
        let top_up = session.top_up(card, amount);
        session.expect(&top_up, DONE, "a top-up")?;
        session.expect(&top_up, DONE, "the same top-up again")?;
        keys.push(top_up.key);
    }
    if session.capabilities.has(Capability::Withdrawals) {
        let withdraw = session.withdraw(card, Some(200));
        let answer = session.one(&withdraw)?;
        hold!(matches!(answer, Answer::Verdict(Verdict::Returned(_))), "a withdrawal was declined");
        keys.push(withdraw.key);
    }
    Ok((card, keys))
}

pub(super) fn has_every_movement(session: &mut Session<'_>) -> Checked {
    let (card, keys) = moved(session)?;
    let room = session.known_card(card)?.remaining_top_up.get();
    let over = session.top_up(card, room + 1);
    session.one(&over)?;
    let period = around(session);
    let entries = whole(session, period, 1_000)?;
    let of_card: Vec<&RegistryEntry> = entries.iter().filter(|entry| entry.card == card).collect();
    let listed = session.transactions(card, 0, 100)?;
    hold!(
        of_card.iter().map(|entry| &entry.transaction).eq(&listed),
        "the registry has {} movements of a card with {} transactions, or other ones",
        of_card.len(),
        listed.len()
    );
    let caused: Vec<Option<&str>> =
        of_card.iter().map(|entry| entry.key.as_ref().map(BankKey::as_str)).collect();
    let expected: Vec<Option<&str>> = keys.iter().map(|key| Some(key.as_str())).collect();
    hold!(caused == expected, "the keys of the movements are {caused:?}, expected {expected:?}");
    Ok(())
}

pub(super) fn is_of_a_period(session: &mut Session<'_>) -> Checked {
    let (card, _) = moved(session)?;
    let made = session.transactions(card, 0, 100)?;
    let (Some(first), Some(last)) = (made.first(), made.last()) else {
        return Err(Broken("a card with top-ups has no transactions".to_owned()));
    };
    let (first, last) = (first.executed_at, last.executed_at);
    let mut count = |from, until| -> Checked<usize> {
        Ok(whole(session, (from, until), 1_000)?.iter().filter(|entry| entry.card == card).count())
    };
    let next = last + Duration::MICROSECOND;
    let (inside, before, after) =
        (count(first, next)?, count(first - Duration::HOUR, first)?, count(next, next + Duration::HOUR)?);
    hold!(
        inside == made.len(),
        "a period from the first to behind the last transaction has {inside} of {}",
        made.len()
    );
    hold!(before == 0, "a period that ends at the first transaction has {before} of them");
    hold!(after == 0, "a period behind the last transaction has {after} of them");
    Ok(())
}

pub(super) fn is_sorted_and_read_on(session: &mut Session<'_>) -> Checked {
    let (one, _) = moved(session)?;
    let (two, _) = moved(session)?;
    let period = around(session);
    let of_cards = |entries: Vec<RegistryEntry>| -> Vec<RegistryEntry> {
        entries.into_iter().filter(|entry| entry.card == one || entry.card == two).collect()
    };
    let all = of_cards(whole(session, period, 1_000)?);
    let paged = of_cards(whole(session, period, 3)?);
    hold!(
        paged == all && !all.is_empty(),
        "pages of 3 entries have {} entries, one page has {}",
        paged.len(),
        all.len()
    );
    Ok(())
}
