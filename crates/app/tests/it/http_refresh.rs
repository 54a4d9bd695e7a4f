//! Rotation of refresh tokens, the response that was lost, and the token that was stolen.

use kopeck_domain::partner::SealingPolicy;
use serde_json::json;
use time::Duration;

use crate::raw_http::{RawResponse, Tokens, get, login, post, refresh_call};
use crate::server::{TestPartner, TestServer};

/// How long an access token may be remembered after its session was revoked.
const REMEMBERED: Duration = Duration::seconds(5);

struct RefreshTest {
    server: TestServer,
    partner: TestPartner,
}

impl RefreshTest {
    fn new() -> Self {
        let server = TestServer::start();
        let partner = server.partner(SealingPolicy::Optional, 0);
        Self { server, partner }
    }

    fn login(&self) -> Tokens {
        login(&self.server, &self.partner)
    }

    fn try_refresh(&self, tokens: &Tokens) -> RawResponse {
        refresh_call(&self.partner, &tokens.refresh).send(&self.server)
    }

    fn refresh(&self, tokens: &Tokens) -> Tokens {
        Tokens::of(&self.try_refresh(tokens))
    }

    fn refused(&self, tokens: &Tokens) {
        assert_eq!(self.try_refresh(tokens).code(), (401, "unauthorized".to_owned()));
    }

    fn status(&self, tokens: &Tokens) -> u16 {
        get("/v1/balance").token(&tokens.access).send(&self.server).status
    }

    /// Every token of these pairs is dead, at once, also those that were served a moment ago.
    fn all_revoked(&self, pairs: &[&Tokens]) {
        for (place, pair) in pairs.iter().enumerate() {
            assert_eq!(self.status(pair), 401, "access token {place}");
            self.refused(pair);
        }
    }
}

#[test]
fn a_refresh_rotates_and_the_old_access_token_lives_on() {
    let bench = RefreshTest::new();
    let first = bench.login();
    let second = bench.refresh(&first);
    let third = bench.refresh(&second);
    let fourth = bench.refresh(&third);
    assert_ne!(first.refresh, second.refresh);
    assert_ne!(first.access, second.access);
    for pair in [&first, &second, &third, &fourth] {
        assert_eq!(bench.status(pair), 200);
    }
}

#[test]
fn a_lost_response_can_be_replaced_once() {
    let bench = RefreshTest::new();
    let first = bench.login();
    let lost = bench.refresh(&first);
    let second = bench.refresh(&first);
    assert_eq!(bench.status(&lost), 401, "what was lost is revoked");
    assert_eq!(bench.status(&first), 200);
    assert_eq!(bench.status(&second), 200);
    // The revoked refresh token is refused and revokes no other session.
    bench.refused(&lost);
    bench.server.clock.advance(REMEMBERED);
    assert_eq!(bench.status(&second), 200);
    let third = bench.refresh(&second);
    assert_eq!(bench.status(&third), 200);
}

#[test]
fn a_lost_response_cannot_be_replaced_twice() {
    let bench = RefreshTest::new();
    let first = bench.login();
    let lost = bench.refresh(&first);
    let second = bench.refresh(&first);
    bench.refused(&first);
    bench.all_revoked(&[&first, &lost, &second]);
}

#[test]
fn a_used_access_token_proves_that_the_response_arrived() {
    let bench = RefreshTest::new();
    let first = bench.login();
    let second = bench.refresh(&first);
    assert_eq!(bench.status(&second), 200);
    bench.refused(&first);
    bench.all_revoked(&[&first, &second]);
}

#[test]
fn a_call_that_fails_after_the_authentication_uses_the_token_too() {
    let bench = RefreshTest::new();
    let first = bench.login();
    let second = bench.refresh(&first);
    let faulty = post("/v1/category", &json!({})).token(&second.access).send(&bench.server);
    assert_eq!(faulty.fields(), "nameCategory");
    bench.refused(&first);
    bench.all_revoked(&[&first, &second]);
}

#[test]
fn a_used_refresh_token_proves_that_the_response_arrived() {
    let bench = RefreshTest::new();
    let first = bench.login();
    let second = bench.refresh(&first);
    let third = bench.refresh(&second);
    bench.refused(&first);
    bench.all_revoked(&[&first, &second, &third]);
}

#[test]
fn a_stolen_token_costs_its_own_login_and_no_other() {
    let bench = RefreshTest::new();
    let other_login = bench.login();
    let stranger = bench.server.partner(SealingPolicy::Optional, 0);
    let strangers = login(&bench.server, &stranger);
    let first = bench.login();
    let second = bench.refresh(&first);
    assert_eq!(bench.status(&second), 200);
    bench.refused(&first);
    bench.all_revoked(&[&first, &second]);
    assert_eq!(bench.status(&other_login), 200);
    assert_eq!(bench.status(&strangers), 200);
    bench.refresh(&other_login);
}

#[test]
fn the_made_up_pair_follows_the_same_rules() {
    let bench = RefreshTest::new();
    let first = bench.login();
    bench.refresh(&first);
    let second = bench.refresh(&first);
    // Its own response is lost as well: once more is fine.
    let lost = bench.refresh(&second);
    let third = bench.refresh(&second);
    assert_eq!(bench.status(&lost), 401);
    assert_eq!(bench.status(&third), 200);
    bench.refused(&second);
    bench.all_revoked(&[&first, &second, &third]);
}

#[test]
fn a_refresh_token_is_good_with_the_api_key_of_its_partner_alone() {
    let bench = RefreshTest::new();
    let other = bench.server.partner(SealingPolicy::Optional, 0);
    let tokens = bench.login();
    let call = refresh_call(&bench.partner, &tokens.refresh);
    for call in [
        refresh_call(&other, &tokens.refresh),
        call.clone().with("x-api-key", "ak_wrong"),
        call.clone().without("x-api-key"),
    ] {
        assert_eq!(call.send(&bench.server).code(), (401, "unauthorized".to_owned()));
    }
    for key in [&*bench.partner.api_key, "ak_wrong"] {
        for call in [call.clone().without("x-nonce"), call.clone().nonce("short")] {
            let got = call.with("x-api-key", key).send(&bench.server);
            assert_eq!((got.status, got.fields().as_str()), (422, "x-nonce"), "{key}");
        }
    }
    assert_eq!(call.send(&bench.server).status, 200, "it is unspent");
}

#[test]
fn one_of_many_simultaneous_refreshes_cannot_be_had_twice() {
    let bench = RefreshTest::new();
    let first = bench.login();
    let answers: Vec<RawResponse> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..6).map(|_| scope.spawn(|| bench.try_refresh(&first))).collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    // The first exchange, the made-up one, and then the token counts as stolen.
    let issued: Vec<Tokens> = answers.iter().filter(|got| got.status == 200).map(Tokens::of).collect();
    assert_eq!(issued.len(), 2);
    assert!(answers.iter().all(|got| got.status == 200 || got.status == 401));
    bench.all_revoked(&[&first, &issued[0], &issued[1]]);
}
