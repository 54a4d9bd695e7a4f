use super::super::tests::known;
use super::*;
use crate::testing::*;
use kopeck_domain::partner::PartnerStatus;
use kopeck_port_store::Rule;
use kopeck_port_store::mock::MockUnit;

fn reference(text: &str) -> TransferReference {
    TransferReference::parse(text).unwrap()
}

fn deposit_after(
    before: Option<i64>,
    amount: i64,
    prepare: impl FnOnce(&mut MockUnit),
) -> Result<TransferOutcome, PartnerError> {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let named = reference("r-1");
    let expected = named.clone();
    known(&mut unit, PartnerStatus::Suspended);
    unit.ledger
        .expect_transferred()
        .withf(move |partner, kind, reference| {
            *partner == PARTNER && *kind == MovementKind::Deposit && *reference == expected
        })
        .returning(move |_, _, _| Ok(before.map(kopecks)));
    prepare(&mut unit);
    let outcome = deposit(&mut unit, &bench, PARTNER, kopecks(amount), &DepositOrigin::Operator(named));
    if let Ok(outcome) = outcome {
        let booked = usize::from(outcome == TransferOutcome::Booked);
        assert_eq!(unit.events.data().len(), booked, "an event for each deposit");
    }
    outcome
}

#[test]
fn money_arrives_under_its_reference() {
    let of = Reference::Transfer(reference("r-1"));
    let done = deposit_after(None, 250, |unit| {
        expect_booking(unit, sheet(100, 50), MovementKind::Deposit, of, 250);
    });
    assert_eq!(done.unwrap(), TransferOutcome::Booked);
}

#[test]
fn a_reference_deposits_once() {
    assert_eq!(deposit_after(Some(250), 250, |_| {}).unwrap(), TransferOutcome::AlreadyBooked);
    let other = deposit_after(Some(250), 251, |_| {});
    assert!(matches!(other, Err(PartnerError::ReferenceUsed(before)) if before == kopecks(250)));
}

#[test]
fn only_money_above_zero_that_fits_is_deposited() {
    for amount in [0, -1] {
        assert!(matches!(deposit_after(None, amount, |_| {}), Err(PartnerError::NotPositive)));
    }
    let full = deposit_after(None, i64::MAX, |unit| {
        unit.ledger.expect_sheet().returning(|_| Ok(Some(sheet(2, 0))));
    });
    assert!(matches!(full, Err(PartnerError::Overflow)), "{full:?}");
}

#[test]
fn a_raced_deposit_moves_no_money_twice() {
    let raced = deposit_after(None, 250, |unit| {
        unit.ledger.expect_sheet().returning(|_| Ok(Some(sheet(0, 0))));
        unit.ledger
            .expect_book()
            .times(1)
            .returning(|_, _, _, _| Err(StoreError::Conflict(Rule::TransferReference)));
    });
    let expected = StoreError::Conflict(Rule::TransferReference);
    assert!(matches!(raced, Err(PartnerError::Store(error)) if error == expected));
}

/// A unit of work in which transfers of these kinds under "r-1" were made before.
fn unit_with(before: &'static [(MovementKind, i64)]) -> MockUnit {
    let mut unit = MockUnit::default();
    unit.partners.expect_get().returning(|_| Ok(Some(partner(PartnerStatus::Suspended))));
    unit.ledger.expect_transferred().withf(|_, _, text| text.as_str() == "r-1").returning(|_, kind, _| {
        Ok(before.iter().find(|(of, _)| *of == kind).map(|(_, amount)| kopecks(*amount)))
    });
    unit
}

#[test]
fn money_is_paid_out_once_under_its_reference() {
    let bench = Bench::new();
    let pay = |unit: &mut MockUnit| withdraw(unit, &bench, PARTNER, kopecks(250), &reference("r-1"));
    let mut unit = unit_with(&[(MovementKind::Deposit, 9)]);
    let of = Reference::Transfer(reference("r-1"));
    expect_booking(&mut unit, sheet(250, 50), MovementKind::Withdrawal, of, 250);
    assert_eq!(pay(&mut unit).unwrap(), TransferOutcome::Booked);
    let paid = Transfer { amount: kopecks(250), reference: reference("r-1") };
    assert_eq!(unit.events.data(), [&EventData::BalanceWithdrawn(paid)]);

    let mut unit = unit_with(&[(MovementKind::Withdrawal, 250)]);
    assert_eq!(pay(&mut unit).unwrap(), TransferOutcome::AlreadyBooked);
    assert!(unit.events.data().is_empty());
    let mut unit = unit_with(&[(MovementKind::Withdrawal, 251)]);
    assert!(matches!(pay(&mut unit), Err(PartnerError::ReferenceUsed(before)) if before == kopecks(251)));
    let mut unit = unit_with(&[]);
    unit.ledger.expect_sheet().returning(|_| Ok(Some(sheet(249, 50))));
    assert!(matches!(pay(&mut unit), Err(PartnerError::Insufficient(left)) if left == kopecks(249)));
}

#[test]
fn a_deposit_is_reversed_once_and_whole() {
    let bench = Bench::new();
    let reverse = |unit: &mut MockUnit| reverse_deposit(unit, &bench, PARTNER, &reference("r-1"));
    let mut unit = unit_with(&[(MovementKind::Deposit, 250)]);
    let of = Reference::Transfer(reference("r-1"));
    expect_booking(&mut unit, sheet(250, 50), MovementKind::Correction, of, 250);
    assert_eq!(reverse(&mut unit).unwrap(), kopecks(250));
    let taken = Transfer { amount: kopecks(250), reference: reference("r-1") };
    assert_eq!(unit.events.data(), [&EventData::BalanceCorrected(taken)]);

    let mut unit = unit_with(&[(MovementKind::Deposit, 250), (MovementKind::Correction, 250)]);
    assert!(matches!(reverse(&mut unit), Err(PartnerError::AlreadyReversed)));
    let mut unit = unit_with(&[(MovementKind::Withdrawal, 250)]);
    assert!(matches!(reverse(&mut unit), Err(PartnerError::NoDeposit)));
    let mut unit = unit_with(&[(MovementKind::Deposit, 250)]);
    unit.ledger.expect_sheet().returning(|_| Ok(Some(sheet(249, 900))));
    assert!(matches!(reverse(&mut unit), Err(PartnerError::Insufficient(left)) if left == kopecks(249)));
}

/// Those of the creation and of the sandbox have no reference that an operator gave.
#[test]
fn a_deposit_without_a_reference_cannot_be_reversed() {
    let bench = Bench::new();
    for (text, is_generated) in [
        ("opening", true),
        ("sandbox-0198c2a4-7d3e-7f00-8000-000000000001", true),
        ("sandbox-1", false),
        ("opening-1", false),
    ] {
        let mut unit = MockUnit::default();
        known(&mut unit, PartnerStatus::Active);
        let asked = usize::from(!is_generated);
        unit.ledger.expect_transferred().times(asked).returning(|_, _, _| Ok(None));
        let refused = reverse_deposit(&mut unit, &bench, PARTNER, &reference(text));
        assert!(matches!(refused, Err(PartnerError::NoDeposit)), "{text}");
    }
}

#[test]
fn a_partner_that_is_not_there_transfers_nothing() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.partners.expect_get().times(3).returning(|_| Ok(None));
    let (amount, of) = (kopecks(1), reference("r-1"));
    let origin = DepositOrigin::Operator(of.clone());
    for refused in [
        deposit(&mut unit, &bench, PARTNER, amount, &origin).err(),
        withdraw(&mut unit, &bench, PARTNER, amount, &of).err(),
        reverse_deposit(&mut unit, &bench, PARTNER, &of).err(),
    ] {
        assert!(matches!(refused, Some(PartnerError::NotFound)));
    }
}
