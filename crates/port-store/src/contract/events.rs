//! The partners' feeds of events.

use kopeck_domain::Kopecks;
use kopeck_domain::event::{Deposited, EmployeeChange, Event, EventData, EventType};
use kopeck_domain::ids::PartnerId;
use kopeck_domain::ledger::TransferReference;
use kopeck_domain::person::CustomId;

use super::support::{at, id, partner, read, write};
use crate::{FeedEvent, Rule, Store, StoreError};

fn deposited(amount: i64) -> Event {
    let reference = TransferReference::parse("R-1").unwrap();
    let data =
        EventData::BalanceDeposited(Deposited { amount: Kopecks::new(amount), reference: Some(reference) });
    Event { id: id(), created_at: at(amount), data }
}

fn created(seconds: i64) -> Event {
    let data = EventData::EmployeeCreated(EmployeeChange {
        employee: id(),
        custom_id: Some(CustomId::parse("Ё-1_Ж").unwrap()),
    });
    Event { id: id(), created_at: at(seconds), data }
}

fn append(store: &dyn Store, partner: PartnerId, events: &[Event]) -> Result<(), StoreError> {
    let events = events.to_vec();
    write(store, move |unit| unit.events().append(partner, &events))
}

fn feed(
    store: &dyn Store,
    partner: PartnerId,
    after: i64,
    types: &[EventType],
    limit: u32,
) -> Vec<FeedEvent> {
    let types = types.to_vec();
    read(store, move |unit| unit.events().after(partner, after, &types, limit))
}

fn numbered(events: &[Event], first: i64) -> Vec<FeedEvent> {
    (first..).zip(events).map(|(seq, event)| FeedEvent { seq, event: event.clone() }).collect()
}

/// In the order in which they were appended, by one unit of work or several.
pub fn events_are_numbered_in_their_order(store: &dyn Store) {
    let partner = partner(store);
    assert_eq!(feed(store, partner, 0, &[], 10), []);
    let events = [deposited(30), created(20), deposited(10)];
    append(store, partner, &events[..2]).unwrap();
    append(store, partner, &[]).unwrap();
    append(store, partner, &events[2..]).unwrap();
    assert_eq!(feed(store, partner, 0, &[], 10), numbered(&events, 1));
    assert_eq!(feed(store, partner, 1, &[], 1), numbered(&events[1..2], 2));
    assert_eq!(feed(store, partner, 3, &[], 10), []);
    assert_eq!(read(store, move |unit| unit.events().last(partner)), 3);
    let (last, unknown) = (events[2].id, id());
    let by_id = |id| read(store, move |unit| unit.events().by_id(partner, id));
    assert_eq!(by_id(last), numbered(&events[2..], 3).pop());
    assert_eq!(by_id(unknown), None);
}

/// What is undone leaves no gap.
pub fn an_event_of_undone_work_never_was(store: &dyn Store) {
    let partner = partner(store);
    let (undone, kept) = (deposited(1), deposited(2));
    let refused: Result<(), StoreError> = write(store, move |unit| {
        unit.events().append(partner, std::slice::from_ref(&undone))?;
        Err(StoreError::Busy)
    });
    assert_eq!(refused, Err(StoreError::Busy));
    append(store, partner, std::slice::from_ref(&kept)).unwrap();
    assert_eq!(feed(store, partner, 0, &[], 10), numbered(&[kept], 1));
}

/// Two partners number theirs by themselves.
pub fn a_feed_is_its_partners_own(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let events = [deposited(1), deposited(2)];
    append(store, first, &events[..1]).unwrap();
    append(store, second, &events[1..]).unwrap();
    assert_eq!(feed(store, first, 0, &[], 10), numbered(&events[..1], 1));
    assert_eq!(feed(store, second, 0, &[], 10), numbered(&events[1..], 1));
    assert_eq!(append(store, id(), &events), Err(StoreError::Conflict(Rule::Reference)));
}

/// Of the types that are named, in one order.
pub fn a_feed_shows_some_types_alone(store: &dyn Store) {
    let partner = partner(store);
    let events = [deposited(1), created(2), deposited(3), created(4)];
    append(store, partner, &events).unwrap();
    let all = numbered(&events, 1);
    let seen = |types: &[EventType], limit| feed(store, partner, 1, types, limit);
    assert_eq!(seen(&[EventType::BalanceDeposited], 10), all[2..3]);
    assert_eq!(seen(&[EventType::EmployeeCreated, EventType::BalanceDeposited], 2), all[1..3]);
    assert_eq!(seen(&[EventType::CardIssued], 10), []);
}

/// Oldest first, up to the limit. Numbers go on behind what is gone.
pub fn old_events_are_forgotten(store: &dyn Store) {
    let partner = partner(store);
    let events = [deposited(10), deposited(20), deposited(30)];
    append(store, partner, &events).unwrap();
    let expired = || read(store, move |unit| unit.events().expired_up_to(partner));
    let forget =
        |seconds, limit| write(store, move |unit| unit.events().forget_before(at(seconds), limit)).unwrap();
    assert_eq!((forget(30, 1), expired()), (1, 1));
    assert_eq!(feed(store, partner, 0, &[], 10), numbered(&events[1..], 2));
    assert_eq!((forget(31, 9), forget(31, 9), expired()), (2, 0, 3));
    append(store, partner, &events[..1]).unwrap();
    assert_eq!(feed(store, partner, 0, &[], 10), numbered(&events[..1], 4));
}
