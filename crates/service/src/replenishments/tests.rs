use super::*;
use crate::testing::*;
use RequestState as S;
use kopeck_port_store::mock::MockUnit;
use time::Duration;

fn top_up(card: u128, amount: i64) -> TopUp {
    TopUp { card: card_id(card), amount: kopecks(amount) }
}

/// A card that can be topped up.
fn target(card: u64) -> TopUpTarget {
    TopUpTarget {
        card: card_id(u128::from(card)),
        number: number(card),
        status: Some(CardStatus::Main),
        valid_until: LAST_DAY,
        in_request: false,
    }
}

/// The store knows these cards, and gives them in another order than it is asked for.
fn known(unit: &mut MockUnit, targets: Vec<TopUpTarget>) {
    unit.cards.expect_top_up_targets().times(1).returning(move |_, _| {
        let mut targets = targets.clone();
        targets.reverse();
        Ok(targets)
    });
}

fn conflict(card: u128, reason: ConflictReason) -> CardConflict {
    CardConflict { card: card_id(card), reason }
}

#[test]
fn a_request_is_stored_and_due_after_the_delay_and_books_nothing() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let id = ReplenishmentId::new(fresh_id(1));
    known(&mut unit, vec![target(0), target(1)]);
    unit.replenishments
        .expect_insert()
        .withf(move |partner, request, items| {
            *partner == PARTNER && request.id == id && *items == open_items(&[300, 200])[..]
        })
        .times(1)
        .returning(|_, _, _| Ok(()));
    unit.jobs
        .expect_enqueue()
        .withf(move |partner, subject, delay| {
            let delayed = Duration::seconds(3);
            (*partner, *subject, *delay) == (PARTNER, Subject::Replenishment(id), delayed)
        })
        .times(1)
        .returning(|_, _, _| Ok(()));
    let request = create(&mut unit, &bench, PARTNER, &[top_up(0, 300), top_up(1, 200)]).unwrap();
    assert_eq!((request.cards, request.amount, request.state), (2, kopecks(500), S::New));
}

#[test]
fn unknown_cards_come_before_conflicts_in_the_order_of_the_request() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    known(&mut unit, vec![TopUpTarget { in_request: true, ..target(1) }, target(2)]);
    let asked = [top_up(9, 1), top_up(1, 1), top_up(2, 1), top_up(8, 1)];
    assert_eq!(
        create(&mut unit, &bench, PARTNER, &asked),
        Err(CreateReplenishmentError::UnknownCards(vec![card_id(9), card_id(8)]))
    );
}

#[test]
fn each_faulty_card_has_its_first_reason() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let past = LAST_DAY.previous_day().unwrap();
    bench.clock.advance(Duration::days(21)); // The last day of the cards.
    let additional = Some(CardStatus::Additional);
    known(
        &mut unit,
        vec![
            target(0),
            TopUpTarget { in_request: true, status: additional, valid_until: past, ..target(1) },
            TopUpTarget { status: additional, valid_until: past, ..target(2) },
            TopUpTarget { status: Some(CardStatus::TemporarilyBlocked), ..target(3) },
            TopUpTarget { status: None, ..target(4) },
            TopUpTarget { valid_until: past, ..target(5) },
        ],
    );
    let asked: Vec<TopUp> = (0..6).map(|card| top_up(card, 1)).collect();
    let expected = vec![
        conflict(1, ConflictReason::InRequest),
        conflict(2, ConflictReason::NotMain),
        conflict(3, ConflictReason::NotMain),
        conflict(4, ConflictReason::NotMain),
        conflict(5, ConflictReason::Expired),
    ];
    assert_eq!(
        create(&mut unit, &bench, PARTNER, &asked),
        Err(CreateReplenishmentError::Conflicts(expected))
    );
}

/// 21:00 UTC is midnight in the service's zone.
#[test]
fn a_card_expires_by_the_day_of_the_service() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    bench.clock.advance(Duration::days(21) + Duration::hours(12));
    known(&mut unit, vec![target(0)]);
    let refused = create(&mut unit, &bench, PARTNER, &[top_up(0, 1)]);
    let expected = vec![conflict(0, ConflictReason::Expired)];
    assert_eq!(refused, Err(CreateReplenishmentError::Conflicts(expected)));
}

#[test]
fn a_sum_that_does_not_fit_is_refused() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    known(&mut unit, vec![target(0), target(1)]);
    let refused = create(&mut unit, &bench, PARTNER, &[top_up(0, i64::MAX), top_up(1, 1)]);
    assert_eq!(refused, Err(CreateReplenishmentError::Overflow(AmountOverflow)));
}

/// Two calls for one card at the same moment: who comes second is told which card it is.
#[test]
fn a_raced_constraint_is_a_conflict_of_the_card_that_was_taken() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    known(&mut unit, vec![target(0), target(1)]);
    let taken = TopUpTarget { in_request: true, ..target(1) };
    known(&mut unit, vec![target(0), taken]);
    let raced = StoreError::Conflict(Rule::CardInOneReplenishment);
    unit.replenishments.expect_insert().returning(move |_, _, _| Err(raced.clone()));
    assert_eq!(
        create(&mut unit, &bench, PARTNER, &[top_up(0, 1), top_up(1, 1)]),
        Err(CreateReplenishmentError::Conflicts(vec![conflict(1, ConflictReason::InRequest)]))
    );
}

/// After a broken constraint a database may answer nothing more in this unit of work, or show its data as they were.
#[test]
fn a_raced_constraint_that_cannot_be_looked_into_is_a_conflict_of_all_cards() {
    for again in [Err(broken()), Ok(vec![target(0), target(1)])] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        known(&mut unit, vec![target(0), target(1)]);
        unit.cards.expect_top_up_targets().times(1).returning(move |_, _| again.clone());
        let raced = StoreError::Conflict(Rule::CardInOneReplenishment);
        unit.replenishments.expect_insert().returning(move |_, _, _| Err(raced.clone()));
        let all = [0, 1].map(|card| conflict(card, ConflictReason::InRequest)).to_vec();
        assert_eq!(
            create(&mut unit, &bench, PARTNER, &[top_up(0, 1), top_up(1, 1)]),
            Err(CreateReplenishmentError::Conflicts(all))
        );
    }
}

#[test]
fn any_other_failure_of_the_store_stays_one() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    known(&mut unit, vec![target(0)]);
    unit.replenishments.expect_insert().returning(|_, _, _| Err(StoreError::Conflict(Rule::Reference)));
    assert_eq!(
        create(&mut unit, &bench, PARTNER, &[top_up(0, 1)]),
        Err(CreateReplenishmentError::Store(StoreError::Conflict(Rule::Reference)))
    );
}

fn stored_request(unit: &mut MockUnit, state: RequestState) {
    unit.replenishments
        .expect_get()
        .withf(|partner, id| *partner == PARTNER && *id == replenishment_id(1))
        .times(1)
        .returning(move |_, _| Ok(Some(replenishment(state, &[300, 200]))));
}

#[test]
fn the_whole_table_of_results() {
    for &state in S::ALL {
        let mut unit = MockUnit::default();
        stored_request(&mut unit, state);
        let expected = match state {
            S::New | S::InProcess => Err(ReplenishmentResultError::NotProcessed),
            S::Rejected => Err(ReplenishmentResultError::Cancelled),
            S::Success | S::PartSuccess | S::Decline | S::Confirmed => {
                unit.replenishments
                    .expect_items()
                    .withf(|partner, id, from, limit| {
                        (*partner, *id, *from, *limit) == (PARTNER, replenishment_id(1), 0, 2)
                    })
                    .times(1)
                    .returning(|_, _, _, _| Ok(open_items(&[300, 200])));
                Ok((replenishment(state, &[300, 200]), open_items(&[300, 200])))
            }
        };
        assert_eq!(result(&mut unit, PARTNER, replenishment_id(1), 2), expected, "{state}");
    }
}

#[test]
fn the_whole_table_of_cancelling() {
    for &state in S::ALL {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        stored_request(&mut unit, state);
        let expected = match state {
            S::New => {
                let rejected =
                    Replenishment { state_since: START, ..replenishment(S::Rejected, &[300, 200]) };
                let stored = rejected.clone();
                unit.replenishments
                    .expect_set_state()
                    .withf(move |partner, request| *partner == PARTNER && *request == stored)
                    .times(1)
                    .returning(|_, _| Ok(()));
                unit.replenishments
                    .expect_release_cards()
                    .withf(|partner, id| *partner == PARTNER && *id == replenishment_id(1))
                    .times(1)
                    .returning(|_, _| Ok(()));
                unit.jobs
                    .expect_cancel()
                    .withf(|_, subject| *subject == Subject::Replenishment(replenishment_id(1)))
                    .times(1)
                    .returning(|_, _| Ok(()));
                Ok(rejected)
            }
            // Once more: nothing is written.
            S::Rejected => Ok(replenishment(S::Rejected, &[300, 200])),
            S::InProcess | S::Success | S::PartSuccess | S::Decline | S::Confirmed => {
                Err(CancelReplenishmentError::WrongState(state))
            }
        };
        assert_eq!(cancel(&mut unit, &bench, PARTNER, replenishment_id(1)), expected, "{state}");
    }
}

#[test]
fn what_is_unknown_is_not_found() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.replenishments.expect_get().times(3).returning(|_, _| Ok(None));
    let id = replenishment_id(1);
    assert_eq!(status(&mut unit, PARTNER, id), Err(ReplenishmentError::NotFound));
    assert_eq!(result(&mut unit, PARTNER, id, 2), Err(ReplenishmentResultError::NotFound));
    assert_eq!(cancel(&mut unit, &bench, PARTNER, id), Err(CancelReplenishmentError::NotFound));
}
