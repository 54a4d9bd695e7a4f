use super::*;
use crate::testing::*;
use BatchState as S;
use kopeck_domain::card::CardStatus;
use kopeck_domain::card_batch::BatchFields;
use kopeck_domain::closing::{ClosingTerms, Closings};
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::replenishment::TopUps;
use kopeck_port_store::CardClaims;
use kopeck_port_store::mock::MockUnit;
use time::Duration;

for_each_kind! {
    a_batch_is_stored_and_due_after_the_delay
    refusals_come_in_their_order
    a_closed_card_is_refused_linked_or_not
    a_raced_constraint_is_a_conflict_of_the_cards_that_were_taken
    any_other_failure_of_the_store_stays_one
    the_whole_table_of_results
    the_whole_table_of_cancelling
    a_list_of_a_state_that_no_batch_has_is_empty
    an_unknown_batch_is_not_found
    the_keys_of_the_bank_are_valid
}

fn the_keys_of_the_bank_are_valid<K: SampleKind>() {
    let key = K::key(K::Id::from(fresh_id(1)), &sample_items::<K>(1)[0]);
    assert_eq!(BankKey::new(key.as_str()), Ok(key));
}

/// A card that every kind of batch can have.
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

/// A card that another batch of the kind has.
fn taken_target<K: SampleKind>(card: u64) -> BatchTarget {
    BatchTarget { claims: CardClaims::of(K::lane(&K::terms(1))), ..target(card) }
}

/// The store has these cards, and returns them in another order than requested.
fn known<K: SampleKind>(unit: &mut MockUnit, targets: Vec<BatchTarget>) {
    K::mock(unit).expect_targets().times(1).returning(move |_, _| {
        let mut targets = targets.clone();
        targets.reverse();
        Ok(targets)
    });
}

fn conflict(card: u128, reason: ConflictReason) -> CardConflict {
    CardConflict { named: card_id(card).into(), card: Some(card_id(card)), reason }
}

fn in_batch(cards: &[u128]) -> Vec<CardConflict> {
    cards.iter().map(|card| conflict(*card, ConflictReason::InBatch)).collect()
}

fn reference() -> RequestReference {
    RequestReference::parse("PO-7").unwrap()
}

type Created<K> = Result<CardBatch<K>, CreateBatchError<&'static str>>;

fn try_create<K: SampleKind>(
    unit: &mut MockUnit,
    bench: &Bench,
    cards: &[u128],
    terms: Result<K::Terms, &'static str>,
) -> Created<K> {
    let cards: Vec<_> = (0..).zip(cards).map(|(n, card)| (card_id(*card).into(), K::item_terms(n))).collect();
    create(unit, bench, PARTNER, &cards, terms, Some(&reference()))
}

fn run_create<K: SampleKind>(unit: &mut MockUnit, cards: &[u128]) -> Created<K> {
    try_create(unit, &Bench::new(), cards, Ok(K::terms(2)))
}

fn a_batch_is_stored_and_due_after_the_delay<K: SampleKind>() {
    let mut unit = MockUnit::default();
    let id = K::Id::from(fresh_id(1));
    let expected = CardBatch::new(id, 2, K::terms(2), START).with_reference(Some(reference()));
    known::<K>(&mut unit, vec![target(0), target(1)]);
    let stored = expected.clone();
    K::mock(&mut unit)
        .expect_insert()
        .withf(move |partner, batch, items| {
            *partner == PARTNER && *batch == stored && *items == sample_items::<K>(2)[..]
        })
        .times(1)
        .returning(|_, _, _| Ok(()));
    unit.jobs
        .expect_enqueue()
        .withf(move |partner, subject, delay| {
            (*partner, *subject, *delay) == (PARTNER, K::subject(id), Duration::seconds(3))
        })
        .times(1)
        .returning(|_, _, _| Ok(()));
    assert_eq!(run_create::<K>(&mut unit, &[0, 1]), Ok(expected));
}

/// Whatever else is wrong: first the unknown cards, then the terms, then the cards in conflict.
fn refusals_come_in_their_order<K: SampleKind>() {
    let bench = Bench::new();
    for (cards, terms, expected) in [
        (
            &[9, 1, 2, 8][..],
            Err("no"),
            CreateBatchError::UnknownCards(vec![card_id(9).into(), card_id(8).into()]),
        ),
        (&[1, 2], Err("no"), CreateBatchError::Terms("no")),
        (&[1, 2], Ok(K::terms(2)), CreateBatchError::Conflicts(in_batch(&[1]))),
    ] {
        let mut unit = MockUnit::default();
        known::<K>(&mut unit, vec![taken_target::<K>(1), target(2)]);
        assert_eq!(try_create::<K>(&mut unit, &bench, cards, terms), Err(expected));
    }
}

fn a_closed_card_is_refused_linked_or_not<K: SampleKind>() {
    for closed in [target(0), taken_target::<K>(0)] {
        let mut unit = MockUnit::default();
        known::<K>(&mut unit, vec![BatchTarget { standing: Standing::Closed, ..closed }]);
        let expected = vec![conflict(0, ConflictReason::Closed)];
        assert_eq!(run_create::<K>(&mut unit, &[0]), Err(CreateBatchError::Conflicts(expected)));
    }
}

/// What moves money excludes each other, but for an urgent closing, which only another one keeps out.
#[test]
fn batches_exclude_each_other_by_their_lanes() {
    let claims = |limits, money, urgent| CardClaims { limits, money, urgent };
    for (claims, lane, excluded) in [
        (claims(false, true, false), Lane::Money, true),
        (claims(false, false, true), Lane::Money, true),
        (claims(true, false, false), Lane::Money, false),
        (claims(true, false, false), Lane::Limits, true),
        (claims(false, true, true), Lane::Limits, false),
        (claims(false, false, true), Lane::Urgent, true),
        (claims(true, true, false), Lane::Urgent, false),
    ] {
        assert_eq!(claims.exclude(lane), excluded, "{claims:?} {lane:?}");
    }
    let mut unit = MockUnit::default();
    known::<Closings>(&mut unit, vec![taken_target::<TopUps>(0)]);
    unit.closings.expect_insert().times(1).returning(|_, _, _| Ok(()));
    unit.jobs.expect_enqueue().times(1).returning(|_, _, _| Ok(()));
    let terms = Ok(ClosingTerms { is_urgent: true });
    assert!(try_create::<Closings>(&mut unit, &Bench::new(), &[0], terms).is_ok());
}

#[test]
fn a_card_expires_by_the_day_of_the_service() {
    expires::<TopUps>();
    expires::<LimitChanges>();
}

/// 21:00 UTC is midnight in the service's zone.
fn expires<K: SampleKind>() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    bench.clock.advance(Duration::days(21) + Duration::hours(12));
    known::<K>(&mut unit, vec![target(0)]);
    let refused = try_create::<K>(&mut unit, &bench, &[0], Ok(K::terms(1)));
    let expected = vec![conflict(0, ConflictReason::Expired)];
    assert_eq!(refused, Err(CreateBatchError::Conflicts(expected)));
}

/// Two concurrent requests for one card: the second one names it, or all cards if the store shows its data as they
/// were; a store that fails is no conflict.
fn a_raced_constraint_is_a_conflict_of_the_cards_that_were_taken<K: SampleKind>() {
    for (again, expected) in [
        (Ok(vec![target(0), taken_target::<K>(1)]), CreateBatchError::Conflicts(in_batch(&[1]))),
        (Ok(vec![target(0), target(1)]), CreateBatchError::Conflicts(in_batch(&[0, 1]))),
        (Err(broken()), CreateBatchError::Store(broken())),
    ] {
        let mut unit = MockUnit::default();
        known::<K>(&mut unit, vec![target(0), target(1)]);
        K::mock(&mut unit).expect_targets().times(1).returning(move |_, _| again.clone());
        let raced = StoreError::Conflict(Rule::CardInOneBatch);
        K::mock(&mut unit).expect_insert().returning(move |_, _, _| Err(raced.clone()));
        assert_eq!(run_create::<K>(&mut unit, &[0, 1]), Err(expected));
    }
}

fn any_other_failure_of_the_store_stays_one<K: SampleKind>() {
    for rule in RULES.into_iter().filter(|rule| *rule != Rule::CardInOneBatch) {
        let mut unit = MockUnit::default();
        known::<K>(&mut unit, vec![target(0)]);
        K::mock(&mut unit).expect_insert().returning(move |_, _, _| Err(StoreError::Conflict(rule)));
        let expected = CreateBatchError::Store(StoreError::Conflict(rule));
        assert_eq!(run_create::<K>(&mut unit, &[0]), Err(expected));
    }
}

fn stored_batch<K: SampleKind>(unit: &mut MockUnit, state: S) {
    K::mock(unit)
        .expect_get()
        .withf(|partner, id| (*partner, *id) == (PARTNER, batch_id::<K>()))
        .times(1)
        .returning(move |_, _| Ok(Some(batch(state, 2))));
}

fn the_whole_table_of_results<K: SampleKind>() {
    for &state in S::ALL {
        let mut unit = MockUnit::default();
        stored_batch::<K>(&mut unit, state);
        let expected = match state {
            S::New | S::InProcess => Err(BatchResultError::NotProcessed),
            S::Rejected => Err(BatchResultError::Cancelled),
            S::Success | S::PartSuccess | S::Decline => {
                K::mock(&mut unit)
                    .expect_items()
                    .withf(|partner, id, from, limit| {
                        (*partner, *id, *from, *limit) == (PARTNER, batch_id::<K>(), 0, 2)
                    })
                    .times(1)
                    .returning(|_, _, _, _| Ok(sample_items(2)));
                Ok((batch(state, 2), sample_items(2)))
            }
        };
        assert_eq!(result::<K>(&mut unit, PARTNER, batch_id::<K>(), 2), expected, "{state}");
    }
}

fn the_whole_table_of_cancelling<K: SampleKind>() {
    for &state in S::ALL {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        stored_batch::<K>(&mut unit, state);
        let expected = match state {
            S::New => {
                let rejected = CardBatch::from_stored(BatchFields {
                    state_since: START,
                    ..batch::<K>(S::Rejected, 2).into_fields()
                });
                let stored = rejected.clone();
                K::mock(&mut unit)
                    .expect_set_state()
                    .withf(move |partner, batch| *partner == PARTNER && *batch == stored)
                    .times(1)
                    .returning(|_, _| Ok(()));
                K::mock(&mut unit)
                    .expect_release_cards()
                    .withf(|partner, id| (*partner, *id) == (PARTNER, batch_id::<K>()))
                    .times(1)
                    .returning(|_, _| Ok(()));
                unit.jobs
                    .expect_cancel()
                    .withf(|_, subject| *subject == K::subject(batch_id::<K>()))
                    .times(1)
                    .returning(|_, _| Ok(()));
                Ok(rejected)
            }
            // Once more: nothing is written.
            S::Rejected => Ok(batch(S::Rejected, 2)),
            S::InProcess | S::Success | S::PartSuccess | S::Decline => {
                Err(CancelBatchError::WrongState(state))
            }
        };
        assert_eq!(cancel::<K>(&mut unit, &bench, PARTNER, batch_id::<K>()), expected, "{state}");
    }
}

fn in_state(state: Option<RequestState>) -> RequestFilter<RequestState> {
    RequestFilter { state, ..RequestFilter::default() }
}

/// The interface lets a caller ask for any state of a request.
fn a_list_of_a_state_that_no_batch_has_is_empty<K: SampleKind>() {
    let page = Page::new(1, 10).unwrap();
    let listed = list::<K>(&mut MockUnit::default(), PARTNER, &in_state(Some(RequestState::Confirmed)), page);
    assert_eq!(listed, Ok(Listed { items: Vec::new(), total: 0 }));
    for (asked, own) in [(None, None), (Some(RequestState::PartSuccess), Some(S::PartSuccess))] {
        let mut unit = MockUnit::default();
        let found = Listed { items: vec![batch::<K>(S::PartSuccess, 2)], total: 1 };
        let expected = found.clone();
        K::mock(&mut unit)
            .expect_list()
            .withf(move |partner, filter, _| (*partner, filter.state) == (PARTNER, own))
            .times(1)
            .returning(move |_, _, _| Ok(found.clone()));
        assert_eq!(list::<K>(&mut unit, PARTNER, &in_state(asked), page), Ok(expected));
    }
}

fn an_unknown_batch_is_not_found<K: SampleKind>() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    K::mock(&mut unit).expect_get().times(3).returning(|_, _| Ok(None));
    let id = batch_id::<K>();
    assert_eq!(get::<K>(&mut unit, PARTNER, id), Err(BatchError::NotFound));
    assert_eq!(result::<K>(&mut unit, PARTNER, id, 2), Err(BatchResultError::NotFound));
    assert_eq!(cancel::<K>(&mut unit, &bench, PARTNER, id), Err(CancelBatchError::NotFound));
}
