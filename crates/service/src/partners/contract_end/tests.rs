use super::*;
use crate::testing::*;
use kopeck_port_store::mock::MockUnit;
use kopeck_port_store::page::Listed;
use kopeck_port_store::{BalanceSheet, CardRecord};

const RETENTION: Duration = Duration::days(10);

fn unfinished<T: std::fmt::Debug>(result: Result<T, ContractEndError>) -> Unfinished {
    match result {
        Err(ContractEndError::Unfinished(why)) => why,
        other => panic!("{other:?}"),
    }
}

fn known(unit: &mut MockUnit, status: PartnerStatus) {
    unit.partners.expect_get().withf(|id| *id == PARTNER).returning(move |_| Ok(Some(partner(status))));
}

/// A suspended partner with so many open requests and this balance, whose cards stand so.
fn suspended(open: u64, sheet: BalanceSheet, cards: &[Standing]) -> MockUnit {
    let mut unit = MockUnit::default();
    known(&mut unit, PartnerStatus::Suspended);
    unit.jobs.expect_count_of().returning(move |_| Ok(open));
    unit.ledger.expect_sheet().returning(move |_| Ok(Some(sheet)));
    let cards: Vec<CardRecord> = (1..).zip(cards).map(|(n, standing)| standing_at(n, *standing)).collect();
    unit.cards
        .expect_list()
        .returning(move |_, _, _| Ok(Listed { items: cards.clone(), total: cards.len() as u64 }));
    unit
}

fn standing_at(n: u64, standing: Standing) -> CardRecord {
    let mut record = card_record(n);
    record.bank.standing = standing;
    record
}

fn delete_now(unit: &mut MockUnit) -> Result<(), ContractEndError> {
    delete(unit, &Bench::new(), PARTNER, RETENTION)
}

#[test]
fn an_active_partner_is_neither_paid_out_nor_deleted() {
    let bench = Bench::new();
    let mut unit = MockUnit::default();
    known(&mut unit, PartnerStatus::Active);
    let reference = TransferReference::parse("r-1").unwrap();
    assert_eq!(unfinished(close_cards(&mut unit, &bench, PARTNER, page(1).unwrap())), Unfinished::Active);
    assert_eq!(unfinished(pay_out(&mut unit, &bench, PARTNER, &reference)), Unfinished::Active);
    assert_eq!(unfinished(delete_now(&mut unit)), Unfinished::Active);
}

#[test]
fn an_open_request_may_still_move_money() {
    let bench = Bench::new();
    let reference = TransferReference::parse("r-1").unwrap();
    let mut unit = suspended(2, sheet(0, 0), &[]);
    assert_eq!(unfinished(pay_out(&mut unit, &bench, PARTNER, &reference)), Unfinished::Requests(2));
    assert_eq!(unfinished(delete_now(&mut unit)), Unfinished::Requests(2));
}

#[test]
fn a_partner_with_money_a_card_or_a_young_movement_is_not_deleted() {
    let mut unit = suspended(0, sheet(5, 0), &[]);
    assert_eq!(unfinished(delete_now(&mut unit)), Unfinished::Money(kopecks(5)));

    let mut unit = suspended(0, sheet(0, 0), &[Standing::Closed, Standing::Open]);
    unit.movements.expect_first_since().returning(|_, _| Ok(None));
    assert_eq!(unfinished(delete_now(&mut unit)), Unfinished::Cards);

    let mut unit = suspended(0, sheet(0, 0), &[Standing::Closed]);
    unit.movements.expect_first_since().withf(|_, at| *at == START - RETENTION).returning(|_, _| Ok(Some(7)));
    assert_eq!(unfinished(delete_now(&mut unit)), Unfinished::Retention);
}

#[test]
fn a_partner_whose_contract_is_over_is_deleted() {
    let mut unit = suspended(0, sheet(0, 0), &[Standing::Closed]);
    unit.movements.expect_first_since().returning(|_, _| Ok(None));
    unit.partners.expect_delete().withf(|id| *id == PARTNER).times(1).returning(|_| Ok(()));
    delete_now(&mut unit).unwrap();
}

#[test]
fn closed_cards_and_those_of_another_request_are_left_alone() {
    let mut unit = suspended(0, sheet(0, 0), &[Standing::Closed]);
    let done = close_cards(&mut unit, &Bench::new(), PARTNER, page(1).unwrap()).unwrap();
    assert_eq!(done, CardsToClose { open: 0, requested: 0, has_next: false });
}
