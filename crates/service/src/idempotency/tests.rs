//! Idempotent requests, over mocked repositories.

use kopeck_port_store::Rule;
use kopeck_port_store::mock::MockUnit;
use time::{Duration, OffsetDateTime};

use super::*;
use crate::testing::*;

const WEEK: Duration = Duration::days(7);

fn request() -> IdempotentRequest {
    IdempotentRequest { partner: PARTNER, key: "k-1".to_owned(), fingerprint: [1; 32], sealed: None }
}

fn response() -> PlaintextResponse {
    PlaintextResponse { status: 202, body: b"{\"a\": 1}".to_vec(), employee: None }
}

fn recorded(fingerprint: u8, recorded_at: OffsetDateTime) -> RecordedResponse {
    let PlaintextResponse { status, body, employee } = response();
    RecordedResponse { fingerprint: [fingerprint; 32], status, body: Some(body), employee, recorded_at }
}

fn found(unit: &mut MockUnit, recorded: Option<RecordedResponse>) {
    unit.idempotency
        .expect_find()
        .withf(|partner, key| *partner == PARTNER && key == "k-1")
        .times(1)
        .returning(move |_, _| Ok(recorded.clone()));
}

fn expect_record(unit: &mut MockUnit) {
    unit.idempotency
        .expect_record()
        .withf(|partner, key, response, stale_before| {
            *partner == PARTNER
                && key == "k-1"
                && *response == recorded(1, START)
                && *stale_before == START - WEEK
        })
        .times(1)
        .returning(|_, _, _, _| Ok(()));
}

fn works(_: &mut dyn UnitOfWork) -> Result<PlaintextResponse, &'static str> {
    Ok(response())
}

fn must_not_work(_: &mut dyn UnitOfWork) -> Result<PlaintextResponse, &'static str> {
    panic!("the request was carried out")
}

#[test]
fn a_first_call_is_carried_out_and_recorded() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    found(&mut unit, None);
    expect_record(&mut unit);
    assert_eq!(execute(&mut unit, &bench, &request(), works), Ok(Execution::First(response())));
}

#[test]
fn a_repeated_call_gets_the_first_answer_and_has_no_effect() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    found(&mut unit, Some(recorded(1, START - WEEK)));
    assert_eq!(execute(&mut unit, &bench, &request(), must_not_work), Ok(Execution::Replayed(response())));
}

#[test]
fn a_key_that_another_call_used_is_refused() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    found(&mut unit, Some(recorded(2, START)));
    assert_eq!(execute(&mut unit, &bench, &request(), must_not_work), Err(ExecuteError::KeyReused));
    found(&mut unit, Some(recorded(2, START)));
    assert_eq!(replay(&mut unit, &bench, &request()), Err(ReplayError::KeyReused));
    found(&mut unit, Some(recorded(2, START)));
    assert_eq!(find(&mut unit, &bench, &request()), Err(ReplayError::KeyReused));
}

/// A record past its retention is as if it were gone, whichever request it belongs to.
#[test]
fn a_stale_record_is_none() {
    for fingerprint in [1, 2] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        found(&mut unit, Some(recorded(fingerprint, START - WEEK - Duration::MICROSECOND)));
        expect_record(&mut unit);
        assert_eq!(execute(&mut unit, &bench, &request(), works), Ok(Execution::First(response())));
    }
}

#[test]
fn a_refusal_is_not_recorded() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    found(&mut unit, None);
    assert_eq!(execute(&mut unit, &bench, &request(), |_| Err("409")), Err(ExecuteError::UseCase("409")));
}

#[test]
fn the_second_record_of_a_key_is_a_conflict() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let raced = StoreError::Conflict(Rule::IdempotencyKey);
    let error = raced.clone();
    found(&mut unit, None);
    unit.idempotency.expect_record().returning(move |_, _, _, _| Err(error.clone()));
    assert_eq!(execute(&mut unit, &bench, &request(), works), Err(ExecuteError::Store(raced)));
}

#[test]
fn a_store_that_cannot_look_carries_nothing_out() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.idempotency.expect_find().returning(|_, _| Err(broken()));
    assert_eq!(execute(&mut unit, &bench, &request(), must_not_work), Err(ExecuteError::Store(broken())));
}

#[test]
fn bodies_stay_out_of_logs() {
    assert_eq!(format!("{:?}", response()), "PlaintextResponse { status: 202, .. }");
}

const NONCE: &str = "0c5f3a9be1d24786";

/// The request, sealed under a key or with its nonce as the key.
fn sealed(idempotency_key: Option<&str>) -> IdempotentRequest {
    let idempotency_key = idempotency_key.map(str::to_owned);
    let key = idempotency_key.clone().unwrap_or_else(|| NONCE.to_owned());
    IdempotentRequest {
        key,
        sealed: Some(SealedNonce { nonce: NONCE.to_owned(), idempotency_key }),
        ..request()
    }
}

fn spent(idempotency_key: Option<&str>, spent_at: OffsetDateTime) -> SpentNonce {
    SpentNonce { idempotency_key: idempotency_key.map(str::to_owned), spent_at }
}

fn answered(unit: &mut MockUnit, recorded: Option<RecordedResponse>) {
    unit.idempotency.expect_find().times(1).returning(move |_, _| Ok(recorded.clone()));
}

fn nonce_found(unit: &mut MockUnit, spent: Option<SpentNonce>) {
    unit.sealed_nonces
        .expect_find()
        .withf(|partner, nonce| *partner == PARTNER && nonce == NONCE)
        .times(1)
        .returning(move |_, _| Ok(spent.clone()));
}

fn expect_spending(unit: &mut MockUnit, expected: SpentNonce) {
    unit.sealed_nonces
        .expect_spend()
        .withf(move |partner, nonce, spent, stale_before| {
            let kept_since = spent.spent_at - Duration::minutes(20);
            *partner == PARTNER && nonce == NONCE && *spent == expected && *stale_before == kept_since
        })
        .times(1)
        .returning(|_, _, _, _| Ok(()));
}

#[test]
fn a_sealed_call_spends_its_nonce_with_its_effect() {
    for key in [Some("k-1"), None] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        answered(&mut unit, None);
        nonce_found(&mut unit, None);
        unit.idempotency.expect_record().times(1).returning(|_, _, _, _| Ok(()));
        expect_spending(&mut unit, spent(key, START));
        assert_eq!(execute(&mut unit, &bench, &sealed(key), works), Ok(Execution::First(response())));
    }
}

/// Under a new nonce: the nonce is spent. Under the same: it is spent already.
#[test]
fn a_sealed_repeat_spends_its_nonce_with_the_answer() {
    let request = sealed(Some("k-1"));
    for (before, is_nonce_spent) in [(None, false), (Some(spent(Some("k-1"), START)), true)] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        for _ in 0..3 {
            answered(&mut unit, Some(recorded(1, START)));
            nonce_found(&mut unit, before.clone());
        }
        let looked = find(&mut unit, &bench, &request);
        assert_eq!(looked, Ok(Some(StoredResponse { response: response(), is_nonce_spent })));
        for _ in 0..2 {
            if !is_nonce_spent {
                expect_spending(&mut unit, spent(Some("k-1"), START));
            }
        }
        assert_eq!(execute(&mut unit, &bench, &request, must_not_work), Ok(Execution::Replayed(response())));
        assert_eq!(replay(&mut unit, &bench, &request), Ok(Some(response())));
    }
}

#[test]
fn a_nonce_that_was_spent_with_another_key_is_refused() {
    for (first, second) in [(Some("a"), Some("b")), (Some("a"), None), (None, Some("b")), (None, Some(NONCE))]
    {
        // Whatever is known of the second key.
        for known in [None, Some(recorded(1, START)), Some(recorded(2, START))] {
            let (bench, mut unit, request) = (Bench::new(), MockUnit::default(), sealed(second));
            for _ in 0..4 {
                answered(&mut unit, known.clone());
                nonce_found(&mut unit, Some(spent(first, START)));
            }
            assert_eq!(execute(&mut unit, &bench, &request, must_not_work), Err(ExecuteError::NonceSpent));
            assert_eq!(replay(&mut unit, &bench, &request), Err(ReplayError::NonceSpent));
            assert_eq!(find(&mut unit, &bench, &request), Err(ReplayError::NonceSpent));
            assert_eq!(claim_nonce(&mut unit, &bench, &request), Err(ReplayError::NonceSpent));
        }
    }
}

#[test]
fn another_request_with_the_nonce_and_its_key_is_refused_for_the_key() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    answered(&mut unit, Some(recorded(2, START)));
    nonce_found(&mut unit, Some(spent(Some("k-1"), START)));
    let refused = execute(&mut unit, &bench, &sealed(Some("k-1")), must_not_work);
    assert_eq!(refused, Err(ExecuteError::KeyReused));
}

/// By the service's clock, to the microsecond.
#[test]
fn a_nonce_is_spent_for_twenty_minutes() {
    let (bench, request) = (Bench::new(), sealed(Some("b")));
    let spent = spent(Some("a"), START);
    bench.clock.advance(Duration::minutes(20));
    let mut unit = MockUnit::default();
    answered(&mut unit, None);
    nonce_found(&mut unit, Some(spent.clone()));
    assert_eq!(execute(&mut unit, &bench, &request, must_not_work), Err(ExecuteError::NonceSpent));

    bench.clock.advance(Duration::MICROSECOND);
    let mut unit = MockUnit::default();
    answered(&mut unit, None);
    nonce_found(&mut unit, Some(spent));
    unit.idempotency.expect_record().times(1).returning(|_, _, _, _| Ok(()));
    expect_spending(&mut unit, self::spent(Some("b"), bench.now()));
    assert_eq!(execute(&mut unit, &bench, &request, works), Ok(Execution::First(response())));
}

/// Else a copy of a repeat, made while its response was about to be forgotten, would have an effect afterwards.
#[test]
fn an_answer_counts_as_long_as_the_nonce_that_it_was_given_to() {
    let (bench, request) = (Bench::new(), sealed(Some("k-1")));
    bench.clock.advance(WEEK + Duration::minutes(20));
    let mut unit = MockUnit::default();
    answered(&mut unit, Some(recorded(1, START)));
    nonce_found(&mut unit, Some(spent(Some("k-1"), START + WEEK)));
    assert_eq!(execute(&mut unit, &bench, &request, must_not_work), Ok(Execution::Replayed(response())));
}

/// A response that had expired when the nonce was claimed does not count.
#[test]
fn a_claimed_nonce_revives_no_stale_answer() {
    let (bench, request) = (Bench::new(), sealed(Some("k-1")));
    bench.clock.advance(WEEK + Duration::SECOND);
    let mut unit = MockUnit::default();
    answered(&mut unit, Some(recorded(2, START)));
    nonce_found(&mut unit, Some(spent(Some("k-1"), bench.now())));
    unit.idempotency.expect_record().times(1).returning(|_, _, _, _| Ok(()));
    assert_eq!(execute(&mut unit, &bench, &request, works), Ok(Execution::First(response())));
}

#[test]
fn a_claim_spends_the_nonce_once_and_leaves_clear_calls_alone() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    answered(&mut unit, None);
    nonce_found(&mut unit, None);
    expect_spending(&mut unit, spent(Some("k-1"), START));
    assert_eq!(claim_nonce(&mut unit, &bench, &sealed(Some("k-1"))), Ok(()));

    let mut unit = MockUnit::default();
    answered(&mut unit, None);
    nonce_found(&mut unit, Some(spent(Some("k-1"), START)));
    assert_eq!(claim_nonce(&mut unit, &bench, &sealed(Some("k-1"))), Ok(()));

    let mut unit = MockUnit::default();
    answered(&mut unit, None);
    assert_eq!(claim_nonce(&mut unit, &bench, &request()), Ok(()));
}

#[test]
fn a_refused_sealed_call_keeps_its_nonce() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    answered(&mut unit, None);
    nonce_found(&mut unit, None);
    let refused = execute(&mut unit, &bench, &sealed(None), |_| Err("409"));
    assert_eq!(refused, Err(ExecuteError::UseCase("409")));
}

#[test]
fn the_second_spending_of_a_nonce_is_a_conflict() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let raced = StoreError::Conflict(Rule::SealedNonce);
    let error = raced.clone();
    answered(&mut unit, None);
    nonce_found(&mut unit, None);
    unit.idempotency.expect_record().returning(|_, _, _, _| Ok(()));
    unit.sealed_nonces.expect_spend().returning(move |_, _, _, _| Err(error.clone()));
    assert_eq!(execute(&mut unit, &bench, &sealed(None), works), Err(ExecuteError::Store(raced)));
}

/// The key stays spent: nothing runs, and nothing is recorded.
#[test]
fn an_erased_response_cannot_be_replayed() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let erased = RecordedResponse { body: None, ..recorded(1, START) };
    unit.idempotency.expect_find().returning(move |_, _| Ok(Some(erased.clone())));
    assert_eq!(find(&mut unit, &bench, &request()), Err(ReplayError::Erased));
    assert_eq!(replay(&mut unit, &bench, &request()), Err(ReplayError::Erased));
    let other = IdempotentRequest { fingerprint: [2; 32], ..request() };
    let ran = execute(&mut unit, &bench, &request(), |_| -> Result<_, ()> { panic!("it runs again") });
    assert_eq!(ran, Err(ExecuteError::Erased));
    assert_eq!(find(&mut unit, &bench, &other), Err(ReplayError::KeyReused), "another request");
}
