//! Partners and their keys.

use kopeck_domain::ids::PartnerId;
use kopeck_domain::partner::{PartnerStatus, SealingPolicy};

use super::support::{at, credentials, id, partner, read, write};
use crate::{Credentials, Rule, SealingKeyRecord, Store, StoreError};

fn insert(store: &dyn Store, credentials: &Credentials) -> Result<(), StoreError> {
    let credentials = credentials.clone();
    write(store, move |unit| unit.partners().insert(&credentials))
}

fn key(number: u8, seconds: i64) -> SealingKeyRecord {
    SealingKeyRecord {
        key_id: [number; 8],
        encrypted_secret: vec![number; 72],
        created_at: at(seconds),
        accepted_until: None,
        first_used_at: None,
    }
}

fn add_key(store: &dyn Store, partner: PartnerId, key: &SealingKeyRecord) -> Result<(), StoreError> {
    let key = key.clone();
    write(store, move |unit| unit.partners().add_sealing_key(partner, &key))
}

fn keys(store: &dyn Store, partner: PartnerId) -> Vec<SealingKeyRecord> {
    read(store, move |unit| unit.partners().sealing_keys(partner))
}

/// What was stored comes back whole; what was not is not there.
pub fn a_partner_is_found_by_key_and_by_id(store: &dyn Store) {
    let mut optional = credentials();
    optional.partner.sealing = SealingPolicy::Optional;
    for one in [credentials(), optional] {
        insert(store, &one).unwrap();
        let (hash, id) = (one.api_key_hash, one.partner.id);
        assert_eq!(read(store, move |unit| unit.partners().by_api_key(&hash, at(0))), Some(one.clone()));
        assert_eq!(read(store, move |unit| unit.partners().get(id)), Some(one.partner));
    }
    assert_eq!(read(store, |unit| unit.partners().by_api_key(&[1; 32], at(0))), None);
    let unknown = id();
    assert_eq!(read(store, move |unit| unit.partners().get(unknown)), None);
}

/// The login is the only thing two partners must not share by choice.
pub fn a_login_belongs_to_one_partner(store: &dyn Store) {
    let first = credentials();
    insert(store, &first).unwrap();
    let mut second = credentials();
    second.partner.login.clone_from(&first.partner.login);
    assert_eq!(insert(store, &second), Err(StoreError::Conflict(Rule::PartnerLogin)));
    assert_eq!(read(store, |unit| unit.partners().list()), [first.partner]);
}

/// By the time of their creation, whatever the order of their identifiers.
pub fn partners_are_listed_oldest_first(store: &dyn Store) {
    assert_eq!(read(store, |unit| unit.partners().list()), []);
    let mut partners = [credentials(), credentials(), credentials()];
    for (credentials, seconds) in partners.iter_mut().zip([30, 10, 20]) {
        credentials.partner.created_at = at(seconds);
        insert(store, credentials).unwrap();
    }
    let [last, first, second] = partners.map(|credentials| credentials.partner);
    assert_eq!(read(store, |unit| unit.partners().list()), [first, second, last]);
}

/// Only the one that was meant.
pub fn a_partner_is_suspended_and_resumed(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let status = |id| read(store, move |unit| unit.partners().get(id)).unwrap().status;
    for wanted in [PartnerStatus::Suspended, PartnerStatus::Active] {
        write(store, move |unit| unit.partners().set_status(partner, wanted)).unwrap();
        assert_eq!((status(partner), status(other)), (wanted, PartnerStatus::Active));
    }
}

/// Only that of the one that was meant.
pub fn a_policy_is_replaced(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let sealing = |id| read(store, move |unit| unit.partners().get(id)).unwrap().sealing;
    for wanted in [SealingPolicy::Optional, SealingPolicy::Required] {
        write(store, move |unit| unit.partners().set_sealing(partner, wanted)).unwrap();
        assert_eq!((sealing(partner), sealing(other)), (wanted, SealingPolicy::Required));
    }
}

/// Only that of the one that was meant.
pub fn a_password_is_replaced(store: &dyn Store) {
    let (mut one, other) = (credentials(), credentials());
    insert(store, &one).unwrap();
    insert(store, &other).unwrap();
    let id = one.partner.id;
    write(store, move |unit| unit.partners().set_password_hash(id, "another hash")).unwrap();
    one.password_hash = "another hash".to_owned();
    for expected in [one, other] {
        let hash = expected.api_key_hash;
        assert_eq!(read(store, move |unit| unit.partners().by_api_key(&hash, at(0))), Some(expected));
    }
}

/// Ended ones too: the one without an end is the active one.
pub fn sealing_keys_come_newest_first(store: &dyn Store) {
    let partner = partner(store);
    assert_eq!(keys(store, partner), []);
    for (number, seconds) in [(1, 10), (3, 30), (2, 20)] {
        add_key(store, partner, &key(number, seconds)).unwrap();
    }
    write(store, move |unit| unit.partners().end_sealing_key(partner, [2; 8], at(99))).unwrap();
    let ended = SealingKeyRecord { accepted_until: Some(at(99)), ..key(2, 20) };
    assert_eq!(keys(store, partner), [key(3, 30), ended, key(1, 10)]);

    // A rotation at the same timestamp.
    write(store, move |unit| unit.partners().end_sealing_key(partner, [3; 8], at(100))).unwrap();
    add_key(store, partner, &key(4, 30)).unwrap();
    let newest: Vec<[u8; 8]> = keys(store, partner).iter().map(|key| key.key_id).collect();
    assert_eq!(newest, [[4; 8], [3; 8], [2; 8], [1; 8]]);
}

/// Two partners may have keys of one name; ending one leaves the other.
pub fn a_sealing_key_is_its_partners_own(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    add_key(store, first, &key(1, 10)).unwrap();
    assert_eq!(keys(store, second), []);
    add_key(store, second, &key(1, 11)).unwrap();
    write(store, move |unit| unit.partners().end_sealing_key(second, [1; 8], at(50))).unwrap();
    assert_eq!(keys(store, first), [key(1, 10)]);
    assert_eq!(add_key(store, id(), &key(1, 10)), Err(StoreError::Conflict(Rule::Reference)));
}

/// The first use counts, and only of this key.
pub fn a_sealing_key_keeps_when_it_was_first_used(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    for partner in [first, second] {
        add_key(store, partner, &key(1, 10)).unwrap();
        add_key(store, partner, &SealingKeyRecord { first_used_at: Some(at(25)), ..key(2, 20) }).unwrap();
    }
    for (number, seconds) in [(1, 30), (1, 40), (2, 50), (3, 60)] {
        write(store, move |unit| unit.partners().mark_sealing_key_used(first, [number; 8], at(seconds)))
            .unwrap();
    }
    let used = |number, seconds, at_second| SealingKeyRecord {
        first_used_at: Some(at(at_second)),
        ..key(number, seconds)
    };
    assert_eq!(keys(store, first), [used(2, 20, 25), used(1, 10, 30)]);
    assert_eq!(keys(store, second), [used(2, 20, 25), key(1, 10)]);
}

/// And is otherwise as it was.
pub fn a_sealing_key_is_encrypted_anew(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    for partner in [first, second] {
        add_key(store, partner, &key(1, 10)).unwrap();
        add_key(store, partner, &key(2, 20)).unwrap();
    }
    write(store, move |unit| unit.partners().reencrypt_sealing_key(first, [1; 8], &[9; 80])).unwrap();
    let anew = SealingKeyRecord { encrypted_secret: vec![9; 80], ..key(1, 10) };
    assert_eq!(keys(store, first), [key(2, 20), anew]);
    assert_eq!(keys(store, second), [key(2, 20), key(1, 10)]);
}

/// The one before it is not.
pub fn a_former_api_key_is_accepted_for_a_while(store: &dyn Store) {
    let (mut one, other) = (credentials(), credentials());
    insert(store, &one).unwrap();
    insert(store, &other).unwrap();
    let (id, first) = (one.partner.id, one.api_key_hash);
    let found =
        |hash: [u8; 32], now: i64| read(store, move |unit| unit.partners().by_api_key(&hash, at(now)));
    let replace = |hash: [u8; 32], until: i64| {
        write(store, move |unit| unit.partners().replace_api_key(id, &hash, at(until))).unwrap();
    };
    let until = |id| read(store, move |unit| unit.partners().former_api_key_until(id));
    assert_eq!(until(id), None);
    replace([201; 32], 100);
    assert_eq!((until(id), until(other.partner.id)), (Some(at(100)), None));
    one.api_key_hash = [201; 32];
    assert_eq!(found([201; 32], 1_000), Some(one.clone()));
    assert_eq!((found(first, 99), found(first, 100)), (Some(one.clone()), None));
    replace([202; 32], 200);
    one.api_key_hash = [202; 32];
    assert_eq!(found(first, 99), None);
    assert_eq!((found([201; 32], 199), found([202; 32], 199)), (Some(one.clone()), Some(one)));
    assert_eq!(found(other.api_key_hash, 1_000), Some(other));
}

/// Only the one that was meant.
pub fn a_partner_is_renamed(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let name = |id| read(store, move |unit| unit.partners().get(id)).unwrap().name;
    let before = name(other);
    write(store, move |unit| unit.partners().set_name(partner, "Bakery & Sons")).unwrap();
    assert_eq!((name(partner), name(other)), ("Bakery & Sons".to_owned(), before));
}

/// Its login is free for another.
pub fn a_deleted_partner_leaves_nothing(store: &dyn Store) {
    let (one, other) = (credentials(), credentials());
    insert(store, &one).unwrap();
    insert(store, &other).unwrap();
    let id = one.partner.id;
    add_key(store, id, &key(1, 0)).unwrap();
    write(store, move |unit| unit.partners().delete(id)).unwrap();
    assert_eq!(read(store, |unit| unit.partners().list()), [other.partner]);
    let mut next = credentials();
    next.partner.login.clone_from(&one.partner.login);
    insert(store, &next).unwrap();
}
