//! Encrypted columns: keys that change, and values that are moved.

use std::sync::Arc;

use kopeck_adapter_store_diesel::{BatchedStore, OpenStore, StoreConfig};
use kopeck_domain::access::Role;
use kopeck_domain::ids::UserId;
use kopeck_domain::user::{User, UserLogin, UserStatus};
use kopeck_port_store::mock::FakeCipher;
use kopeck_port_store::{
    RecordedResponse, ReencryptionCursor, SecondFactor, StoreError, UnitOfWork, UserRecord,
};

use crate::support::{
    Kind, NOW, PARTNER, clock, employee, insert_order, on_every_database, order_with_cards, read, tamper,
    write,
};

on_every_database! { values_follow_the_key users_follow_the_key a_value_that_is_moved_does_not_decrypt }

/// The same database under these keys, the first of them current.
fn under(url: &str, keys: &[u8]) -> BatchedStore {
    let cipher = Arc::new(FakeCipher(keys.to_vec()));
    BatchedStore::open(StoreConfig { cipher, ..StoreConfig::new(url, clock()) }).unwrap()
}

fn values_follow_the_key(kind: Kind) {
    let first = kind.store_with_partner();
    let response = RecordedResponse {
        fingerprint: [1; 32],
        status: 200,
        body: Some(b"secret".to_vec()),
        employee: None,
        recorded_at: NOW,
    };
    let recorded = response.clone();
    write(&first, move |unit| {
        unit.employees().insert(PARTNER, &employee(1))?;
        unit.employees().insert(PARTNER, &employee(2))?;
        unit.idempotency().record(PARTNER, "key", &recorded, NOW)
    })
    .unwrap();
    insert_order(&first, order_with_cards(7, 3));
    first.store.close();

    let second = under(&first.url, &[2, 1]);
    let reencrypt = || {
        let (mut done, mut cursor) = (Vec::new(), Some(ReencryptionCursor::default()));
        while let Some(from) = cursor {
            let step = move |unit: &mut dyn UnitOfWork| unit.partners().reencrypt_columns(from.clone(), 3);
            let (values, next) = write(&second, step).unwrap();
            done.push(values);
            cursor = next;
        }
        done
    };
    // Two phones, two addresses, three codes and a response; the order's lines have nothing to encrypt.
    let done = reencrypt();
    assert_eq!(done.iter().sum::<u64>(), 8, "{done:?}");
    assert!(done.len() > 3 && done.iter().all(|values| *values <= 3), "{done:?}");
    // Rows count: a second pass finds nothing in as many steps.
    assert_eq!(reencrypt(), vec![0; done.len()]);
    second.close();

    let third = under(&first.url, &[2]);
    let order = order_with_cards(7, 3).0.id();
    let (found, kept, issued) = read(&third, move |unit| {
        let found = unit.employees().get(PARTNER, employee(2).id())?;
        let kept = unit.idempotency().find(PARTNER, "key")?;
        Ok((found, kept, unit.orders().result(PARTNER, order, 0, 10)?))
    })
    .unwrap();
    assert_eq!(found, Some(employee(2)));
    assert!(kept == Some(response));
    let codes: Vec<_> =
        issued.into_iter().filter_map(|item| item.activation).map(|found| found.code).collect();
    assert_eq!(codes, ["code"; 3].map(|code| Some(code.to_owned())));
    third.close();

    let without = under(&first.url, &[1]);
    let refused = read(&without, |unit| unit.employees().get(PARTNER, employee(1).id()));
    assert_eq!(refused, Err(StoreError::Corrupt("employees.phone".to_owned())));
}

/// With the digest by which they are looked up: while both keys are accepted, and afterwards.
fn users_follow_the_key(kind: Kind) {
    let first = kind.store_with_partner();
    let login = UserLogin::parse("anna@example.ru").unwrap();
    let record = UserRecord {
        user: User {
            id: UserId::new(uuid::Uuid::from_u128(5)),
            partner: Some(PARTNER),
            login: login.clone(),
            role: Role::Hr,
            status: UserStatus::Active,
            created_at: NOW,
        },
        password_hash: "hash".to_owned(),
        initial_until: None,
        second_factor: Some(SecondFactor { secret: [7; 20], last_step: 1 }),
        last_login_at: None,
    };
    let added = record.clone();
    write(&first, move |unit| unit.users().insert(&added)).unwrap();
    first.store.close();
    let found = |keys: &[u8], reencrypts: bool| {
        let store = under(&first.url, keys);
        if reencrypts {
            let all = |unit: &mut dyn UnitOfWork| {
                unit.partners().reencrypt_columns(ReencryptionCursor::default(), 1_000)
            };
            assert_eq!(write(&store, all).unwrap(), (2, None));
        }
        let wanted = login.clone();
        let found = read(&store, move |unit| unit.users().by_login(&wanted));
        store.close();
        found
    };
    assert_eq!(found(&[2, 1], false), Ok(Some(record.clone())));
    assert_eq!(found(&[2, 1], true), Ok(Some(record.clone())));
    assert_eq!(found(&[2], false), Ok(Some(record)));
    assert_eq!(found(&[1], false), Ok(None));
}

fn a_value_that_is_moved_does_not_decrypt(kind: Kind) {
    let store = kind.store_with_partner();
    write(&store, |unit| {
        unit.employees().insert(PARTNER, &employee(1))?;
        unit.employees().insert(PARTNER, &employee(2))
    })
    .unwrap();
    let moved =
        "UPDATE employees SET email = (SELECT o.email FROM employees o WHERE o.seq = 1) WHERE seq = 2";
    tamper(&store, moved);
    let find = |number| read(&store, move |unit| unit.employees().get(PARTNER, employee(number).id()));
    assert_eq!(find(1), Ok(Some(employee(1))));
    assert_eq!(find(2), Err(StoreError::Corrupt("employees.email".to_owned())));
}
