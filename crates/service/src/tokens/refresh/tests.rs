use super::*;
use crate::testing::*;
use crate::tokens::testing::*;
use kopeck_domain::ids::{SessionId, TokenPairId};
use kopeck_port_security::{MockPasswordHasher, MockTokenCodec, SecurityError};
use kopeck_port_store::StoredPair;
use kopeck_port_store::mock::MockUnit;
use time::Duration;

fn fresh_nonce(unit: &mut MockUnit) {
    unit.throttle
        .expect_spend_nonce()
        .withf(|api_key, nonce, at, since| {
            *api_key == api_key_hash(API_KEY) && nonce == "n-1" && *since == *at - Duration::minutes(10)
        })
        .times(1)
        .returning(|_, _, _, _| Ok(true));
}

/// The throttle has seen `failures` of the address, and has to count `counted` more.
fn address(unit: &mut MockUnit, failures: usize, counted: usize) {
    let is_address = |asked: &[u8; 32]| *asked == subject("address", "10.0.0.1");
    unit.throttle
        .expect_failures()
        .withf(move |asked, _, _| is_address(asked))
        .returning(move |_, _, _| Ok(vec![START; failures]));
    unit.throttle
        .expect_record_failure()
        .withf(move |asked, at| is_address(asked) && *at >= START)
        .times(counted)
        .returning(|_, _| Ok(()));
}

/// The throttle has seen `before` refusals of the session's tokens, and counts one more.
fn session(unit: &mut MockUnit, before: usize) {
    let is_session = |asked: &[u8; 32]| *asked == subject("session", &SESSION.to_string());
    unit.throttle
        .expect_failures()
        .withf(move |asked, since, _| is_session(asked) && *since >= START - Duration::minutes(15))
        .times(1)
        .returning(move |_, _, most| Ok(vec![START; before.min(most as usize)]));
    unit.throttle
        .expect_record_failure()
        .withf(move |asked, _| is_session(asked))
        .times(1)
        .returning(|_, _| Ok(()));
}

fn stored_pair(unit: &mut MockUnit, id: TokenPairId, stored: Option<StoredPair>) {
    unit.sessions
        .expect_pair()
        .withf(move |partner, asked| *partner == PARTNER && *asked == id)
        .times(1)
        .returning(move |_, _| Ok(stored.clone()));
}

fn expect_update(unit: &mut MockUnit, expected: TokenPair) {
    unit.sessions
        .expect_update_pair()
        .withf(move |partner, pair| *partner == PARTNER && *pair == expected)
        .times(1)
        .returning(|_, _| Ok(()));
}

fn expect_new_pair(unit: &mut MockUnit) -> TokenPairId {
    let id = TokenPairId::new(fresh_id(1));
    let expected = TokenPair { id, ..pair(1, PairState::Fresh) };
    unit.sessions
        .expect_insert_pair()
        .withf(move |partner, session, pair| (*partner, *session) == (PARTNER, SESSION) && *pair == expected)
        .times(1)
        .returning(|_, _, _| Ok(()));
    id
}

fn run(
    bench: &Bench,
    unit: &mut MockUnit,
    known: Option<&ApiKeyOwner>,
    tokens: MockTokenCodec,
) -> Result<RefreshOutcome, TokenError> {
    desk(bench, MockPasswordHasher::new(), tokens).refresh(
        unit,
        known,
        API_KEY,
        "n-1",
        TOKEN,
        Some("10.0.0.1"),
    )
}

/// Presents the refresh token of pair 1.
fn present(unit: &mut MockUnit) -> Result<RefreshOutcome, TokenError> {
    let (bench, known) = (Bench::new(), known(PartnerStatus::Active));
    run(&bench, unit, Some(&known), codec(claims(TokenKind::Refresh)))
}

/// Presents the refresh token of pair 1; nothing may be issued.
fn assert_refused(unit: &mut MockUnit, what: &str) {
    let outcome = present(unit);
    assert!(matches!(outcome, Ok(RefreshOutcome::Refused)), "{what}: {outcome:?}");
}

#[test]
fn a_fresh_token_is_spent_for_a_new_pair() {
    for used in [false, true] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        let presented = TokenPair { used, ..pair(1, PairState::Fresh) };
        fresh_nonce(&mut unit);
        address(&mut unit, 0, 0);
        stored_pair(&mut unit, pair_id(1), Some(stored(presented.clone())));
        let next = expect_new_pair(&mut unit);
        let spent = TokenPair { state: PairState::Spent, used: true, successor: Some(next), ..presented };
        expect_update(&mut unit, spent);
        let mut tokens = codec(claims(TokenKind::Refresh));
        let signed = signing(&mut tokens);
        let known = known(PartnerStatus::Active);
        match run(&bench, &mut unit, Some(&known), tokens) {
            Ok(RefreshOutcome::Issued(issued)) => {
                assert_eq!(issued.refresh_token, format!("Refresh {next}"));
                assert_eq!(issued.access_expires_at, START.unix_timestamp() + 15 * 60);
            }
            other => panic!("{other:?}"),
        }
        assert!(signed.lock().unwrap().iter().all(|claims| claims.session == SESSION), "one family");
    }
}

/// Five minutes before the end of the session both tokens are good for these five minutes.
#[test]
fn no_token_outlives_its_session() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let end = START + Duration::minutes(5);
    let presented = pair(1, PairState::Fresh);
    fresh_nonce(&mut unit);
    address(&mut unit, 0, 0);
    let session_started_at = end - Duration::days(90);
    stored_pair(&mut unit, pair_id(1), Some(StoredPair { session_started_at, ..stored(presented) }));
    unit.sessions
        .expect_insert_pair()
        .withf(move |_, _, pair| pair.refresh_expires_at == end)
        .times(1)
        .returning(|_, _, _| Ok(()));
    unit.sessions.expect_update_pair().returning(|_, _| Ok(()));
    let mut tokens = codec(claims(TokenKind::Refresh));
    let signed = signing(&mut tokens);
    match run(&bench, &mut unit, Some(&known(PartnerStatus::Active)), tokens) {
        Ok(RefreshOutcome::Issued(issued)) => {
            let ends = [issued.access_expires_at, issued.refresh_expires_at];
            assert_eq!(ends, [end.unix_timestamp(); 2]);
        }
        other => panic!("{other:?}"),
    }
    assert!(signed.lock().unwrap().iter().all(|claims| claims.expires_at == end.unix_timestamp()));
}

/// The answer was lost: neither of its tokens was used. They are revoked, and another pair is issued.
#[test]
fn a_spent_token_is_accepted_once_more_while_its_answer_was_not_used() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let presented = TokenPair { used: true, successor: Some(pair_id(2)), ..pair(1, PairState::Spent) };
    let lost = pair(2, PairState::Fresh);
    fresh_nonce(&mut unit);
    address(&mut unit, 0, 0);
    stored_pair(&mut unit, pair_id(1), Some(stored(presented.clone())));
    stored_pair(&mut unit, pair_id(2), Some(stored(lost.clone())));
    let next = expect_new_pair(&mut unit);
    expect_update(&mut unit, TokenPair { state: PairState::Revoked, ..lost });
    expect_update(&mut unit, TokenPair { successor: Some(next), reissued: true, ..presented });
    let mut tokens = codec(claims(TokenKind::Refresh));
    signing(&mut tokens);
    let outcome = run(&bench, &mut unit, Some(&known(PartnerStatus::Active)), tokens);
    assert!(matches!(outcome, Ok(RefreshOutcome::Issued(_))), "{outcome:?}");
}

/// In any other case a spent token was stolen or copied: the session is revoked, and that is committed.
#[test]
fn any_other_spent_token_revokes_its_session() {
    let next = |state, used| Some(TokenPair { used, ..pair(2, state) });
    let cases = [
        (false, next(PairState::Fresh, true)),
        (true, next(PairState::Fresh, false)),
        (false, next(PairState::Spent, true)),
        (false, next(PairState::Revoked, false)),
        (false, None),
    ];
    for (reissued, successor) in cases {
        let mut unit = MockUnit::default();
        let presented =
            TokenPair { used: true, successor: Some(pair_id(2)), reissued, ..pair(1, PairState::Spent) };
        fresh_nonce(&mut unit);
        address(&mut unit, 0, 1);
        session(&mut unit, 0);
        stored_pair(&mut unit, pair_id(1), Some(stored(presented)));
        stored_pair(&mut unit, pair_id(2), successor.clone().map(stored));
        unit.sessions
            .expect_revoke()
            .withf(|partner, session| (*partner, *session) == (PARTNER, SESSION))
            .times(1)
            .returning(|_, _| Ok(()));
        // The revocation has to be committed, so it is no error.
        let outcome = present(&mut unit);
        let revoked = matches!(outcome, Ok(RefreshOutcome::Revoked(session)) if session == SESSION);
        assert!(revoked, "reissued {reissued}, {successor:?}: {outcome:?}");
    }
}

#[test]
fn revoked_and_unknown_sessions_are_refused_and_nothing_written() {
    let fresh = || stored(pair(1, PairState::Fresh));
    let cases = [
        ("no such pair", None),
        ("a revoked pair", Some(stored(pair(1, PairState::Revoked)))),
        ("a revoked session", Some(StoredPair { session_revoked: true, ..fresh() })),
        (
            "a spent pair of a revoked session",
            Some(StoredPair { session_revoked: true, ..stored(pair(1, PairState::Spent)) }),
        ),
        (
            "a session that has lasted its 90 days",
            Some(StoredPair { session_started_at: START - Duration::days(90), ..fresh() }),
        ),
        ("a pair of a scoped credential", {
            Some(StoredPair { credential: Some(fresh_id(7).into()), ..fresh() })
        }),
        ("a pair of another session", Some(StoredPair { session: SessionId::new(fresh_id(99)), ..fresh() })),
        (
            "an expired pair",
            Some(stored(TokenPair { refresh_expires_at: START, ..pair(1, PairState::Fresh) })),
        ),
    ];
    for (what, stored) in cases {
        let mut unit = MockUnit::default();
        fresh_nonce(&mut unit);
        address(&mut unit, 0, 1);
        session(&mut unit, 0);
        stored_pair(&mut unit, pair_id(1), stored);
        assert_refused(&mut unit, what);
    }
}

/// A client whose threads refresh at once has lost its session, and nothing else.
#[test]
fn the_refusals_of_one_session_count_as_one_up_to_a_bound() {
    for (before, counted) in [(0, 1), (1, 0), (49, 0), (99, 0), (100, 1), (5_000, 1)] {
        let mut unit = MockUnit::default();
        fresh_nonce(&mut unit);
        address(&mut unit, 0, counted);
        session(&mut unit, before);
        let revoked = StoredPair { session_revoked: true, ..stored(pair(1, PairState::Spent)) };
        stored_pair(&mut unit, pair_id(1), Some(revoked));
        assert_refused(&mut unit, &before.to_string());
    }
}

/// 401, and no token of the family is even looked at.
#[test]
fn a_wrong_api_key_a_suspended_and_another_partner_are_refused() {
    let other = {
        let mut other = known(PartnerStatus::Active);
        other.credentials.partner.id = PartnerId::new(fresh_id(98));
        other
    };
    for known in [None, Some(known(PartnerStatus::Suspended)), Some(other)] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        fresh_nonce(&mut unit);
        address(&mut unit, 0, 1);
        if known.as_ref().is_some_and(|known| known.credentials.partner.id == PARTNER) {
            session(&mut unit, 0);
        }
        let outcome = run(&bench, &mut unit, known.as_ref(), codec(claims(TokenKind::Refresh)));
        assert!(matches!(outcome, Ok(RefreshOutcome::Refused)), "{known:?}: {outcome:?}");
    }
}

#[test]
fn an_access_token_is_no_refresh_token() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    fresh_nonce(&mut unit);
    address(&mut unit, 0, 1);
    let known = known(PartnerStatus::Active);
    let outcome = run(&bench, &mut unit, Some(&known), codec(claims(TokenKind::Access)));
    assert!(matches!(outcome, Ok(RefreshOutcome::Refused)), "{outcome:?}");
}

#[test]
fn an_expired_token_is_refused() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    bench.clock.advance(Duration::days(30) + Duration::seconds(5));
    fresh_nonce(&mut unit);
    address(&mut unit, 0, 1);
    let known = known(PartnerStatus::Active);
    let outcome = run(&bench, &mut unit, Some(&known), codec(claims(TokenKind::Refresh)));
    assert!(matches!(outcome, Ok(RefreshOutcome::Refused)), "{outcome:?}");
}

#[test]
fn a_spent_nonce_comes_before_the_token() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    address(&mut unit, 9, 0);
    unit.throttle.expect_spend_nonce().returning(|_, _, _, _| Ok(false));
    let outcome = run(&bench, &mut unit, None, MockTokenCodec::new());
    assert!(matches!(outcome, Err(TokenError::NonceSpent)), "{outcome:?}");
}

#[test]
fn broken_machinery_is_no_refusal() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    fresh_nonce(&mut unit);
    address(&mut unit, 0, 0);
    let mut tokens = MockTokenCodec::new();
    tokens.expect_verify().returning(|_, _| Err(SecurityError::Failed("key".to_owned())));
    let outcome = run(&bench, &mut unit, Some(&known(PartnerStatus::Active)), tokens);
    assert!(matches!(outcome, Err(TokenError::Security(_))), "{outcome:?}");
}

/// Not even a nonce is spent.
#[test]
fn a_locked_address_refreshes_nothing() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    address(&mut unit, 10, 0);
    let known = known(PartnerStatus::Active);
    let outcome = run(&bench, &mut unit, Some(&known), codec(claims(TokenKind::Refresh)));
    assert!(matches!(outcome, Err(TokenError::TooMany { .. })), "{outcome:?}");
}
