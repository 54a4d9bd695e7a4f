use super::*;
use crate::testing::*;
use crate::tokens::testing::*;
use kopeck_domain::ids::SessionId;
use kopeck_domain::partner::SealingPolicy;
use kopeck_port_security::{MockPasswordHasher, MockTokenCodec, SecurityError, Uptime};
use kopeck_port_store::mock::MockUnit;
use time::Duration;

fn desk_with(bench: &Bench, tokens: MockTokenCodec) -> TokenService {
    desk(bench, MockPasswordHasher::new(), tokens)
}

/// Five minutes of leeway at the beginning, since another server's clock may be ahead; none at the end.
#[test]
fn a_token_is_good_from_its_beginning_to_its_end() {
    let start = START.unix_timestamp();
    let cases =
        [(-301, 900, false), (-300, 900, true), (0, 900, true), (0, 1, true), (0, 0, false), (0, -1, false)];
    for (seconds_since_beginning, seconds_to_end, good) in cases {
        let claims = TokenClaims {
            not_before: start - seconds_since_beginning,
            expires_at: start + seconds_to_end,
            ..claims(TokenKind::Access)
        };
        let verified = desk_with(&Bench::new(), codec(claims.clone())).verify(TOKEN);
        let what = format!("{seconds_since_beginning} {seconds_to_end}: {verified:?}");
        if good {
            assert_eq!(verified.expect(&what), claims);
        } else {
            assert!(matches!(verified, Err(TokenError::Unauthorized)), "{what}");
        }
    }
}

#[test]
fn a_token_ends_when_the_clock_says_so() {
    let bench = Bench::new();
    let desk = desk_with(&bench, codec(claims(TokenKind::Access)));
    bench.clock.advance(Duration::minutes(15) - Duration::SECOND);
    assert!(desk.verify(TOKEN).is_ok());
    bench.clock.advance(Duration::SECOND);
    assert!(matches!(desk.verify(TOKEN), Err(TokenError::Unauthorized)));
}

/// Its age counts, and not only what the clock shows: a clock that is set back lengthens no life, and ends none.
#[test]
fn setting_the_clock_back_neither_lengthens_nor_ends_the_life_of_a_token() {
    let life = Duration::minutes(15);
    for step in [Duration::seconds(-200), Duration::hours(-5), Duration::days(-1_100)] {
        let bench = Bench::new();
        let own = Some(Uptime { epoch: 0, seconds: 0 });
        let desk = desk_with(&bench, codec(TokenClaims { issued_up: own, ..claims(TokenKind::Access) }));
        bench.clock.step(step);
        assert!(desk.verify(TOKEN).is_ok(), "{step}");
        bench.clock.advance(life);
        assert!(desk.verify(TOKEN).is_ok(), "{step}");
        bench.clock.advance(Duration::SECOND);
        assert!(matches!(desk.verify(TOKEN), Err(TokenError::Unauthorized)), "{step}");
    }
}

/// Of another machine, or of this one before it was started anew, nothing but the clock's time is known.
#[test]
fn the_age_of_another_machines_token_is_not_known() {
    let bench = Bench::new();
    for up in [None, Some(Uptime { epoch: 1, seconds: -9_999 }), Some(Uptime { epoch: 0, seconds: 9_999 })] {
        let desk = desk_with(&bench, codec(TokenClaims { issued_up: up, ..claims(TokenKind::Access) }));
        assert!(desk.verify(TOKEN).is_ok(), "{up:?}");
    }
    bench.clock.step(Duration::seconds(-301));
    for up in [None, Some(Uptime { epoch: 1, seconds: 0 }), Some(Uptime { epoch: 0, seconds: 9_999 })] {
        let desk = desk_with(&bench, codec(TokenClaims { issued_up: up, ..claims(TokenKind::Access) }));
        assert!(matches!(desk.verify(TOKEN), Err(TokenError::Unauthorized)), "{up:?}");
    }
}

#[test]
fn a_clock_that_is_set_ahead_ends_tokens() {
    let bench = Bench::new();
    let own = Some(Uptime { epoch: 0, seconds: 0 });
    let desk = desk_with(&bench, codec(TokenClaims { issued_up: own, ..claims(TokenKind::Access) }));
    bench.clock.step(Duration::minutes(15));
    assert!(matches!(desk.verify(TOKEN), Err(TokenError::Unauthorized)));
    bench.clock.step(Duration::minutes(-15));
    assert!(desk.verify(TOKEN).is_ok());
}

#[test]
fn a_refresh_token_is_no_access_token() {
    let desk = desk_with(&Bench::new(), codec(claims(TokenKind::Refresh)));
    assert!(matches!(desk.verify(TOKEN), Err(TokenError::Unauthorized)));
}

#[test]
fn broken_machinery_is_no_401() {
    let mut tokens = MockTokenCodec::new();
    tokens.expect_verify().returning(|_, _| Err(SecurityError::Failed("key".to_owned())));
    let verified = desk_with(&Bench::new(), tokens).verify(TOKEN);
    assert!(matches!(verified, Err(TokenError::Security(_))), "{verified:?}");
}

#[test]
fn times_at_the_ends_of_the_calendar_do_not_wrap() {
    for (not_before, expires_at) in [(i64::MAX, i64::MAX), (i64::MIN, i64::MIN)] {
        let claims = TokenClaims { not_before, expires_at, ..claims(TokenKind::Access) };
        let verified = desk_with(&Bench::new(), codec(claims)).verify(TOKEN);
        assert!(matches!(verified, Err(TokenError::Unauthorized)), "{verified:?}");
    }
}

fn session(unit: &mut MockUnit) -> Result<Caller, TokenError> {
    desk_with(&Bench::new(), MockTokenCodec::new()).session(unit, &claims(TokenKind::Access))
}

fn partner_is(unit: &mut MockUnit, status: Option<PartnerStatus>) {
    unit.partners
        .expect_get()
        .withf(|id| *id == PARTNER)
        .times(1)
        .returning(move |_| Ok(status.map(partner)));
}

fn pair_is(unit: &mut MockUnit, stored: Option<StoredPair>) {
    unit.sessions
        .expect_pair()
        .withf(|partner, pair| *partner == PARTNER && *pair == pair_id(1))
        .times(1)
        .returning(move |_, _| Ok(stored.clone()));
}

/// The access token of a spent pair lives on to its end.
#[test]
fn the_caller_is_the_partner_with_the_keys_it_may_use_now() {
    for (state, used) in [(PairState::Fresh, false), (PairState::Spent, true)] {
        let mut unit = MockUnit::default();
        partner_is(&mut unit, Some(PartnerStatus::Active));
        pair_is(&mut unit, Some(stored(TokenPair { used, ..pair(1, state) })));
        unit.partners.expect_sealing_keys().withf(|id| *id == PARTNER).returning(|_| {
            Ok(vec![
                sealing_key(3, None),
                sealing_key(2, Some(START + Duration::MICROSECOND)),
                sealing_key(1, Some(START)),
            ])
        });
        let caller = session(&mut unit).unwrap();
        assert_eq!((caller.partner, caller.sealing), (PARTNER, SealingPolicy::Required));
        assert_eq!(caller.pair_used, used);
        let keys: Vec<_> = caller.keys.iter().map(|key| key.id).collect();
        assert_eq!(keys, [[3; 8], [2; 8]], "a key that ends now is not accepted");
    }
}

#[test]
fn a_suspended_or_unknown_partner_is_not_authenticated() {
    for status in [None, Some(PartnerStatus::Suspended)] {
        let mut unit = MockUnit::default();
        partner_is(&mut unit, status);
        assert!(matches!(session(&mut unit), Err(TokenError::Unauthorized)), "{status:?}");
    }
}

fn dead_pairs() -> Vec<Option<StoredPair>> {
    vec![
        None,
        Some(stored(pair(1, PairState::Revoked))),
        Some(StoredPair { session_revoked: true, ..stored(pair(1, PairState::Fresh)) }),
        Some(StoredPair {
            session_started_at: START - Duration::days(90),
            ..stored(pair(1, PairState::Fresh))
        }),
        Some(StoredPair { session: SessionId::new(fresh_id(9)), ..stored(pair(1, PairState::Fresh)) }),
    ]
}

#[test]
fn a_revoked_token_is_not_accepted() {
    for dead in dead_pairs() {
        let mut unit = MockUnit::default();
        partner_is(&mut unit, Some(PartnerStatus::Active));
        pair_is(&mut unit, dead.clone());
        assert!(matches!(session(&mut unit), Err(TokenError::Unauthorized)), "{dead:?}");
    }
}

fn mark_used(unit: &mut MockUnit) -> Result<(), TokenError> {
    desk_with(&Bench::new(), MockTokenCodec::new()).mark_used(unit, &claims(TokenKind::Access))
}

#[test]
fn the_first_use_of_a_pair_is_noted_once() {
    let mut unit = MockUnit::default();
    let used = TokenPair { used: true, ..pair(1, PairState::Fresh) };
    let expected = used.clone();
    pair_is(&mut unit, Some(stored(pair(1, PairState::Fresh))));
    pair_is(&mut unit, Some(stored(used)));
    unit.sessions
        .expect_update_pair()
        .withf(move |partner, pair| *partner == PARTNER && *pair == expected)
        .times(1)
        .returning(|_, _| Ok(()));
    assert!(mark_used(&mut unit).is_ok());
    assert!(mark_used(&mut unit).is_ok());
}

#[test]
fn the_use_of_a_revoked_pair_is_refused() {
    for dead in dead_pairs() {
        let mut unit = MockUnit::default();
        pair_is(&mut unit, dead.clone());
        assert!(matches!(mark_used(&mut unit), Err(TokenError::Unauthorized)), "{dead:?}");
    }
}
