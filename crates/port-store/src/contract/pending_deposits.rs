//! Deposits that wait for a second operator.

use kopeck_domain::Kopecks;
use kopeck_domain::access::Actor;
use kopeck_domain::ledger::TransferReference;
use kopeck_domain::pending_deposit::PendingDeposit;
use uuid::Uuid;

use super::support::{at, partner, read, write};
use crate::Store;

/// Each partner has its own references.
pub fn a_pending_deposit_is_kept_until_it_is_removed(store: &dyn Store) {
    let [one, other] = [partner(store), partner(store)];
    let reference = TransferReference::parse("INV-1").unwrap();
    let deposit = |partner, seconds: i64| PendingDeposit {
        partner,
        reference: reference.clone(),
        amount: Kopecks::new(seconds * 100),
        by: Actor::User(Uuid::from_u128(7).into()),
        at: at(seconds),
    };
    let (late, early) = (deposit(one, 20), deposit(other, 10));
    for kept in [late.clone(), early.clone()] {
        write(store, move |unit| unit.pending_deposits().insert(&kept)).unwrap();
    }
    let get = |partner| {
        let reference = reference.clone();
        read(store, move |unit| unit.pending_deposits().get(partner, &reference))
    };
    assert_eq!((get(one), get(other)), (Some(late.clone()), Some(early.clone())));
    let of_both = |limit| {
        let all = read(store, move |unit| unit.pending_deposits().list(limit));
        all.into_iter().filter(|deposit| [one, other].contains(&deposit.partner)).collect::<Vec<_>>()
    };
    assert_eq!(of_both(1_000), [early.clone(), late]);
    let named = reference.clone();
    write(store, move |unit| unit.pending_deposits().remove(one, &named)).unwrap();
    assert_eq!((get(one), of_both(1_000)), (None, vec![early]));
}
