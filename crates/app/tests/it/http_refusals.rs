//! Everything that can go wrong in opening, and the one response to it.

use kopeck_sealing::{Clear, KeyId, RequestContext, SealingKey, Slot, seal_request};
use serde_json::json;
use time::Duration;

use crate::http_sealing::rotate;
use crate::raw_http::{
    Place, RawRequest, RawResponse, fresh_nonce, fresh_salt, get, login_call, now, post, required,
};
use crate::server::{TestPartner, TestServer};

const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

/// A place to seal for, and how a sealed value gets there.
struct Spot {
    place: Place<'static>,
    plain: &'static str,
    field: &'static str,
    call: fn(&str) -> RawRequest,
}

const NONCE: &str = "0123456789abcdef-refusals";

const SPOTS: [Spot; 5] = [
    Spot {
        place: Place { method: "POST", path: "/v1/category", nonce: NONCE, slot: Slot::Body },
        plain: "{}",
        field: "body",
        call: |sealed| post("/v1/category", &json!({"sealed": sealed})),
    },
    Spot {
        place: Place {
            method: "POST",
            path: "/v1/category",
            nonce: NONCE,
            slot: Slot::Field("nameCategory"),
        },
        plain: "",
        field: "nameCategory",
        call: |sealed| post("/v1/category", &json!({"nameCategory": sealed})),
    },
    Spot {
        place: Place { method: "GET", path: "/v1/card/*", nonce: NONCE, slot: Slot::Path("idCard") },
        plain: ID,
        field: "idCard",
        call: |sealed| get(&format!("/v1/card/{sealed}")),
    },
    Spot {
        place: Place {
            method: "GET",
            path: "/v1/employees",
            nonce: NONCE,
            slot: Slot::QueryParameter("page"),
        },
        plain: "1",
        field: "page",
        call: |sealed| get(&format!("/v1/employees?page={sealed}")),
    },
    Spot {
        place: Place { method: "GET", path: "/v1/employees", nonce: NONCE, slot: Slot::Query },
        plain: "{}",
        field: "sealed",
        call: |sealed| get(&format!("/v1/employees?sealed={sealed}")),
    },
];

impl Spot {
    fn send(&self, server: &TestServer, token: &str, sealed: &str) -> RawResponse {
        (self.call)(sealed).nonce(NONCE).token(token).send(server)
    }

    fn sealed(&self, server: &TestServer, key: &SealingKey) -> String {
        self.place.seal(server, key, self.plain)
    }

    fn sealed_at(&self, key: &SealingKey, unix: u64) -> String {
        let Place { method, path, nonce, slot } = self.place;
        let context = RequestContext { method, path, nonce, slot, clear: Clear::none() };
        seal_request(key, &context, unix, fresh_salt(), self.plain.as_bytes())
    }

    /// The value was opened, whatever came of it.
    fn opens(&self, server: &TestServer, token: &str, sealed: &str) {
        let got = self.send(server, token, sealed);
        assert!(!got.text.contains("refused"), "{}: {got:?}", self.field);
    }
}

/// Values that must not open.
fn bad_values(spot: &Spot, server: &TestServer, partner: &TestPartner, other: &TestPartner) -> Vec<String> {
    let key = &partner.key;
    let good = spot.sealed(server, key);
    let place = spot.place;
    let (head, tail) = good.split_at(good.len() - 1);
    let impostor = SealingKey::new(key.id(), [9; 32]);
    let stranger = SealingKey::new(KeyId::from_bytes([9; 8]), [9; 32]);
    let mut bad = vec![
        "s1.".to_owned(),
        "s1.x".to_owned(),
        format!("s1.{}", "A".repeat(111)),
        head.to_owned(),
        format!("{head}{}", if tail == "A" { "B" } else { "A" }),
        format!("{good}="),
        format!("{good}A"),
        format!("{good}.x"),
        good.replacen("s1.A", "s1.B", 1),
        spot.sealed(server, &other.key),
        spot.sealed(server, &impostor),
        spot.sealed(server, &stranger),
        Place { slot: Slot::Field("else"), ..place }.seal(server, key, spot.plain),
        Place { nonce: "0123456789abcdef", ..place }.seal(server, key, spot.plain),
        Place { method: "DELETE", ..place }.seal(server, key, spot.plain),
        Place { path: "/v1/balance", ..place }.seal(server, key, spot.plain),
        spot.sealed_at(key, now(server) - 301),
        spot.sealed_at(key, now(server) + 301),
        spot.sealed_at(key, 0),
        spot.sealed_at(key, u64::MAX),
    ];
    for index in [3, 20, 46, 60, good.len() - 2] {
        let mut flipped = good.clone().into_bytes();
        flipped[index] = if flipped[index] == b'x' { b'y' } else { b'x' };
        bad.push(String::from_utf8(flipped).unwrap());
    }
    if let Some(max) = place.slot.max_chars() {
        let plain = format!("{}{}", spot.plain, " ".repeat(max));
        let long = place.seal(server, key, &plain);
        assert!(long.len() > max);
        bad.push(long);
    }
    bad
}

#[test]
fn every_refusal_is_the_same_but_for_the_field() {
    let server = TestServer::start();
    let (partner, token) = required(&server);
    let (other, _) = required(&server);
    for spot in &SPOTS {
        spot.opens(&server, &token, &spot.sealed(&server, &partner.key));
        let mut first: Option<RawResponse> = None;
        for sealed in bad_values(spot, &server, &partner, &other) {
            let got = spot.send(&server, &token, &sealed);
            assert_eq!(got.fields(), spot.field, "{sealed}");
            assert!(got.text.contains("the sealed value was refused"), "{got:?}");
            first.get_or_insert_with(|| got.clone()).same_but_for_its_id(&got);
        }
    }
    let answers = SPOTS.map(|spot| {
        let got = spot.send(&server, &token, "s1.x");
        got.text.replace(&format!("\"{}\"", spot.field), "\"FIELD\"")
    });
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?}");
}

#[test]
fn the_window_is_three_hundred_seconds_either_way() {
    let server = TestServer::start();
    let (partner, token) = required(&server);
    for spot in &SPOTS {
        for unix in [now(&server) - 300, now(&server) + 300] {
            spot.opens(&server, &token, &spot.sealed_at(&partner.key, unix));
        }
    }
    let spot = &SPOTS[2];
    let sealed = spot.sealed(&server, &partner.key);
    server.clock.advance(Duration::seconds(300));
    spot.opens(&server, &token, &sealed);
    server.clock.advance(Duration::seconds(1));
    assert_eq!(spot.send(&server, &token, &sealed).fields(), "idCard");
}

#[test]
fn the_limits_of_sealed_parameters_are_exact() {
    let server = TestServer::start();
    let (partner, token) = required(&server);
    // 33 bytes of head, 16 of tag and whole blocks of 32: the longest values that fit.
    for (spot, blocks) in [(&SPOTS[3], 10), (&SPOTS[4], 46)] {
        let longest = |blocks: usize| {
            let plain = format!("{:<1$}", "{}", blocks * 32 - 1);
            spot.place.seal(&server, &partner.key, &plain)
        };
        let max = spot.place.slot.max_chars().unwrap();
        assert!(longest(blocks).len() <= max && longest(blocks + 1).len() > max);
        spot.opens(&server, &token, &longest(blocks));
        assert!(spot.send(&server, &token, &longest(blocks + 1)).text.contains("refused"));
    }
    // A clear parameter has the limit of the query alone, and a sealed field of a body has none.
    assert_eq!(
        get(&format!("/v1/employees?x={}", "x".repeat(4_000))).token(&token).send(&server).status,
        200
    );
    let nonce = fresh_nonce();
    let field = Place { nonce: &nonce, ..SPOTS[1].place }.seal(&server, &partner.key, &"x".repeat(5_000));
    let got = post("/v1/category", &json!({"nameCategory": field})).nonce(&nonce).token(&token).send(&server);
    assert_eq!(got.fields(), "nameCategory");
    assert!(!got.text.contains("refused"), "{got:?}");
}

#[test]
fn a_key_that_was_revoked_is_as_one_that_never_was() {
    let server = TestServer::start();
    let (partner, token) = required(&server);
    rotate(&server, &partner);
    rotate(&server, &partner);
    server.clock.advance(Duration::seconds(5));
    for spot in &SPOTS {
        let revoked = spot.send(&server, &token, &spot.sealed(&server, &partner.key));
        let stranger = SealingKey::new(KeyId::from_bytes([9; 8]), [9; 32]);
        revoked.same_but_for_its_id(&spot.send(&server, &token, &spot.sealed(&server, &stranger)));
        assert_eq!(revoked.fields(), spot.field);
    }
}

#[test]
fn every_faulty_value_is_named_at_once() {
    let server = TestServer::start();
    let (_, token) = required(&server);
    let call = get("/v1/card/s1.x/transactions?page=s1.x&per_page=s1.y&from=01.01.2026");
    assert_eq!(call.token(&token).send(&server).fields(), "idCard page per_page");
    let body = json!({"surname": "s1.x", "name": "s1.y", "status": "s1.z"});
    let call = RawRequest::new("PUT", "/v1/employee/s1.x").json(&body).token(&token);
    let mut fields: Vec<String> = call.send(&server).fields().split(' ').map(str::to_owned).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["idEmployee", "name", "status", "surname"]);
    // Sealing is checked before values.
    let body = json!({"idCard": "none", "statusCard": "s1.x"});
    let call = post("/v1/employee/none/card/switch", &body).token(&token);
    assert_eq!(call.send(&server).fields(), "statusCard");
    let nameless = post("/v1/category", &json!({"": "s1.x"})).token(&token);
    assert_eq!(nameless.send(&server).fields(), "body");
    assert_eq!(get("/v1/employees?=s1.x").token(&token).send(&server).fields(), "query");
}

#[test]
fn a_response_cannot_be_sent_back_as_a_request() {
    let server = TestServer::start();
    let (partner, token) = required(&server);
    let asked = get("/v1/employees").token(&token).sealed_answer();
    let got = asked.send(&server);
    let call = get("/v1/employees").nonce(asked.its_nonce()).token(&token).json(&got.json());
    assert_eq!(call.send(&server).fields(), "body");
    // And what was sealed for a login cannot be used by another partner's key.
    let (other, _) = required(&server);
    let call = login_call(&other.api_key, &other.login, &other.password);
    let sealed = crate::raw_http::seal_body(&server, &partner.key, call);
    assert_eq!(sealed.send(&server).fields(), "body");
}
