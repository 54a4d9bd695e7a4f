//! Recorded responses of idempotent requests.

use kopeck_domain::ids::{EmployeeId, PartnerId};

use super::support::{at, id, partner, read, write};
use crate::{RecordedResponse, Rule, Store, StoreError};

fn answer(number: u8, seconds: i64) -> RecordedResponse {
    let body = Some(vec![b'{', 0, 0xff, number, b'}']);
    let employee = number.is_multiple_of(2).then(|| EmployeeId::new(uuid::Uuid::from_u128(number.into())));
    RecordedResponse { fingerprint: [number; 32], status: 201, body, employee, recorded_at: at(seconds) }
}

fn record(
    store: &dyn Store,
    partner: PartnerId,
    key: &'static str,
    answer: &RecordedResponse,
    stale_before: i64,
) -> Result<(), StoreError> {
    let answer = answer.clone();
    write(store, move |unit| unit.idempotency().record(partner, key, &answer, at(stale_before)))
}

fn find(store: &dyn Store, partner: PartnerId, key: &'static str) -> Option<RecordedResponse> {
    read(store, move |unit| unit.idempotency().find(partner, key))
}

/// The first response stays, byte for byte.
pub fn an_answer_is_recorded_once(store: &dyn Store) {
    let partner = partner(store);
    assert_eq!(find(store, partner, "key"), None);
    record(store, partner, "key", &answer(1, 10), 0).unwrap();
    let refused = record(store, partner, "key", &answer(2, 20), 10);
    assert_eq!(refused, Err(StoreError::Conflict(Rule::IdempotencyKey)));
    assert_eq!(find(store, partner, "key"), Some(answer(1, 10)));
    record(store, partner, "Key", &answer(3, 30), 0).unwrap();
    assert_eq!(find(store, partner, "Key"), Some(answer(3, 30)));
}

/// Its time was over before the key came again.
pub fn a_stale_answer_is_replaced(store: &dyn Store) {
    let partner = partner(store);
    record(store, partner, "key", &answer(1, 10), 0).unwrap();
    record(store, partner, "key", &answer(2, 100), 11).unwrap();
    assert_eq!(find(store, partner, "key"), Some(answer(2, 100)));
}

/// Two partners may use the same one.
pub fn a_key_is_its_partners_own(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    record(store, first, "key", &answer(1, 10), 0).unwrap();
    assert_eq!(find(store, second, "key"), None);
    record(store, second, "key", &answer(2, 10), 0).unwrap();
    assert_eq!(find(store, first, "key"), Some(answer(1, 10)));
    assert_eq!(
        record(store, id(), "key", &answer(1, 10), 0),
        Err(StoreError::Conflict(Rule::Reference)),
        "a partner that does not exist"
    );
}

/// Oldest first, up to the limit.
pub fn old_responses_are_deleted(store: &dyn Store) {
    let partner = partner(store);
    for (key, seconds) in [("c", 30), ("a", 10), ("b", 20)] {
        record(store, partner, key, &answer(1, seconds), 0).unwrap();
    }
    let forget = || write(store, |unit| unit.idempotency().forget_before(at(30), 1)).unwrap();
    assert_eq!(forget(), 1);
    assert_eq!(find(store, partner, "a"), None);
    assert!(find(store, partner, "b").is_some());
    assert_eq!((forget(), forget()), (1, 0));
    assert!(find(store, partner, "c").is_some());
}
