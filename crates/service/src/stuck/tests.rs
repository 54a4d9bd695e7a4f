use super::*;
use crate::testing::*;
use kopeck_domain::card_batch::{BatchState as S, ItemState};
use kopeck_domain::closing::Closings;
use kopeck_domain::ledger::{MovementKind, Reference};
use kopeck_domain::order::OrderState;
use kopeck_domain::replenishment::TopUpRefusal;
use kopeck_port_store::mock::MockUnit;
use kopeck_port_store::{Claim, ItemCounts, Reschedule};

const SINCE: OffsetDateTime = START;

/// The claim of a person who takes the work out of a worker's hands.
fn seized(subject: Subject) -> Claim {
    Claim { attempt: 7, may_have_sent: true, failures: 4, ..claim(subject) }
}

fn stuck(unit: &mut MockUnit, subject: Subject) {
    let work = StuckJob { partner: PARTNER, subject, since: SINCE };
    unit.jobs.expect_stuck().returning(move || Ok(vec![work]));
}

fn expect_force_claim(unit: &mut MockUnit, subject: Subject) {
    unit.jobs
        .expect_force_claim()
        .withf(move |partner, seized, _| (*partner, *seized) == (PARTNER, subject))
        .times(1)
        .returning(move |_, _, _| Ok(Some(seized(subject))));
}

fn top_up() -> Subject {
    Subject::Replenishment(replenishment_id(1))
}

/// A replenishment that waits for two cards.
fn waiting(unit: &mut MockUnit) {
    stuck(unit, top_up());
    unit.replenishments.expect_open_items().returning(|_, _, _| Ok(open_items(&[300, 200])));
    unit.replenishments.expect_get().returning(|_, _| Ok(Some(replenishment(S::InProcess, &[300, 200]))));
}

fn expect_items(unit: &mut MockUnit, expected: Vec<(u32, ItemState<TopUpRefusal>)>, counts: ItemCounts) {
    unit.replenishments
        .expect_settle_items()
        .withf(move |_, _, decided| *decided == expected[..])
        .times(1)
        .returning(|_, _, _| Ok(()));
    unit.cards.expect_outdate_bank_view().returning(|_, _, _| Ok(()));
    unit.replenishments.expect_counts().returning(move |_, _| Ok(counts));
}

fn run(
    unit: &mut MockUnit,
    request: u128,
    outcome: StuckOutcome,
    card: Option<CardId>,
) -> Result<usize, StuckError> {
    settle(unit, &Bench::new(), Uuid::from_u128(request), outcome, card)
}

#[test]
fn the_list_names_what_to_ask_the_bank_about() {
    let mut unit = MockUnit::default();
    waiting(&mut unit);
    let instruction = |ordinal: u32, amount| StuckInstruction {
        key: BankKey::new(format!("replenishment/00000000-0000-0000-0000-000000000001/{ordinal}")).unwrap(),
        card: Some((card_id(u128::from(ordinal)), number(u64::from(ordinal)))),
        held: Some(kopecks(amount)),
    };
    let instructions = vec![instruction(0, 300), instruction(1, 200)];
    let expected = StuckRequest { partner: PARTNER, subject: top_up(), since: SINCE, instructions };
    assert_eq!(list(&mut unit), Ok(vec![expected]));
}

#[test]
fn all_cards_are_settled_at_once_and_end_the_request() {
    let cases = [
        (StuckOutcome::Applied, MovementKind::Capture, ItemState::Done, S::Success),
        (
            StuckOutcome::Refused,
            MovementKind::Release,
            ItemState::Refused(TopUpRefusal::RefusedByBank),
            S::Decline,
        ),
    ];
    for (outcome, movement, state, end) in cases {
        let mut unit = MockUnit::default();
        waiting(&mut unit);
        expect_force_claim(&mut unit, top_up());
        let counts = match outcome {
            StuckOutcome::Applied | StuckOutcome::Returned(_) => ItemCounts { open: 0, done: 2, refused: 0 },
            StuckOutcome::Refused => ItemCounts { open: 0, done: 0, refused: 2 },
        };
        expect_items(&mut unit, vec![(0, state), (1, state)], counts);
        let reference = Reference::Replenishment(replenishment_id(1));
        expect_booking(&mut unit, sheet(0, 500), movement, reference, 500);
        unit.replenishments
            .expect_set_state()
            .withf(move |_, request| request.state() == end)
            .times(1)
            .returning(|_, _| Ok(()));
        unit.replenishments.expect_release_cards().times(1).returning(|_, _| Ok(()));
        unit.jobs.expect_complete().withf(|claim| *claim == seized(top_up())).times(1).returning(|_| Ok(()));
        assert_eq!(run(&mut unit, 1, outcome, None), Ok(2));
    }
}

/// The others wait on, and are not sent.
#[test]
fn one_card_can_be_settled_alone() {
    let mut unit = MockUnit::default();
    waiting(&mut unit);
    expect_force_claim(&mut unit, top_up());
    expect_items(&mut unit, vec![(1, ItemState::Done)], ItemCounts { open: 1, done: 1, refused: 0 });
    let reference = Reference::Replenishment(replenishment_id(1));
    expect_booking(&mut unit, sheet(0, 500), MovementKind::Capture, reference, 200);
    unit.jobs.expect_mark_stuck().times(1).returning(|_| Ok(()));
    unit.jobs
        .expect_reschedule()
        .withf(|claim, terms| {
            let expected = Reschedule { delay: Duration::seconds(4), failures: 5, may_have_sent: true };
            *claim == seized(top_up()) && *terms == expected
        })
        .times(1)
        .returning(|_, _| Ok(()));
    assert_eq!(run(&mut unit, 1, StuckOutcome::Applied, Some(card_id(1))), Ok(1));
}

#[test]
fn a_card_that_the_request_does_not_wait_for_is_none() {
    let mut unit = MockUnit::default();
    waiting(&mut unit);
    expect_force_claim(&mut unit, top_up());
    expect_items(&mut unit, vec![], ItemCounts { open: 2, done: 0, refused: 0 });
    unit.jobs.expect_mark_stuck().returning(|_| Ok(()));
    unit.jobs.expect_reschedule().returning(|_, _| Ok(()));
    let other = card_id(9);
    assert_eq!(run(&mut unit, 1, StuckOutcome::Applied, Some(other)), Err(StuckError::NotItsCard(other)));
}

#[test]
fn a_limit_that_the_bank_set_is_stored() {
    let mut unit = MockUnit::default();
    let subject = Subject::LimitChange(limit_change_id(1));
    stuck(&mut unit, subject);
    expect_force_claim(&mut unit, subject);
    unit.limit_changes.expect_open_items().returning(|_, _, _| Ok(open_limit_items(1)));
    unit.limit_changes.expect_get().returning(|_, _| Ok(Some(limit_change(S::InProcess))));
    unit.limit_changes
        .expect_settle_items()
        .withf(|_, _, decided| *decided == [(0, ItemState::Done)])
        .times(1)
        .returning(|_, _, _| Ok(()));
    unit.cards.expect_set_limit().times(1).returning(|_, _, _| Ok(()));
    unit.limit_changes.expect_counts().returning(|_, _| Ok(ItemCounts { open: 0, done: 1, refused: 0 }));
    unit.limit_changes.expect_set_state().times(1).returning(|_, _| Ok(()));
    unit.limit_changes.expect_release_cards().times(1).returning(|_, _| Ok(()));
    unit.jobs.expect_complete().times(1).returning(|_| Ok(()));
    assert_eq!(run(&mut unit, 1, StuckOutcome::Applied, None), Ok(1));
}

#[test]
fn an_order_is_refused_as_a_whole() {
    let subject = Subject::Order(order_id(1));
    let mut unit = MockUnit::default();
    stuck(&mut unit, subject);
    expect_force_claim(&mut unit, subject);
    unit.orders.expect_stored_cards().returning(|_, _| Ok(0));
    unit.orders.expect_get().returning(|_, _| Ok(Some(order(OrderState::InProcess, 1, 5_000))));
    let reference = Reference::Order(order_id(1));
    expect_booking(&mut unit, sheet(0, 5_000), MovementKind::Release, reference, 5_000);
    unit.orders
        .expect_set_state()
        .withf(|_, order| order.state() == OrderState::Decline)
        .times(1)
        .returning(|_, _| Ok(()));
    unit.jobs.expect_complete().times(1).returning(|_| Ok(()));
    assert_eq!(run(&mut unit, 1, StuckOutcome::Refused, None), Ok(1));
}

/// Nothing is taken out of a worker's hands for it.
#[test]
fn an_order_that_was_carried_out_has_to_show_its_cards() {
    for (outcome, card, expected) in [
        (StuckOutcome::Applied, None, StuckError::OrderApplied),
        (StuckOutcome::Refused, Some(card_id(1)), StuckError::OrderCard),
    ] {
        let mut unit = MockUnit::default();
        stuck(&mut unit, Subject::Order(order_id(1)));
        assert_eq!(run(&mut unit, 1, outcome, card), Err(expected));
    }
}

#[test]
fn an_order_with_cards_was_not_refused() {
    let mut unit = MockUnit::default();
    stuck(&mut unit, Subject::Order(order_id(1)));
    unit.orders.expect_stored_cards().returning(|_, _| Ok(1));
    assert_eq!(run(&mut unit, 1, StuckOutcome::Refused, None), Err(StuckError::OrderHasCards));
}

#[test]
fn a_request_that_is_not_stuck_is_left_alone() {
    let mut unit = MockUnit::default();
    waiting(&mut unit);
    let expected = Err(StuckError::NotStuck(Uuid::from_u128(2)));
    assert_eq!(run(&mut unit, 2, StuckOutcome::Refused, None), expected);
}

/// A closing that waits for a card, of a partner who has spent so much.
fn waiting_closing(unit: &mut MockUnit, spent: i64) {
    stuck(unit, Subject::Closing(closing_id(1)));
    unit.closings.expect_open_items().returning(|_, _, _| Ok(sample_items(1)));
    unit.closings.expect_get().returning(|_, _| Ok(Some(batch(S::InProcess, 1))));
    unit.ledger.expect_sheet().returning(move |_| Ok(Some(spent_sheet(spent))));
}

/// A person says how much; the ledger and the card follow.
#[test]
fn a_closing_is_settled_with_what_came_back() {
    let mut unit = MockUnit::default();
    waiting_closing(&mut unit, 500);
    expect_force_claim(&mut unit, Subject::Closing(closing_id(1)));
    unit.closings
        .expect_settle_items()
        .withf(|_, _, decided| *decided == [(0, ItemState::Returned(RETURNED))])
        .times(1)
        .returning(|_, _, _| Ok(()));
    Closings::expect_applied(&mut unit, &[0], &[]);
    unit.closings.expect_counts().returning(|_, _| Ok(ItemCounts { open: 0, done: 1, refused: 0 }));
    unit.closings.expect_set_state().times(1).returning(|_, _| Ok(()));
    unit.closings.expect_release_cards().times(1).returning(|_, _| Ok(()));
    unit.jobs.expect_complete().times(1).returning(|_| Ok(()));
    assert_eq!(run(&mut unit, 1, StuckOutcome::Returned(RETURNED), Some(card_id(0))), Ok(1));
}

#[test]
fn a_return_is_stated_for_one_card_and_was_spent() {
    let card = Some(card_id(0));
    for (outcome, card, error) in [
        (StuckOutcome::Applied, card, StuckError::AmountNeeded),
        (StuckOutcome::Returned(RETURNED), None, StuckError::AmountNeeded),
        (StuckOutcome::Returned(RETURNED), card, StuckError::MoreThanSpent(69)),
    ] {
        let mut unit = MockUnit::default();
        waiting_closing(&mut unit, 69);
        assert_eq!(run(&mut unit, 1, outcome, card), Err(error));
    }
    let mut unit = MockUnit::default();
    waiting(&mut unit);
    assert_eq!(run(&mut unit, 1, StuckOutcome::Returned(RETURNED), card), Err(StuckError::NoAmount));
}
