use kopeck_domain::event::EmployeeChange;
use kopeck_domain::person::CustomId;
use kopeck_port_store::mock::MockUnit;
use time::Duration;

use super::*;
use crate::testing::*;

fn created(n: u128) -> EventData {
    EventData::EmployeeCreated(EmployeeChange { employee: employee_id(n), custom_id: Some(custom_id(n)) })
}

fn updated(n: u128) -> EventData {
    EventData::EmployeeUpdated(EmployeeChange { employee: employee_id(n), custom_id: Some(custom_id(n)) })
}

fn custom_id(n: u128) -> CustomId {
    CustomId::parse(&format!("E-{n}")).unwrap()
}

fn all(after: i64) -> FeedQuery {
    FeedQuery { after: Some(after), types: Vec::new(), limit: 100 }
}

#[test]
fn an_event_says_when_it_happened_and_has_an_identifier_of_its_own() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    append(&mut unit, &bench, PARTNER, [created(1), updated(1)]).unwrap();
    let page = feed(&mut unit, PARTNER, &all(0)).unwrap();
    let event = |id, data| Event { id: EventId::new(fresh_id(id)), created_at: START, data };
    let expected = vec![
        FeedEvent { seq: 1, event: event(1, created(1)) },
        FeedEvent { seq: 2, event: event(2, updated(1)) },
    ];
    assert_eq!(page, FeedPage { events: expected, next: 2, oldest: 1, newest: 2 });
}

#[test]
fn a_feed_goes_on_where_the_last_page_ended() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    append(&mut unit, &bench, PARTNER, (1..=5).map(created)).unwrap();
    let mut read = Vec::new();
    let mut after = 0;
    loop {
        let page = feed(&mut unit, PARTNER, &FeedQuery { limit: 2, ..all(after) }).unwrap();
        if page.events.is_empty() {
            assert_eq!(page.next, after, "an empty page ends where it began");
            break;
        }
        after = page.next;
        read.extend(page.events.iter().map(|event| event.seq));
    }
    assert_eq!(read, [1, 2, 3, 4, 5]);
}

#[test]
fn a_feed_of_some_types_has_no_others() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    append(&mut unit, &bench, PARTNER, [created(1), updated(1), created(2)]).unwrap();
    let query = FeedQuery { types: vec![EventType::EmployeeUpdated], ..all(0) };
    let page = feed(&mut unit, PARTNER, &query).unwrap();
    assert_eq!(page.events.iter().map(|event| event.seq).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_reader_of_expired_events_gets_an_error() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    append(&mut unit, &bench, PARTNER, (1..=3).map(created)).unwrap();
    bench.clock.step(Duration::days(1));
    append(&mut unit, &bench, PARTNER, [created(4)]).unwrap();
    unit.events().forget_before(bench.now(), 1_000).unwrap();
    for missed in 1..3 {
        let refused = feed(&mut unit, PARTNER, &all(missed));
        assert_eq!(refused, Err(FeedError::Expired { oldest: 4 }), "after {missed}");
    }
    for complete in [0, 3] {
        let page = feed(&mut unit, PARTNER, &all(complete)).unwrap();
        assert_eq!(page.events.iter().map(|event| event.seq).collect::<Vec<_>>(), [4], "after {complete}");
        assert_eq!((page.next, page.oldest, page.newest), (4, 4, 4));
    }
}

/// A reader of another feed than this one must not wait for ever.
#[test]
fn a_number_that_was_never_given_is_refused() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    assert_eq!(feed(&mut unit, PARTNER, &all(1)), Err(FeedError::Ahead { newest: 0 }));
    append(&mut unit, &bench, PARTNER, (1..=3).map(created)).unwrap();
    assert_eq!(feed(&mut unit, PARTNER, &all(3)).unwrap().next, 3);
    for ahead in [4, i64::MAX] {
        assert_eq!(feed(&mut unit, PARTNER, &all(ahead)), Err(FeedError::Ahead { newest: 3 }));
    }
}

/// Whatever the types are; of an empty feed the number is one less than the oldest can be.
#[test]
fn a_page_has_the_newest_number_which_begins_from_now_on() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let from_now = FeedQuery { after: None, types: vec![EventType::EmployeeUpdated], limit: 100 };
    let ends = |unit: &mut MockUnit, query: &FeedQuery| {
        let page = feed(unit, PARTNER, query).unwrap();
        assert!(page.events.is_empty());
        (page.next, page.oldest, page.newest)
    };
    assert_eq!(ends(&mut unit, &from_now), (0, 1, 0));
    append(&mut unit, &bench, PARTNER, (1..=3).map(created)).unwrap();
    assert_eq!(ends(&mut unit, &from_now), (3, 1, 3));
    assert_eq!(ends(&mut unit, &FeedQuery { after: Some(0), ..from_now.clone() }), (0, 1, 3));
    bench.clock.step(Duration::days(1));
    unit.events().forget_before(bench.now(), 1_000).unwrap();
    assert_eq!(ends(&mut unit, &from_now), (3, 4, 3));
}
