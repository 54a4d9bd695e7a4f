//! Guessing passwords and tokens: ten failures of one partner or one address, and no more.

use kopeck_adapter_http::HttpSettings;
use kopeck_domain::partner::SealingPolicy;
use serde_json::json;
use time::Duration;

use crate::raw_http::{
    RawRequest, RawResponse, Tokens, fresh_nonce, get, login, login_call, refresh_call, seal_body,
};
use crate::server::{TestPartner, TestServer};

const HERE: [u8; 4] = [127, 0, 0, 2];
const THERE: [u8; 4] = [127, 0, 0, 3];

fn right(partner: &TestPartner) -> RawRequest {
    login_call(&partner.api_key, &partner.login, &partner.password)
}

fn wrong(partner: &TestPartner) -> RawRequest {
    login_call(&partner.api_key, &partner.login, "wrong")
}

fn fail(server: &TestServer, call: impl Fn() -> RawRequest, times: usize) {
    for _ in 0..times {
        assert_eq!(call().send(server).code(), (400, "bad_credentials".to_owned()));
    }
}

fn locked(got: &RawResponse, seconds: &str) {
    assert_eq!(got.code(), (429, "too_many_requests".to_owned()));
    assert_eq!(got.header("retry-after"), Some(seconds), "{got:?}");
}

#[test]
fn ten_failures_under_its_api_key_lock_a_partner_from_everywhere() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let other = server.partner(SealingPolicy::Optional, 0);
    let before = login(&server, &partner);
    fail(&server, || wrong(&partner).from(HERE), 5);
    server.clock.advance(Duration::minutes(5));
    fail(&server, || login_call(&partner.api_key, "not-its-login", "wrong").from(THERE), 5);
    // The eleventh is the first 429, with the right password too, and from an address that never failed.
    locked(&right(&partner).from([127, 0, 0, 9]).send(&server), "600");
    locked(&wrong(&partner).from([127, 0, 0, 9]).send(&server), "600");
    let sealed = seal_body(&server, &partner.key, right(&partner)).sealed_answer();
    locked(&sealed.send(&server), "600");
    assert_eq!(right(&other).from(HERE).send(&server).status, 200, "another login from the same address");
    assert_eq!(refresh_call(&partner, &before.refresh).send(&server).status, 200, "tokens are no guesses");

    server.clock.advance(Duration::minutes(10) - Duration::milliseconds(500));
    locked(&right(&partner).send(&server), "1");
    server.clock.advance(Duration::milliseconds(500));
    assert_eq!(right(&partner).send(&server).status, 200);
}

#[test]
fn nine_failures_and_old_failures_lock_no_login() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    fail(&server, || wrong(&partner), 9);
    assert_eq!(right(&partner).send(&server).status, 200);
    server.clock.advance(Duration::minutes(15));
    fail(&server, || wrong(&partner), 9);
    assert_eq!(right(&partner).send(&server).status, 200);
}

#[test]
fn ten_failures_from_an_address_lock_it_for_everyone() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let logins = std::cell::Cell::new(0);
    let guess = || {
        logins.set(logins.get() + 1);
        let key = if logins.get() % 2 == 0 { "ak_wrong" } else { &*partner.api_key };
        login_call(key, &format!("unknown-{}", logins.get()), "x").from(HERE)
    };
    fail(&server, guess, 10);
    locked(&right(&partner).from(HERE).send(&server), "900");
    // Before anything is opened or looked at.
    locked(&right(&partner).bytes("application/json", b"{").from(HERE).send(&server), "900");
    assert_eq!(right(&partner).from(THERE).send(&server).status, 200);
    server.clock.advance(Duration::minutes(15));
    assert_eq!(right(&partner).from(HERE).send(&server).status, 200);
}

#[test]
fn a_refused_try_does_not_lengthen_the_lock() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    fail(&server, || wrong(&partner), 10);
    server.clock.advance(Duration::minutes(14));
    for _ in 0..10 {
        locked(&wrong(&partner).send(&server), "60");
    }
    server.clock.advance(Duration::minutes(1));
    assert_eq!(right(&partner).send(&server).status, 200);
}

#[test]
fn simultaneous_guesses_do_not_slip_through() {
    // On few processors too, no guess is refused by the queue of password checks: eight wait for each permit.
    let server = TestServer::start_with(true, HttpSettings { logins_at_once: 3, ..HttpSettings::default() });
    let partner = server.partner(SealingPolicy::Optional, 0);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let guess = |place: u8| {
            let (server, partner) = (&server, &partner);
            scope.spawn(move || wrong(partner).from([127, 0, 3, place]).send(server).status)
        };
        let guesses: Vec<_> = (1..=24).map(guess).collect();
        guesses.into_iter().map(|guess| guess.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 400).count(), 10, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 14, "{statuses:?}");
}

/// Failures without its API key lock no partner out, wherever they come from.
#[test]
fn failures_under_a_wrong_api_key_count_for_no_partner() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    for from in [HERE, THERE] {
        fail(&server, || login_call("ak_wrong", &partner.login, "x").from(from), 10);
    }
    assert_eq!(right(&partner).send(&server).status, 200);
}

#[test]
fn faulty_values_are_no_failure() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    for _ in 0..12 {
        assert_eq!(right(&partner).json(&json!({"login": 1})).send(&server).fields(), "login password");
    }
    assert_eq!(right(&partner).send(&server).status, 200);
}

/// A body that cannot be opened or read is a try of the API key.
#[test]
fn unreadable_bodies_under_a_right_api_key_are_failures() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Required, 0);
    let sealed = |call: RawRequest| seal_body(&server, &partner.key, call);
    let bodies = [
        right(&partner),
        right(&partner).bytes("application/json", b"{"),
        right(&partner).bytes("application/json", b"[]"),
        right(&partner).json(&json!({"sealed": "s1.garbage"})),
        right(&partner).bytes("application/json", b""),
    ];
    for place in 0..10 {
        let call = bodies[place % bodies.len()].clone().nonce(&fresh_nonce());
        assert_eq!(call.from(HERE).send(&server).fields(), "body", "{place}");
    }
    locked(&sealed(right(&partner)).from(HERE).send(&server), "900");
    locked(&sealed(right(&partner)).from(THERE).send(&server), "900");
}

#[test]
fn a_wrong_api_key_is_the_same_400_whatever_the_body_is() {
    let server = TestServer::start();
    for body in [&b""[..], b"{", b"[]", b"{}", b"{\"login\":1}", b"{\"sealed\":\"s1.garbage\"}", b"\xff"] {
        let call = guess().bytes("application/json", body);
        assert_eq!(call.send(&server).code(), (400, "bad_credentials".to_owned()), "{body:?}");
    }
    fail(&server, guess, 3);
    locked(&guess().send(&server), "900");
}

#[test]
fn failed_refreshes_count_for_the_address_as_failed_logins_do() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let tokens = login(&server, &partner);
    let good = refresh_call(&partner, &tokens.refresh);
    let failures = [
        good.clone().with("x-api-key", "ak_wrong"),
        refresh_call(&partner, "no token"),
        refresh_call(&partner, &tokens.access),
    ];
    for place in 0..7 {
        let call = failures[place % failures.len()].clone().nonce(&fresh_nonce());
        assert_eq!(call.from(HERE).send(&server).code(), (401, "unauthorized".to_owned()), "{place}");
    }
    let unreadable = good.clone().bytes("application/json", b"{").nonce(&fresh_nonce());
    assert_eq!(unreadable.from(HERE).send(&server).fields(), "body");
    let faulty = good.clone().json(&json!({"token": 1})).nonce(&fresh_nonce());
    assert_eq!(faulty.from(HERE).send(&server).fields(), "token", "a 422 of values is no failure");
    fail(&server, || guess().from(HERE), 2);
    locked(&good.clone().nonce(&fresh_nonce()).from(HERE).send(&server), "900");
    locked(&right(&partner).from(HERE).send(&server), "900");
    // Neither the partner nor its tokens are touched.
    assert_eq!(get("/v1/balance").token(&tokens.access).from(HERE).send(&server).status, 200);
    assert_eq!(right(&partner).from(THERE).send(&server).status, 200);
    assert_eq!(good.nonce(&fresh_nonce()).from(THERE).send(&server).status, 200);
}

/// Threads of one client that refresh with one token lose their session, and their address nothing.
#[test]
fn a_burst_of_refreshes_with_one_token_is_one_failure_of_the_address() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let tokens = login(&server, &partner);
    let refresh =
        || refresh_call(&partner, &tokens.refresh).nonce(&fresh_nonce()).from(HERE).send(&server).status;
    let refreshes: Vec<u16> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..50).map(|_| scope.spawn(refresh)).collect();
        started.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let count = |status| refreshes.iter().filter(|one| **one == status).count();
    assert!(count(200) <= 2 && count(200) + count(401) == 50, "{refreshes:?}");
    assert_eq!(right(&partner).from(HERE).send(&server).status, 200);
    // One failure by the burst: nine more are the tenth.
    fail(&server, || wrong(&partner).from(HERE), 9);
    locked(&refresh_call(&partner, "no token").from(HERE).send(&server), "900");
}

#[test]
fn a_partner_locked_out_of_logins_may_still_refresh() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let mut tokens = login(&server, &partner);
    fail(&server, || wrong(&partner).from(HERE), 10);
    locked(&right(&partner).from(THERE).send(&server), "900");
    for _ in 0..11 {
        tokens = Tokens::of(&refresh_call(&partner, &tokens.refresh).from(THERE).send(&server));
    }
    locked(&refresh_call(&partner, &tokens.refresh).from(HERE).send(&server), "900");
}

/// A service that believes the proxies of these blocks.
fn behind(proxies: &str) -> TestServer {
    let trusted_proxies = proxies.parse().unwrap();
    TestServer::start_with(true, HttpSettings { workers: 1, trusted_proxies, ..HttpSettings::default() })
}

/// A guess without any right credential.
fn guess() -> RawRequest {
    login_call("ak_wrong", "unknown", "x")
}

#[test]
fn behind_a_balancer_a_client_locks_no_other_out() {
    let server = behind("127.0.0.2");
    let partner = server.partner(SealingPolicy::Optional, 0);
    let through = |call: RawRequest, client: &str| call.from(HERE).with("x-forwarded-for", client);
    fail(&server, || through(guess(), "203.0.113.5"), 10);
    locked(&through(right(&partner), "203.0.113.5").send(&server), "900");
    locked(&through(right(&partner), "198.51.100.1, 203.0.113.5:443").send(&server), "900");
    assert_eq!(through(right(&partner), "203.0.113.6").send(&server).status, 200);
    // Addresses that the client sends stand before those of the balancer, and are ignored.
    fail(&server, || through(guess(), "203.0.113.6, 203.0.113.7"), 10);
    locked(&through(right(&partner), "203.0.113.7").send(&server), "900");
    assert_eq!(through(right(&partner), "203.0.113.6").send(&server).status, 200);
    // Failures without a known address count for none, least of all for the balancer's.
    for hop in ["unknown", "127.0.0.2"] {
        fail(&server, || through(guess(), hop), 11);
    }
    fail(&server, || guess().from(HERE), 11);
    assert_eq!(right(&partner).from(HERE).send(&server).status, 200);
}

#[test]
fn behind_two_balancers_the_client_counts() {
    let server = behind("127.0.0.2,10.0.0.0/8");
    let partner = server.partner(SealingPolicy::Optional, 0);
    let through = |call: RawRequest, client: &str| {
        let client = format!("for=\"{client}\";proto=https");
        call.from(HERE).and("forwarded", client).and("forwarded", "for=10.0.0.7;by=127.0.0.2")
    };
    fail(&server, || through(guess(), "203.0.113.5"), 10);
    locked(&through(right(&partner), "203.0.113.5:51000").send(&server), "900");
    assert_eq!(through(right(&partner), "203.0.113.6").send(&server).status, 200);
}

#[test]
fn a_peer_that_is_no_proxy_is_not_believed() {
    let server = behind("127.0.0.2");
    let partner = server.partner(SealingPolicy::Optional, 0);
    let lying =
        |call: RawRequest| call.with("x-forwarded-for", "203.0.113.5").and("forwarded", "for=203.0.113.5");
    fail(&server, || lying(guess()).from(THERE), 10);
    locked(&right(&partner).from(THERE).send(&server), "900");
    let victim = right(&partner).from(HERE).with("x-forwarded-for", "203.0.113.5");
    assert_eq!(victim.send(&server).status, 200);
}

#[test]
fn ipv6_clients_of_one_network_are_one_address() {
    let server = behind("127.0.0.2");
    let partner = server.partner(SealingPolicy::Optional, 0);
    let through = |call: RawRequest, client: &str| call.from(HERE).with("x-forwarded-for", client);
    let place = std::cell::Cell::new(0);
    fail(
        &server,
        || {
            place.set(place.get() + 1);
            through(guess(), &format!("2001:db8:1:2:{:x}::1", place.get()))
        },
        10,
    );
    locked(&through(right(&partner), "2001:db8:1:2:ffff::9").send(&server), "900");
    assert_eq!(through(right(&partner), "2001:db8:1:3::1").send(&server).status, 200);
}
