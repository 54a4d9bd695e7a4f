//! Scoped credentials.

use kopeck_domain::access::{Scope, Scopes};
use kopeck_domain::credential::Credential;
use kopeck_domain::ids::{CredentialId, PartnerId};

use super::support::{at, id, partner, read, write};
use crate::{CredentialRecord, Rule, Store, StoreError};

/// A credential whose secrets are made of `number`.
fn credential(number: u8) -> CredentialRecord {
    CredentialRecord {
        credential: Credential {
            id: id(),
            name: format!("Учёт {number}"),
            scopes: Scopes::of(&[Scope::OrdersWrite, Scope::EmployeesRead]),
            addresses: None,
            created_at: at(i64::from(number)),
            revoked_at: None,
        },
        login: format!("credential-{number}"),
        api_key_hash: [number; 32],
        password_hash: "$argon2id$".to_owned(),
        key_id: [number; 8],
        encrypted_secret: vec![number; 72],
    }
}

fn insert(store: &dyn Store, partner: PartnerId, record: &CredentialRecord) -> Result<(), StoreError> {
    let record = record.clone();
    write(store, move |unit| unit.credentials().insert(partner, &record))
}

fn get(store: &dyn Store, partner: PartnerId, id: CredentialId) -> Option<CredentialRecord> {
    read(store, move |unit| unit.credentials().get(partner, id))
}

fn by_api_key(store: &dyn Store, number: u8) -> Option<(PartnerId, CredentialRecord)> {
    read(store, move |unit| unit.credentials().by_api_key(&[number; 32]))
}

fn list(store: &dyn Store, partner: PartnerId) -> Vec<CredentialRecord> {
    read(store, move |unit| unit.credentials().list(partner))
}

/// What was stored comes back whole; what was not is not there.
pub fn a_credential_is_found_by_key_and_by_id(store: &dyn Store) {
    let partner = partner(store);
    let (mut late, early) = (credential(2), credential(1));
    late.credential.addresses = Some("10.0.0.0/8,fd00::/8".parse().unwrap());
    for record in [&late, &early] {
        assert_eq!(get(store, partner, record.credential.id), None);
        insert(store, partner, record).unwrap();
        assert_eq!(get(store, partner, record.credential.id).as_ref(), Some(record));
        assert_eq!(by_api_key(store, record.key_id[0]), Some((partner, record.clone())));
    }
    assert_eq!(by_api_key(store, 3), None);
    assert_eq!(list(store, partner), [early, late], "in the order of their creation");
}

/// It is still listed, with the time of the first revocation.
pub fn a_revoked_credential_stays_without_its_key(store: &dyn Store) {
    let partner = partner(store);
    let (revoked, kept) = (credential(1), credential(2));
    for record in [&revoked, &kept] {
        insert(store, partner, record).unwrap();
    }
    for seconds in [7, 8] {
        let id = revoked.credential.id;
        write(store, move |unit| unit.credentials().revoke(partner, id, at(seconds))).unwrap();
    }
    assert_eq!(by_api_key(store, 1), None);
    assert_eq!(by_api_key(store, 2), Some((partner, kept.clone())));
    let mut expected = revoked;
    expected.credential.revoked_at = Some(at(7));
    assert_eq!(list(store, partner), [expected, kept]);
}

/// Neither seen, nor revoked, nor changed by another; of no partner there is none.
pub fn a_credential_is_its_partners_own(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let record = credential(1);
    assert_eq!(insert(store, id(), &record), Err(StoreError::Conflict(Rule::Reference)));
    insert(store, first, &record).unwrap();
    let id = record.credential.id;
    assert_eq!((get(store, second, id), list(store, second)), (None, vec![]));
    write(store, move |unit| {
        unit.credentials().revoke(second, id, at(1))?;
        unit.credentials().set_password_hash(second, id, "another")?;
        unit.credentials().reencrypt(second, id, &[9; 72])
    })
    .unwrap();
    assert_eq!(list(store, first), [record]);
    write(store, move |unit| unit.partners().delete(first)).unwrap();
    assert_eq!((list(store, first), by_api_key(store, 1)), (vec![], None));
}

/// That one, and nothing else of it.
pub fn a_credentials_secret_and_password_are_stored_anew(store: &dyn Store) {
    let partner = partner(store);
    let (changed, kept) = (credential(1), credential(2));
    for record in [&changed, &kept] {
        insert(store, partner, record).unwrap();
    }
    let id = changed.credential.id;
    write(store, move |unit| unit.credentials().reencrypt(partner, id, &[9; 80])).unwrap();
    let changed = CredentialRecord { encrypted_secret: vec![9; 80], ..changed };
    assert_eq!(list(store, partner), [changed.clone(), kept.clone()]);
    write(store, move |unit| unit.credentials().set_password_hash(partner, id, "another")).unwrap();
    let changed = CredentialRecord { password_hash: "another".to_owned(), ..changed };
    assert_eq!(list(store, partner), [changed, kept]);
}
