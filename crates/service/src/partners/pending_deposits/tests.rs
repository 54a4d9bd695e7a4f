use kopeck_domain::access::Scopes;
use kopeck_domain::ledger::Reference;
use kopeck_domain::partner::PartnerStatus;
use kopeck_port_store::mock::MockUnit;
use time::Duration;
use uuid::Uuid;

use super::super::tests::known;
use super::*;
use crate::testing::*;

fn operator(number: u128) -> Actor {
    Actor::User(Uuid::from_u128(number).into())
}

fn reference() -> TransferReference {
    TransferReference::parse("INV-1").unwrap()
}

/// Entered by operator 1, so many hours before now.
fn waiting(hours_ago: i64) -> PendingDeposit {
    let at = START - Duration::hours(hours_ago);
    PendingDeposit { partner: PARTNER, reference: reference(), amount: kopecks(250), by: operator(1), at }
}

fn unit(waits: Option<PendingDeposit>, booked: Option<i64>) -> MockUnit {
    let mut unit = MockUnit::default();
    unit.ledger.expect_transferred().returning(move |_, _, _| Ok(booked.map(kopecks)));
    unit.pending_deposits.expect_get().returning(move |_, _| Ok(waits.clone()));
    unit
}

fn enter(unit: &mut MockUnit, by: u128, amount: i64) -> Result<PendingDeposit, PendingDepositError> {
    known(unit, PartnerStatus::Active);
    enter_deposit(unit, &Bench::new(), &operator(by), PARTNER, kopecks(amount), &reference())
}

#[test]
fn a_deposit_is_entered_once_and_moves_nothing() {
    let mut fresh = unit(None, None);
    fresh
        .pending_deposits
        .expect_insert()
        .times(1)
        .withf(|deposit| *deposit == waiting(0))
        .returning(|_| Ok(()));
    assert_eq!(enter(&mut fresh, 1, 250).unwrap(), waiting(0));
    assert!(fresh.events.data().is_empty());
    assert_eq!(enter(&mut unit(Some(waiting(1)), None), 1, 250).unwrap(), waiting(1), "sent twice");
    for (by, amount) in [(1, 251), (2, 250)] {
        let refused = enter(&mut unit(Some(waiting(1)), None), by, amount);
        assert!(matches!(refused, Err(PendingDepositError::ReferenceWaits)), "{by} {amount}");
    }
    let mut stale = unit(Some(waiting(72)), None);
    stale.pending_deposits.expect_remove().times(1).returning(|_, _| Ok(()));
    stale.pending_deposits.expect_insert().times(1).returning(|_| Ok(()));
    assert_eq!(enter(&mut stale, 2, 300).unwrap().by, operator(2));
    let used = enter(&mut unit(None, Some(250)), 1, 250);
    assert!(matches!(used, Err(PendingDepositError::Partner(PartnerError::ReferenceUsed(_)))));
    let none = enter(&mut unit(None, None), 1, 0);
    assert!(matches!(none, Err(PendingDepositError::Partner(PartnerError::NotPositive))));
}

#[test]
fn another_operator_confirms_it_and_it_is_booked() {
    let confirm = |unit: &mut MockUnit, by, seen: &PendingDeposit| {
        let by = Authority { actor: operator(by), scopes: Scopes::ALL };
        confirm_deposit(unit, &Bench::new(), &by, PARTNER, &reference(), digest_of_deposit(seen))
    };
    let mut good = unit(Some(waiting(1)), None);
    known(&mut good, PartnerStatus::Active);
    expect_booking(&mut good, sheet(100, 0), MovementKind::Deposit, Reference::Transfer(reference()), 250);
    good.pending_deposits.expect_remove().times(1).returning(|_, _| Ok(()));
    assert_eq!(confirm(&mut good, 2, &waiting(1)).unwrap(), waiting(1));
    assert_eq!(good.events.data().len(), 1);

    let own = confirm(&mut unit(Some(waiting(1)), None), 1, &waiting(1));
    assert!(matches!(own, Err(PendingDepositError::Approval(ApprovalError::Forbidden))), "{own:?}");
    let other = PendingDeposit { amount: kopecks(2_500), ..waiting(1) };
    let changed = confirm(&mut unit(Some(waiting(1)), None), 2, &other);
    assert!(matches!(changed, Err(PendingDepositError::Approval(ApprovalError::Changed))));
    let late = confirm(&mut unit(Some(waiting(72)), None), 2, &waiting(72));
    assert!(matches!(late, Err(PendingDepositError::Approval(ApprovalError::Expired))));
    let gone = confirm(&mut unit(None, None), 2, &waiting(1));
    assert!(matches!(gone, Err(PendingDepositError::NotPending)));
}

#[test]
fn a_refused_deposit_is_gone() {
    let mut good = unit(Some(waiting(100)), None);
    good.pending_deposits.expect_remove().times(1).returning(|_, _| Ok(()));
    assert_eq!(refuse_deposit(&mut good, PARTNER, &reference()).unwrap(), waiting(100));
    let gone = refuse_deposit(&mut unit(None, None), PARTNER, &reference());
    assert!(matches!(gone, Err(PendingDepositError::NotPending)));
}
