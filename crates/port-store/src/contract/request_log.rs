//! The request log.

use kopeck_domain::ids::PartnerId;
use uuid::Uuid;

use super::support::{at, partner, read, write};
use crate::{RequestLogFilter, RequestLogPage, RequestRecord, Store};

/// A request with this id.
fn record(request_id: &str) -> RequestRecord {
    RequestRecord {
        at: at(1),
        request_id: request_id.to_owned(),
        operation: "balance".to_owned(),
        status: 200,
        code: None,
        fields: vec![],
        duration_ms: 7,
        credential: None,
        address: None,
        replayed: false,
    }
}

fn append(store: &dyn Store, partner: PartnerId, now: i64, records: &[RequestRecord]) {
    let records = records.to_vec();
    write(store, move |unit| unit.request_log().append(partner, &records, at(now))).unwrap();
}

fn page(
    store: &dyn Store,
    partner: PartnerId,
    after: i64,
    filter: &RequestLogFilter,
    limit: u32,
) -> RequestLogPage {
    let filter = filter.clone();
    read(store, move |unit| unit.request_log().after(partner, after, &filter, limit))
}

fn all(store: &dyn Store, partner: PartnerId) -> RequestLogPage {
    page(store, partner, 0, &RequestLogFilter::default(), 500)
}

fn ids(page: &RequestLogPage) -> Vec<&str> {
    page.requests.iter().map(|row| row.record.request_id.as_str()).collect()
}

/// Whole, and page by page; `next` is the number to go on with.
pub fn requests_are_read_in_the_order_of_writing(store: &dyn Store) {
    let partner = partner(store);
    let none = all(store, partner);
    assert_eq!((none.requests.len(), none.next), (0, 0));
    let full = RequestRecord {
        status: 422,
        code: Some("not_found".to_owned()),
        fields: vec!["cards[3].idCard".to_owned(), "x-nonce".to_owned()],
        duration_ms: u32::MAX,
        credential: Some(Uuid::from_u128(7).into()),
        address: Some("2001:db8::1".to_owned()),
        replayed: true,
        ..record("first")
    };
    append(store, partner, 10, &[full.clone(), record("second")]);
    append(store, partner, 11, &[record("third")]);
    let whole = all(store, partner);
    assert_eq!(ids(&whole), ["first", "second", "third"]);
    assert_eq!(whole.requests[0].record, full);
    assert!(whole.requests.is_sorted_by(|one, next| one.seq < next.seq));
    assert_eq!(whole.next, whole.requests[2].seq);
    let first = page(store, partner, 0, &RequestLogFilter::default(), 2);
    let rest = page(store, partner, first.next, &RequestLogFilter::default(), 2);
    assert_eq!((ids(&first), ids(&rest)), (vec!["first", "second"], vec!["third"]));
    let end = page(store, partner, rest.next, &RequestLogFilter::default(), 2);
    assert_eq!((end.requests.len(), end.next), (0, rest.next));
}

/// The newest first, page by page, also past rows that do not fit.
pub fn the_newest_requests_come_first(store: &dyn Store) {
    let partner = partner(store);
    let newest = |before, filter: &RequestLogFilter, limit| {
        let filter = filter.clone();
        let page = read(store, move |unit| unit.request_log().newest(partner, before, &filter, limit));
        let ids: Vec<String> = page.requests.into_iter().map(|row| row.record.request_id).collect();
        (ids, page.before)
    };
    let all = RequestLogFilter::default();
    assert_eq!(newest(None, &all, 2), (vec![], None));
    append(store, partner, 10, &[RequestRecord { status: 500, ..record("oldest") }]);
    append(store, partner, 20, &(0..10_001).map(|_| record("many")).collect::<Vec<_>>());
    append(store, partner, 30_000, &["a", "b", "c"].map(record));
    let (first, before) = newest(None, &all, 2);
    assert_eq!(first, ["c", "b"]);
    assert_eq!(newest(before, &all, 1).0, ["a"]);
    let only_a = RequestLogFilter { request_id: Some("a".to_owned()), ..all.clone() };
    assert_eq!(newest(None, &only_a, 1), (vec!["a".to_owned()], None), "there is no more");
    let failed = RequestLogFilter { status: Some(500), ..all };
    let (none, before) = newest(None, &failed, 5);
    assert!(none.is_empty() && before.is_some());
    assert_eq!(newest(before, &failed, 5), (vec!["oldest".to_owned()], None));
}

/// Neither a clock that is set back nor a burst within a microsecond gives a number twice, or a smaller one.
pub fn numbers_go_on_whatever_the_clock_shows(store: &dyn Store) {
    let partner = partner(store);
    let burst: Vec<_> = (0..120).map(|number| record(&format!("a{number}"))).collect();
    append(store, partner, 100, &burst);
    append(store, partner, 100, &[record("b")]);
    append(store, partner, 50, &[record("c")]);
    append(store, partner, 200, &[record("d")]);
    let page = all(store, partner);
    assert_eq!(ids(&page)[119..], ["a119", "b", "c", "d"]);
    assert!(page.requests.is_sorted_by(|one, next| one.seq < next.seq));
}

/// Alone and together.
pub fn requests_are_found_by_each_filter(store: &dyn Store) {
    let partner = partner(store);
    let refused = RequestRecord { status: 404, ..record("one") };
    let other = RequestRecord { operation: "card.info".to_owned(), ..record("two") };
    append(store, partner, 10, &[refused, other, record("one")]);
    let none = RequestLogFilter::default();
    let status = RequestLogFilter { status: Some(404), ..none.clone() };
    let operation = RequestLogFilter { operation: Some("balance".to_owned()), ..none.clone() };
    let request_id = RequestLogFilter { request_id: Some("one".to_owned()), ..none };
    let both = RequestLogFilter { status: Some(200), ..request_id.clone() };
    let nothing = RequestLogFilter { operation: Some("card.info".to_owned()), ..request_id.clone() };
    let last = all(store, partner).next;
    for (filter, numbers) in [
        (status, vec![0]),
        (operation, vec![0, 2]),
        (request_id, vec![0, 2]),
        (both, vec![2]),
        (nothing, vec![]),
    ] {
        let found = page(store, partner, 0, &filter, 500);
        let first = all(store, partner).requests[0].seq;
        let found_numbers: Vec<i64> = found.requests.iter().map(|row| row.seq - first).collect();
        assert_eq!((found_numbers, found.next), (numbers, last), "{filter:?}");
    }
}

/// However many rows do not fit: each page looks at some of them, and `next` gets to the end.
pub fn a_reader_with_a_filter_goes_on(store: &dyn Store) {
    let partner = partner(store);
    let many: Vec<_> = (0..10_001).map(|_| record("many")).collect();
    append(store, partner, 10, &many);
    append(store, partner, 11, &[RequestRecord { status: 500, ..record("wanted") }]);
    let filter = RequestLogFilter { status: Some(500), ..RequestLogFilter::default() };
    let first = page(store, partner, 0, &filter, 1);
    assert!(first.requests.is_empty() && first.next > 0, "{first:?}");
    let second = page(store, partner, first.next, &filter, 1);
    assert_eq!(ids(&second), ["wanted"]);
    assert_eq!(second.next, second.requests[0].seq);
}

/// Whoever follows `next` sees each row once, however many write at the same time.
pub fn a_reader_misses_no_row_of_concurrent_writers(store: &dyn Store) {
    const WRITERS: i64 = 4;
    const BATCHES: usize = 25;
    const ROWS: usize = 200;
    let partner = partner(store);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                for batch in 0..BATCHES {
                    let records = [0, 1].map(|row| record(&format!("{writer}-{batch}-{row}")));
                    // The clocks of the writers differ.
                    append(store, partner, 10 * writer, &records);
                }
            });
        }
        let (mut after, mut seen) = (0, Vec::new());
        while seen.len() < ROWS {
            let part = page(store, partner, after, &RequestLogFilter::default(), 7);
            seen.extend(part.requests.into_iter().map(|row| row.record.request_id));
            after = part.next;
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), ROWS);
    });
    let all = all(store, partner);
    assert_eq!(all.requests.len(), ROWS, "and there are no more");
}

/// Rows and numbers.
pub fn a_request_log_is_its_partners_own(store: &dyn Store) {
    let (one, other) = (partner(store), partner(store));
    append(store, one, 10, &[record("of one")]);
    append(store, other, 10, &[record("of the other")]);
    for (partner, own) in [(one, "of one"), (other, "of the other")] {
        let filter = RequestLogFilter { request_id: Some(own.to_owned()), ..RequestLogFilter::default() };
        assert_eq!(ids(&all(store, partner)), [own]);
        assert_eq!(ids(&page(store, partner, 0, &filter, 9)), [own]);
    }
    let numbers = [one, other].map(|partner| all(store, partner).next);
    assert_eq!(numbers[0], numbers[1], "the number of one partner tells nothing of another");
}

/// The partner was deleted while its last requests waited to be written.
pub fn a_log_without_its_partner_is_not_written(store: &dyn Store) {
    let gone = PartnerId::new(Uuid::from_u128(404));
    append(store, gone, 10, &[record("late")]);
    assert!(all(store, gone).requests.is_empty());
}

/// The oldest first, and a bounded number; what is left keeps its number.
pub fn old_requests_are_forgotten(store: &dyn Store) {
    let (one, other) = (partner(store), partner(store));
    append(store, one, 10, &[record("old"), record("old too")]);
    append(store, other, 11, &[record("as old")]);
    append(store, one, 20, &[record("young")]);
    let forget = |moment, limit| {
        write(store, move |unit| unit.request_log().forget_before(at(moment), limit)).unwrap()
    };
    assert_eq!((forget(10, 9), forget(20, 1)), (0, 1));
    assert_eq!(ids(&all(store, one)), ["old too", "young"]);
    assert_eq!((forget(20, 9), forget(20, 9)), (2, 0));
    assert_eq!(ids(&all(store, one)), ["young"]);
    assert!(all(store, other).requests.is_empty());
    append(store, other, 5, &[record("next")]);
    assert_eq!(ids(&all(store, other)), ["next"]);
}
