use super::*;
use crate::testing::*;
use kopeck_domain::card::Standing;
use kopeck_domain::card_batch::BatchState;
use kopeck_port_store::CardClaims;
use kopeck_port_store::mock::MockUnit;

fn top_up(card: u128, amount: i64) -> TopUp {
    TopUp { card: card_id(card).into(), amount: kopecks(amount) }
}

/// A card that can be topped up.
fn target(card: u64) -> BatchTarget {
    BatchTarget {
        card: card_id(u128::from(card)),
        number: number(card),
        status: Some(CardStatus::Main),
        standing: Standing::Open,
        valid_until: LAST_DAY,
        claims: CardClaims::default(),
    }
}

#[test]
fn a_batch_asks_for_the_sum_and_books_nothing() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.replenishments.expect_targets().returning(|_, _| Ok(vec![target(0), target(1)]));
    unit.replenishments
        .expect_insert()
        .withf(|_, _, items| *items == open_items(&[300, 200])[..])
        .times(1)
        .returning(|_, _, _| Ok(()));
    unit.jobs.expect_enqueue().times(1).returning(|_, _, _| Ok(()));
    let batch = create(&mut unit, &bench, PARTNER, &[top_up(0, 300), top_up(1, 200)], None).unwrap();
    assert_eq!((batch.cards(), batch.amount()), (2, kopecks(500)));
}

#[test]
fn a_sum_that_does_not_fit_is_refused() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.replenishments.expect_targets().returning(|_, _| Ok(vec![target(0), target(1)]));
    let refused = create(&mut unit, &bench, PARTNER, &[top_up(0, i64::MAX), top_up(1, 1)], None);
    assert_eq!(refused, Err(CreateBatchError::Terms(AmountOverflow)));
}

#[test]
fn the_first_reason_against_a_card_counts() {
    let (past, additional) = (LAST_DAY.previous_day().unwrap(), Some(CardStatus::Additional));
    let (not_main, expired) = (Some(ConflictReason::NotMain), Some(ConflictReason::Expired));
    for (target, reason) in [
        (target(0), None),
        (BatchTarget { status: additional, valid_until: past, ..target(0) }, not_main),
        (BatchTarget { status: Some(CardStatus::TemporarilyBlocked), ..target(0) }, not_main),
        (BatchTarget { status: None, ..target(0) }, not_main),
        (BatchTarget { valid_until: past, ..target(0) }, expired),
    ] {
        assert_eq!(TopUps::conflict(&target, LAST_DAY), reason, "{target:?}");
    }
}

#[test]
fn every_card_is_topped_up_by_its_amount_under_its_own_key() {
    for (item, amount) in open_items(&[300, 200]).iter().zip([300, 200]) {
        let key = format!("replenishment/00000000-0000-0000-0000-000000000001/{}", item.ordinal);
        assert_eq!(TopUps::key(replenishment_id(1), item).as_str(), key);
        let expected = Instruction::TopUp { card: item.number, amount: kopecks(amount) };
        assert_eq!(TopUps::instruction(&kopecks(500), item), expected);
    }
}

#[test]
fn each_reason_of_the_bank_has_its_own_refusal() {
    for (reason, refusal) in [
        (DeclineReason::OverCardLimit, TopUpRefusal::OverCardLimit),
        (DeclineReason::Blocked, TopUpRefusal::Blocked),
        (DeclineReason::BlockedByPartner, TopUpRefusal::BlockedByPartner),
        (DeclineReason::Expired, TopUpRefusal::Expired),
        (DeclineReason::NotActivated, TopUpRefusal::NotActivated),
        (DeclineReason::Closed, TopUpRefusal::Blocked),
        (DeclineReason::NotEnoughOnCard, TopUpRefusal::RefusedByBank),
        (DeclineReason::Refused, TopUpRefusal::RefusedByBank),
    ] {
        assert_eq!(TopUps::refusal(reason), refusal);
    }
}

#[test]
fn starting_holds_what_the_balance_covers_and_refuses_the_rest() {
    let mut unit = MockUnit::default();
    unit.replenishments
        .expect_items()
        .withf(|_, _, from, limit| (*from, *limit) == (0, 2))
        .times(1)
        .returning(|_, _, _, _| Ok(open_items(&[300, 200])));
    unit.ledger.expect_sheet().times(1).returning(|_| Ok(Some(sheet(250, 0))));
    unit.runs.expect_of_replenishment().times(1).returning(|_, _| Ok(None));
    unit.replenishments
        .expect_settle_items()
        .withf(|_, _, decided| *decided == [(0, ItemState::Refused(TopUpRefusal::NotEnoughBalance))])
        .times(1)
        .returning(|_, _, _| Ok(()));
    let reference = Reference::Replenishment(replenishment_id(1));
    expect_booking(&mut unit, sheet(250, 0), MovementKind::Hold, reference, 200);
    let batch = replenishment(BatchState::New, &[300, 200]);
    assert_eq!(TopUps::start(&mut unit, &Bench::new(), PARTNER, &batch), Ok(()));
}

/// Money that went elsewhere since the run was made leaves nobody with a part.
#[test]
fn starting_for_a_programme_of_all_or_nothing_refuses_everybody() {
    let mut unit = MockUnit::default();
    unit.replenishments.expect_items().returning(|_, _, _, _| Ok(open_items(&[300, 200])));
    unit.ledger.expect_sheet().times(1).returning(|_| Ok(Some(sheet(499, 0))));
    unit.runs.expect_of_replenishment().times(1).returning(|_, _| Ok(Some(run_of_programme())));
    let refused = ItemState::Refused(TopUpRefusal::NotEnoughBalance);
    unit.replenishments
        .expect_settle_items()
        .withf(move |_, _, decided| *decided == [(0, refused), (1, refused)])
        .times(1)
        .returning(|_, _, _| Ok(()));
    let batch = replenishment(BatchState::New, &[300, 200]);
    assert_eq!(TopUps::start(&mut unit, &Bench::new(), PARTNER, &batch), Ok(()));
}

#[test]
fn starting_holds_the_whole_sum_without_a_look_at_the_cards() {
    let mut unit = MockUnit::default();
    unit.ledger.expect_sheet().times(1).returning(|_| Ok(Some(sheet(500, 0))));
    let reference = Reference::Replenishment(replenishment_id(1));
    expect_booking(&mut unit, sheet(500, 0), MovementKind::Hold, reference, 500);
    let batch = replenishment(BatchState::New, &[300, 200]);
    assert_eq!(TopUps::start(&mut unit, &Bench::new(), PARTNER, &batch), Ok(()));
}

#[test]
fn a_capture_that_the_ledger_does_not_cover_is_a_failure() {
    let mut unit = MockUnit::default();
    unit.cards.expect_outdate_bank_view().returning(|_, _, _| Ok(()));
    unit.ledger.expect_sheet().returning(|_| Ok(Some(sheet(1_000, 99))));
    let (batch, items) = (replenishment(BatchState::InProcess, &[100]), open_items(&[100]));
    let decided = BatchDecision { done: items.iter().collect(), refused: Vec::new() };
    let applied = TopUps::apply(&mut unit, &Bench::new(), PARTNER, &batch, &decided);
    assert!(matches!(applied, Err(StoreError::Corrupt(_))));
}
