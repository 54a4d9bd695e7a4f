//! Nonces of sealed requests.

use kopeck_domain::ids::PartnerId;

use super::support::{at, id, partner, read, write};
use crate::{Rule, SpentNonce, Store, StoreError};

fn spent(idempotency_key: Option<&str>, seconds: i64) -> SpentNonce {
    SpentNonce { idempotency_key: idempotency_key.map(str::to_owned), spent_at: at(seconds) }
}

fn spend(
    store: &dyn Store,
    partner: PartnerId,
    nonce: &'static str,
    spent: &SpentNonce,
    stale_before: i64,
) -> Result<(), StoreError> {
    let spent = spent.clone();
    write(store, move |unit| unit.sealed_nonces().spend(partner, nonce, &spent, at(stale_before)))
}

fn find(store: &dyn Store, partner: PartnerId, nonce: &'static str) -> Option<SpentNonce> {
    read(store, move |unit| unit.sealed_nonces().find(partner, nonce))
}

/// With a key and without one; letter case counts.
pub fn a_nonce_of_a_sealed_request_is_spent_once(store: &dyn Store) {
    let partner = partner(store);
    assert_eq!(find(store, partner, "nonce"), None);
    spend(store, partner, "nonce", &spent(Some("key"), 10), 0).unwrap();
    for again in [spent(Some("key"), 20), spent(Some("other"), 20), spent(None, 20)] {
        let refused = spend(store, partner, "nonce", &again, 10);
        assert_eq!(refused, Err(StoreError::Conflict(Rule::SealedNonce)));
    }
    assert_eq!(find(store, partner, "nonce"), Some(spent(Some("key"), 10)));
    spend(store, partner, "Nonce", &spent(None, 30), 0).unwrap();
    assert_eq!(find(store, partner, "Nonce"), Some(spent(None, 30)));
}

/// A unit of work sees what it has spent, and what it spent goes with it.
pub fn a_nonce_is_spent_with_its_unit_of_work(store: &dyn Store) {
    let partner = partner(store);
    let rolled_back = write(store, move |unit| {
        unit.sealed_nonces().spend(partner, "nonce", &spent(Some("key"), 10), at(0))?;
        assert_eq!(unit.sealed_nonces().find(partner, "nonce")?, Some(spent(Some("key"), 10)));
        let again = unit.sealed_nonces().spend(partner, "nonce", &spent(None, 11), at(0));
        assert_eq!(again, Err(StoreError::Conflict(Rule::SealedNonce)));
        Err::<(), _>(StoreError::Busy)
    });
    assert_eq!(rolled_back, Err(StoreError::Busy));
    assert_eq!(find(store, partner, "nonce"), None);
}

/// Its time was over before it came again.
pub fn a_stale_nonce_is_spent_anew(store: &dyn Store) {
    let partner = partner(store);
    spend(store, partner, "nonce", &spent(Some("key"), 10), 0).unwrap();
    spend(store, partner, "nonce", &spent(None, 100), 11).unwrap();
    assert_eq!(find(store, partner, "nonce"), Some(spent(None, 100)));
}

/// Two partners may use the same one.
pub fn a_nonce_is_its_partners_own(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    spend(store, first, "nonce", &spent(Some("key"), 10), 0).unwrap();
    assert_eq!(find(store, second, "nonce"), None);
    spend(store, second, "nonce", &spent(None, 10), 0).unwrap();
    assert_eq!(find(store, first, "nonce"), Some(spent(Some("key"), 10)));
    assert_eq!(
        spend(store, id(), "nonce", &spent(None, 10), 0),
        Err(StoreError::Conflict(Rule::Reference)),
        "a partner that does not exist"
    );
}

/// Oldest first, up to the limit.
pub fn old_nonces_are_forgotten(store: &dyn Store) {
    let partner = partner(store);
    for (nonce, seconds) in [("c", 30), ("a", 10), ("b", 20)] {
        spend(store, partner, nonce, &spent(None, seconds), 0).unwrap();
    }
    let forget = || write(store, |unit| unit.sealed_nonces().forget_before(at(30), 1)).unwrap();
    assert_eq!(forget(), 1);
    assert_eq!(find(store, partner, "a"), None);
    assert!(find(store, partner, "b").is_some());
    assert_eq!((forget(), forget()), (1, 0));
    assert!(find(store, partner, "c").is_some());
}
