use super::*;
use crate::testing::*;
use LimitConflictReason as Reason;
use RequestState as S;
use kopeck_port_store::mock::MockUnit;
use time::Duration;

/// A card whose limit can be changed.
fn target(card: u64) -> LimitTarget {
    LimitTarget {
        card: card_id(u128::from(card)),
        number: number(card),
        valid_until: LAST_DAY,
        in_change: false,
    }
}

/// The store knows these cards, and gives them in another order than it is asked for.
fn known(unit: &mut MockUnit, targets: Vec<LimitTarget>) {
    unit.cards.expect_limit_targets().times(1).returning(move |_, _| {
        let mut targets = targets.clone();
        targets.reverse();
        Ok(targets)
    });
}

fn conflict(card: u128, reason: LimitConflictReason) -> LimitCardConflict {
    LimitCardConflict { card: card_id(card), reason }
}

fn run_set(
    unit: &mut MockUnit,
    bench: &Bench,
    cards: &[u128],
    limit: Result<Limit, LimitConflict>,
) -> Result<LimitChange, SetLimitsError> {
    let cards: Vec<CardId> = cards.iter().map(|card| card_id(*card)).collect();
    set(unit, bench, PARTNER, &cards, &limit)
}

#[test]
fn a_request_is_stored_and_due_after_the_delay() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let id = LimitChangeId::new(fresh_id(1));
    let expected = LimitChange::request(id, 2, daily(700), START);
    known(&mut unit, vec![target(0), target(1)]);
    let stored = expected.clone();
    unit.limit_changes
        .expect_insert()
        .withf(move |partner, request, items| {
            *partner == PARTNER && *request == stored && *items == open_limit_items(2)[..]
        })
        .times(1)
        .returning(|_, _, _| Ok(()));
    unit.jobs
        .expect_enqueue()
        .withf(move |partner, subject, delay| {
            let delayed = Duration::seconds(3);
            (*partner, *subject, *delay) == (PARTNER, Subject::LimitChange(id), delayed)
        })
        .times(1)
        .returning(|_, _, _| Ok(()));
    assert_eq!(run_set(&mut unit, &bench, &[0, 1], Ok(daily(700))), Ok(expected));
}

/// Whatever is wrong beside them: first what is unknown, then the limit, then the cards.
#[test]
fn refusals_come_in_their_order() {
    let bench = Bench::new();
    let in_change = || vec![LimitTarget { in_change: true, ..target(1) }, target(2)];
    let mut unit = MockUnit::default();
    known(&mut unit, in_change());
    assert_eq!(
        run_set(&mut unit, &bench, &[9, 1, 2, 8], Err(LimitConflict)),
        Err(SetLimitsError::UnknownCards(vec![card_id(9), card_id(8)]))
    );
    let mut unit = MockUnit::default();
    known(&mut unit, in_change());
    let refused = run_set(&mut unit, &bench, &[1, 2], Err(LimitConflict));
    assert_eq!(refused, Err(SetLimitsError::Limit(LimitConflict)));
    let mut unit = MockUnit::default();
    known(&mut unit, in_change());
    assert_eq!(
        run_set(&mut unit, &bench, &[1, 2], Ok(Limit::Unlimited)),
        Err(SetLimitsError::Conflicts(vec![conflict(1, Reason::InChange)]))
    );
}

#[test]
fn each_faulty_card_has_its_first_reason() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let past = LAST_DAY.previous_day().unwrap();
    bench.clock.advance(Duration::days(21)); // The last day of the cards.
    known(
        &mut unit,
        vec![
            target(0),
            LimitTarget { in_change: true, valid_until: past, ..target(1) },
            LimitTarget { valid_until: past, ..target(2) },
        ],
    );
    let expected = vec![conflict(1, Reason::InChange), conflict(2, Reason::Expired)];
    let refused = run_set(&mut unit, &bench, &[0, 1, 2], Ok(daily(1)));
    assert_eq!(refused, Err(SetLimitsError::Conflicts(expected)));
}

/// Two calls for one card at the same moment: who comes second is told which card it is, as far as the store can
/// still show it.
#[test]
fn a_raced_constraint_is_a_conflict_of_the_card_that_was_taken() {
    let taken = LimitTarget { in_change: true, ..target(1) };
    for (again, expected) in [
        (Ok(vec![target(0), taken]), vec![1]),
        (Err(broken()), vec![0, 1]),
        (Ok(vec![target(0), target(1)]), vec![0, 1]),
    ] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        known(&mut unit, vec![target(0), target(1)]);
        unit.cards.expect_limit_targets().times(1).returning(move |_, _| again.clone());
        let raced = StoreError::Conflict(Rule::CardInOneLimitChange);
        unit.limit_changes.expect_insert().returning(move |_, _, _| Err(raced.clone()));
        let expected = expected.into_iter().map(|card| conflict(card, Reason::InChange)).collect();
        assert_eq!(
            run_set(&mut unit, &bench, &[0, 1], Ok(daily(1))),
            Err(SetLimitsError::Conflicts(expected))
        );
    }
}

#[test]
fn any_other_failure_of_the_store_stays_one() {
    for rule in RULES.into_iter().filter(|rule| *rule != Rule::CardInOneLimitChange) {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        known(&mut unit, vec![target(0)]);
        unit.limit_changes.expect_insert().returning(move |_, _, _| Err(StoreError::Conflict(rule)));
        assert_eq!(
            run_set(&mut unit, &bench, &[0], Ok(daily(1))),
            Err(SetLimitsError::Store(StoreError::Conflict(rule)))
        );
    }
}

fn stored_request(unit: &mut MockUnit, state: RequestState) {
    unit.limit_changes
        .expect_get()
        .withf(|partner, id| (*partner, *id) == (PARTNER, limit_change_id(1)))
        .times(1)
        .returning(move |_, _| Ok(Some(limit_change(state))));
}

#[test]
fn the_whole_table_of_results() {
    for &state in S::ALL {
        let mut unit = MockUnit::default();
        stored_request(&mut unit, state);
        let expected = match state {
            S::New | S::InProcess => Err(LimitResultError::NotProcessed),
            S::Rejected => Err(LimitResultError::Cancelled),
            S::Success | S::PartSuccess | S::Decline | S::Confirmed => {
                unit.limit_changes
                    .expect_items()
                    .withf(|partner, id, from, limit| {
                        (*partner, *id, *from, *limit) == (PARTNER, limit_change_id(1), 0, 2)
                    })
                    .times(1)
                    .returning(|_, _, _, _| Ok(open_limit_items(2)));
                Ok((limit_change(state), open_limit_items(2)))
            }
        };
        assert_eq!(result(&mut unit, PARTNER, limit_change_id(1), 2), expected, "{state}");
    }
}

#[test]
fn the_whole_table_of_cancelling() {
    for &state in S::ALL {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        stored_request(&mut unit, state);
        let expected = match state {
            S::New => {
                let rejected = LimitChange { state_since: START, ..limit_change(S::Rejected) };
                let stored = rejected.clone();
                unit.limit_changes
                    .expect_set_state()
                    .withf(move |partner, request| *partner == PARTNER && *request == stored)
                    .times(1)
                    .returning(|_, _| Ok(()));
                unit.limit_changes
                    .expect_release_cards()
                    .withf(|partner, id| (*partner, *id) == (PARTNER, limit_change_id(1)))
                    .times(1)
                    .returning(|_, _| Ok(()));
                unit.jobs
                    .expect_cancel()
                    .withf(|_, subject| *subject == Subject::LimitChange(limit_change_id(1)))
                    .times(1)
                    .returning(|_, _| Ok(()));
                Ok(rejected)
            }
            // Once more: nothing is written.
            S::Rejected => Ok(limit_change(S::Rejected)),
            S::InProcess | S::Success | S::PartSuccess | S::Decline | S::Confirmed => {
                Err(CancelLimitChangeError::WrongState(state))
            }
        };
        assert_eq!(cancel(&mut unit, &bench, PARTNER, limit_change_id(1)), expected, "{state}");
    }
}

#[test]
fn what_is_unknown_is_not_found() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.limit_changes.expect_get().times(3).returning(|_, _| Ok(None));
    let id = limit_change_id(1);
    assert_eq!(status(&mut unit, PARTNER, id), Err(LimitChangeError::NotFound));
    assert_eq!(result(&mut unit, PARTNER, id, 2), Err(LimitResultError::NotFound));
    assert_eq!(cancel(&mut unit, &bench, PARTNER, id), Err(CancelLimitChangeError::NotFound));
}
