//! The two token requests, and the use of tokens.

use base64::Engine as _;
use kopeck_domain::partner::{PartnerStatus, SealingPolicy};
use kopeck_port_store::{Access, transact};
use kopeck_port_system::Clock;
use kopeck_service::partners::{self, PartnerError};
use serde_json::{Value, json};
use time::Duration;

use crate::raw_http::{
    RawRequest, RawResponse, Tokens, fresh_nonce, get, login, login_call, optional, post, refresh_call,
    seal_body,
};
use crate::server::{TestPartner, TestServer};

const REMEMBERED: Duration = Duration::seconds(5);

fn balance(server: &TestServer, authorization: &str) -> RawResponse {
    get("/v1/balance").with("authorization", authorization).send(server)
}

fn accepts(server: &TestServer, token: &str) -> bool {
    let got = balance(server, token);
    assert!(got.status == 200 || got.code() == (401, "unauthorized".to_owned()), "{got:?}");
    got.status == 200
}

pub fn set_status(server: &TestServer, partner: &TestPartner, status: PartnerStatus) {
    let id = partner.id;
    transact(&*server.application.store, Access::Write, move |unit| {
        partners::set_status(unit, id, status)?;
        Ok::<_, PartnerError>(())
    })
    .unwrap();
}

/// Header and claims of a token.
fn parts(token: &str) -> (Value, Value) {
    let mut parts = token.split('.').map(|part| {
        let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(part).unwrap();
        serde_json::from_slice(&bytes).unwrap_or(Value::Null)
    });
    let (header, claims) = (parts.next().unwrap(), parts.next().unwrap());
    assert!(parts.next().is_some() && parts.next().is_none(), "{token}");
    (header, claims)
}

/// The claims of a token.
pub fn claims(token: &str) -> Value {
    parts(token).1
}

fn check_pair(server: &TestServer, partner: &TestPartner, got: &RawResponse) {
    let body = got.ok(200);
    let now = server.clock.now().unix_timestamp();
    assert_eq!(body.as_object().unwrap().len(), 5, "{body}");
    assert_eq!(body["tokenType"], "bearer");
    assert_eq!(body["accessExpireAt"].as_i64().unwrap(), now + 15 * 60);
    assert_eq!(body["refreshExpireAt"].as_i64().unwrap(), now + 30 * 24 * 60 * 60);
    let kinds = [("accessToken", "at+jwt", "accessExpireAt"), ("refreshToken", "rt+jwt", "refreshExpireAt")];
    for (name, kind, end) in kinds {
        let (header, claims) = parts(body[name].as_str().unwrap());
        assert_eq!((&header["alg"], &header["typ"]), (&json!("HS256"), &json!(kind)));
        assert!(!header["kid"].as_str().unwrap().is_empty());
        for claim in ["iss", "aud", "sub", "sid", "jti"] {
            assert!(claims[claim].as_str().is_some_and(|text| !text.is_empty()), "{claim}: {claims}");
        }
        assert_eq!(claims["sub"], partner.id.to_string());
        assert_eq!((&claims["iat"], &claims["nbf"]), (&json!(now), &json!(now)));
        assert_eq!(claims["exp"], body[end]);
    }
}

#[test]
fn both_token_calls_give_the_five_fields() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let first = login_call(&partner.api_key, &partner.login, &partner.password).send(&server);
    check_pair(&server, &partner, &first);
    server.clock.advance(Duration::minutes(3));
    let second = refresh_call(&partner, &Tokens::of(&first).refresh).send(&server);
    check_pair(&server, &partner, &second);
    let (one, two) = (Tokens::of(&first), Tokens::of(&second));
    let (_, of_one) = parts(&one.access);
    let (_, of_two) = parts(&two.access);
    assert_ne!(of_one["jti"], of_two["jti"]);
    assert_eq!(of_one["sid"], of_two["sid"], "a refresh stays in the session");
}

#[test]
fn the_token_is_taken_bare_and_after_bearer_in_any_letter_case() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    for good in ["Bearer ", "bearer ", "BEARER ", "bEaReR ", "Bearer   ", ""] {
        assert!(accepts(&server, &format!("{good}{token}")), "{good:?}");
    }
    for bad in ["Basic ", "Token ", "Bearer Bearer ", "Bearer, ", "x"] {
        assert!(!accepts(&server, &format!("{bad}{token}")), "{bad:?}");
    }
    let mut cut = token.clone();
    cut.pop();
    for bad in ["", "Bearer", "Bearer ", "null", &cut, &format!("{token} x"), &format!("{token}.")] {
        assert!(!accepts(&server, bad), "{bad:?}");
    }
    let unauthorized = get("/v1/balance").send(&server);
    assert_eq!(unauthorized.code(), (401, "unauthorized".to_owned()));
    assert_eq!(unauthorized.header("www-authenticate"), Some("Bearer"));
    let twice = get("/v1/balance").token(&token).and("authorization", format!("Bearer {token}"));
    assert_eq!(twice.send(&server).status, 401);
    assert_eq!(get("/v1/balance").with("authorization", b"Bearer \xFF\xFE").send(&server).status, 401);
}

#[test]
fn forged_tokens_are_refused() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let encode = |text: String| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
    let (header, claims) = parts(&token);
    let pieces: Vec<&str> = token.split('.').collect();
    let with = |value: &Value, name: &str, new: Value| {
        let mut value = value.clone();
        value[name] = new;
        encode(value.to_string())
    };
    for forged in [
        format!("{}.{}.{}", with(&header, "alg", json!("none")), pieces[1], pieces[2]),
        format!("{}.{}.", with(&header, "alg", json!("none")), pieces[1]),
        format!("{}.{}.{}", with(&header, "alg", json!("HS512")), pieces[1], pieces[2]),
        format!("{}.{}.{}", with(&header, "kid", json!("0000")), pieces[1], pieces[2]),
        format!("{}.{}.{}", pieces[0], with(&claims, "exp", json!(4_000_000_000_u64)), pieces[2]),
        format!("{}.{}.{}", pieces[0], pieces[1], encode("x".repeat(32))),
        format!("{}.{}.{}", pieces[0], pieces[1], pieces[1]),
        format!("{}.{}", pieces[0], pieces[1]),
        format!("{}={}", token, ""),
    ] {
        assert!(!accepts(&server, &forged), "{forged}");
    }
}

#[test]
fn the_two_kinds_of_tokens_are_never_taken_for_each_other() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let tokens = login(&server, &partner);
    assert!(!accepts(&server, &tokens.refresh));
    assert_eq!(refresh_call(&partner, &tokens.access).send(&server).code(), (401, "unauthorized".to_owned()));
    // Neither try did any harm.
    assert!(accepts(&server, &tokens.access));
    assert_eq!(refresh_call(&partner, &tokens.refresh).send(&server).status, 200);
}

#[test]
fn tokens_end_by_the_services_clock() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let tokens = login(&server, &partner);
    server.clock.advance(Duration::minutes(15) - Duration::seconds(1));
    assert!(accepts(&server, &tokens.access));
    server.clock.advance(Duration::seconds(1));
    assert!(!accepts(&server, &tokens.access));
    let later = Tokens::of(&refresh_call(&partner, &tokens.refresh).send(&server));
    assert!(accepts(&server, &later.access));

    server.clock.advance(Duration::days(30) - Duration::seconds(1));
    let last = Tokens::of(&refresh_call(&partner, &later.refresh).send(&server));
    server.clock.advance(Duration::days(30) + Duration::seconds(5));
    assert_eq!(refresh_call(&partner, &last.refresh).send(&server).status, 401);
}

#[test]
fn wrong_credentials_get_the_same_response() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let other = server.partner(SealingPolicy::Optional, 0);
    let suspended = server.partner(SealingPolicy::Optional, 0);
    set_status(&server, &suspended, PartnerStatus::Suspended);
    let TestPartner { api_key, login, password, .. } = &partner;
    let wrong_password = login_call(api_key, login, "wrong").send(&server);
    assert_eq!(wrong_password.code(), (400, "bad_credentials".to_owned()));
    let calls = [
        login_call("ak_wrong", login, password),
        login_call("", login, password),
        login_call(api_key, "unknown", password),
        login_call(api_key, &login.to_uppercase(), password),
        login_call(api_key, &other.login, &other.password),
        login_call(&other.api_key, login, password),
        login_call(&suspended.api_key, &suspended.login, &suspended.password),
    ];
    for (place, call) in (1_u8..).zip(calls) {
        call.from([127, 0, 1, place]).send(&server).same_but_for_its_id(&wrong_password);
    }
    // Without one API key there is nothing to confirm.
    for call in [
        login_call(api_key, login, password).without("x-api-key"),
        login_call(api_key, login, password).and("x-api-key", api_key),
    ] {
        let got = call.send(&server);
        assert_eq!(got.code(), (400, "bad_credentials".to_owned()));
        assert!(got.text.contains("the header x-api-key is missing, or given more than once"), "{got:?}");
    }
    assert_eq!(login_call(api_key, login, password).send(&server).status, 200);
}

#[test]
fn a_wrong_api_key_is_refused_whatever_the_body_is_sealed_with() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Required, 0);
    let call = login_call("ak_wrong", &partner.login, &partner.password);
    let clear = call.send(&server);
    assert_eq!(clear.code(), (400, "bad_credentials".to_owned()));
    let fresh = || call.clone().nonce(&fresh_nonce());
    for (place, call) in (1_u8..).zip([
        seal_body(&server, &partner.key, fresh()),
        fresh().json(&json!({"sealed": "s1.garbage"})),
        fresh().json(&json!({"login": 5})),
        fresh().bytes("application/json", b"{"),
        fresh().bytes("application/json", b""),
        seal_body(&server, &partner.key, fresh()).sealed_answer(),
    ]) {
        let got = call.clone().from([127, 0, 2, place]).send(&server);
        got.same_but_for_its_id(&clear);
        let refresh = RawRequest { target: "/v1/get_refresh_token".to_owned(), ..call };
        assert_eq!(refresh.send(&server).code(), (401, "unauthorized".to_owned()));
    }
}

#[test]
fn faulty_values_of_the_token_calls_are_named() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let tokens = login(&server, &partner);
    let login = |body: Value| {
        post("/v1/get_access_token", &body).with("x-api-key", &partner.api_key).send(&server).fields()
    };
    assert_eq!(login(json!({})), "login password");
    assert_eq!(login(json!({"login": null, "password": ""})), "login");
    assert_eq!(login(json!({"login": 7, "password": ["x"]})), "login password");
    assert_eq!(login(json!([])), "body");
    let refresh = |body: Value| {
        post("/v1/get_refresh_token", &body).with("x-api-key", &partner.api_key).send(&server).fields()
    };
    assert_eq!(refresh(json!({})), "token");
    assert_eq!(refresh(json!({"token": 7})), "token");
    let garbage = refresh_call(&partner, "garbage").send(&server);
    assert_eq!(garbage.code(), (401, "unauthorized".to_owned()));
    assert_eq!(refresh_call(&partner, &tokens.refresh).send(&server).status, 200);
}

#[test]
fn the_nonce_of_a_token_call_is_spent_for_ten_minutes() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let call = login_call(&partner.api_key, &partner.login, &partner.password).nonce("the-same-nonce-1");
    let tokens = Tokens::of(&call.send(&server));
    assert_eq!(call.send(&server).fields(), "x-nonce");
    let refresh = refresh_call(&partner, &tokens.refresh).nonce("the-same-nonce-1");
    assert_eq!(refresh.send(&server).fields(), "x-nonce", "one memory for both calls");
    let next = Tokens::of(&refresh.clone().nonce("the-same-nonce-2").send(&server));
    let again = refresh_call(&partner, &next.refresh).nonce("the-same-nonce-2");
    assert_eq!(again.send(&server).fields(), "x-nonce");
    assert!(accepts(&server, &next.access), "a spent nonce costs no session");
    // A nonce is the partner's own, and the other requests have theirs.
    let other = server.partner(SealingPolicy::Optional, 0);
    let others = login_call(&other.api_key, &other.login, &other.password).nonce("the-same-nonce-1");
    assert_eq!(others.send(&server).status, 200);
    assert_eq!(get("/v1/balance").token(&next.access).nonce("the-same-nonce-1").send(&server).status, 200);

    server.clock.advance(Duration::minutes(10) - Duration::seconds(1));
    assert_eq!(call.send(&server).fields(), "x-nonce");
    server.clock.advance(Duration::seconds(2));
    assert_eq!(call.send(&server).status, 200);
    // A failed login spends its nonce too.
    let wrong = login_call(&partner.api_key, &partner.login, "wrong").nonce("the-same-nonce-3");
    assert_eq!(wrong.send(&server).status, 400);
    assert_eq!(wrong.send(&server).fields(), "x-nonce");
}

#[test]
fn token_calls_need_a_nonce_and_never_replay() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let call = login_call(&partner.api_key, &partner.login, &partner.password);
    for (bad, key) in [("", &*partner.api_key), ("short", &*partner.api_key), ("short", "ak_wrong")] {
        let got = call.clone().with("x-api-key", key).nonce(bad).send(&server);
        assert_eq!(got.fields(), "x-nonce", "{bad} {key}");
    }
    assert_eq!(call.clone().without("x-nonce").send(&server).fields(), "x-nonce");
    let one = call.clone().key("k").send(&server);
    let two = call.clone().nonce(&fresh_nonce()).key("k").send(&server);
    assert!(!one.replayed() && !two.replayed());
    assert_ne!(Tokens::of(&one).access, Tokens::of(&two).access);
}

#[test]
fn a_suspended_partner_is_locked_out_at_once_and_let_in_again() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let (other, others) = optional(&server);
    let tokens = login(&server, &partner);
    assert!(accepts(&server, &tokens.access));
    set_status(&server, &partner, PartnerStatus::Suspended);
    server.clock.advance(REMEMBERED);
    assert!(!accepts(&server, &tokens.access), "a token issued before");
    assert_eq!(
        refresh_call(&partner, &tokens.refresh).send(&server).code(),
        (401, "unauthorized".to_owned())
    );
    let faulty = refresh_call(&partner, "x").json(&json!({}));
    assert_eq!(faulty.send(&server).status, 401, "401 before any 422");
    let login_again = login_call(&partner.api_key, &partner.login, &partner.password);
    assert_eq!(login_again.send(&server).code(), (400, "bad_credentials".to_owned()));
    assert!(accepts(&server, &others), "{}", other.login);

    set_status(&server, &partner, PartnerStatus::Active);
    server.clock.advance(REMEMBERED);
    assert!(!accepts(&server, &tokens.access), "what was ended stays ended");
    assert_eq!(refresh_call(&partner, &tokens.refresh).send(&server).status, 401);
    assert!(accepts(&server, &login(&server, &partner).access));
}
