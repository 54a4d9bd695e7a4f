use super::*;
use crate::testing::*;
use kopeck_domain::card::Standing;
use kopeck_port_store::CardClaims;
use kopeck_port_store::mock::MockUnit;

/// A card whose limit can be changed; whether it is linked does not matter.
fn target() -> BatchTarget {
    BatchTarget {
        card: card_id(0),
        number: number(0),
        status: None,
        standing: Standing::Open,
        valid_until: LAST_DAY,
        claims: CardClaims::default(),
    }
}

#[test]
fn unknown_cards_are_refused_without_a_limit() {
    let mut unit = MockUnit::default();
    unit.limit_changes.expect_targets().returning(|_, _| Ok(vec![target()]));
    assert_eq!(check_cards(&mut unit, PARTNER, &[card_id(0).into()]), Ok(()));
    let refused = check_cards(&mut unit, PARTNER, &[9, 0, 8].map(|card| card_id(card).into()));
    assert_eq!(refused, Err(CreateBatchError::UnknownCards(vec![card_id(9).into(), card_id(8).into()])));
}

#[test]
fn the_limit_is_stored_with_the_batch() {
    let mut unit = MockUnit::default();
    unit.limit_changes.expect_targets().returning(|_, _| Ok(vec![target()]));
    unit.limit_changes
        .expect_insert()
        .withf(|_, batch, items| *batch.limit() == daily(700) && *items == open_limit_items(1)[..])
        .times(1)
        .returning(|_, _, _| Ok(()));
    unit.jobs.expect_enqueue().times(1).returning(|_, _, _| Ok(()));
    let batch = set(&mut unit, &Bench::new(), PARTNER, &[card_id(0).into()], &daily(700), None).unwrap();
    assert_eq!(*batch.limit(), daily(700));
}

#[test]
fn the_first_reason_against_a_card_counts() {
    let past = LAST_DAY.previous_day().unwrap();
    for (target, reason) in
        [(target(), None), (BatchTarget { valid_until: past, ..target() }, Some(ConflictReason::Expired))]
    {
        assert_eq!(LimitChanges::conflict(&target, LAST_DAY), reason, "{target:?}");
    }
}

#[test]
fn every_card_is_given_the_limit_under_its_own_key() {
    for item in &open_limit_items(2) {
        let key = format!("limit/00000000-0000-0000-0000-000000000001/{}", item.ordinal);
        assert_eq!(LimitChanges::key(limit_change_id(1), item).as_str(), key);
        let expected = Instruction::SetLimit { card: item.number, limit: daily(700) };
        assert_eq!(LimitChanges::instruction(&daily(700), item), expected);
    }
}

#[test]
fn each_reason_of_the_bank_has_its_own_refusal() {
    for (reason, refusal) in [
        (DeclineReason::OverCardLimit, LimitChangeRefusal::RefusedByBank),
        (DeclineReason::Blocked, LimitChangeRefusal::Blocked),
        (DeclineReason::Expired, LimitChangeRefusal::Expired),
        (DeclineReason::NotActivated, LimitChangeRefusal::NotActivated),
        (DeclineReason::Closed, LimitChangeRefusal::Blocked),
        (DeclineReason::NotEnoughOnCard, LimitChangeRefusal::RefusedByBank),
        (DeclineReason::Refused, LimitChangeRefusal::RefusedByBank),
    ] {
        assert_eq!(LimitChanges::refusal(reason), refusal);
    }
}
