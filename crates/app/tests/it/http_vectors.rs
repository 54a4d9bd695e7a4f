//! The published values of the sealing format, sent to the real server: it opens every one of the good and none of the
//! forged.

use std::sync::Arc;

use kopeck_adapter_http::HttpSettings;
use kopeck_adapter_security::{KeyRing, MasterKey, MasterKeyBox};
use kopeck_domain::partner::SealingPolicy;
use kopeck_port_security::{SecretBinding, SecretBox};
use kopeck_port_store::{Access, SealingKeyRecord, transact};
use kopeck_port_system::fake::SeededEntropy;
use kopeck_sealing::{KeyId, SealingKey, Slot};
use kopeck_service::partners::{NewPartner, PartnerError};
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::raw_http::{JSON, Place, RawRequest, RawResponse, get, login, post};
use crate::server::{TestPartner, TestServer};

const CARD: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";
const EMPLOYEE: &str = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
/// The moment of every vector.
const MOMENT: i64 = 1_767_225_600;

fn bytes<const N: usize>(hex: &Value) -> [u8; N] {
    let hex = hex.as_str().unwrap();
    let bytes: Vec<u8> = (0..N).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect();
    bytes.try_into().unwrap()
}

fn key_of(value: &Value) -> SealingKey {
    SealingKey::new(KeyId::from_bytes(bytes(&value["kid"])), bytes(&value["secret"]))
}

fn server_at(unix: i64) -> TestServer {
    let settings = HttpSettings { workers: 1, ..HttpSettings::default() };
    TestServer::start_at(OffsetDateTime::from_unix_timestamp(unix).unwrap(), true, settings)
}

/// The partner of the vectors: their login, their password, their key.
fn partner(server: &TestServer, key: SealingKey) -> TestPartner {
    let password = "correct horse battery staple";
    let new = NewPartner {
        name: "Vectors".to_owned(),
        login: Some("partner-1".to_owned()),
        password: Some(SecretString::from(password)),
        sealing: SealingPolicy::Required,
    };
    let prepared = server.application.partners.prepare(new).unwrap();
    let (service, id) = (server.application.partners.clone(), key.id());
    let secrets =
        MasterKeyBox::new(KeyRing::of(&MasterKey::from_bytes([7; 32])), Arc::new(SeededEntropy::new(9)));
    let plain = SecretSlice::from(key.expose_secret().to_vec());
    let created_at = server.application.env.now();
    let (made, shown) = transact(&*server.application.store, Access::Write, move |unit| {
        let (made, shown) = service.create(unit, &prepared)?;
        let place = SecretBinding {
            table: "sealing_keys",
            column: "encrypted_secret",
            partner: made.id,
            row: id.as_bytes().to_vec(),
        };
        let encrypted_secret = secrets.encrypt(&place, &plain)?;
        let record = SealingKeyRecord {
            key_id: *id.as_bytes(),
            encrypted_secret,
            created_at,
            accepted_until: None,
            first_used_at: None,
        };
        unit.partners().end_sealing_key(made.id, shown.sealing_key.id, created_at)?;
        unit.partners().add_sealing_key(made.id, &record)?;
        Ok::<_, PartnerError>((made, shown))
    })
    .unwrap();
    TestPartner {
        id: made.id,
        api_key: shown.api_key.expose_secret().to_owned(),
        login: made.login,
        password: password.to_owned(),
        key,
    }
}

struct VectorTest {
    server: TestServer,
    partner: TestPartner,
    token: String,
    vectors: Vec<Value>,
}

impl VectorTest {
    fn new() -> Self {
        let vectors: Vec<Value> =
            serde_json::from_str(include_str!("../../../sealing/tests/data/vectors.json")).unwrap();
        let server = server_at(MOMENT);
        let partner = partner(&server, key_of(&vectors[0]));
        let token = login(&server, &partner).access;
        Self { server, partner, token, vectors }
    }

    fn vector(&self, name: &str) -> (&str, &str) {
        let vector = self.vectors.iter().find(|vector| vector["name"] == name).unwrap();
        (vector["text"].as_str().unwrap(), vector["x_nonce"].as_str().unwrap())
    }

    /// A request with a vector as its body.
    fn body(&self, name: &str, method: &str, path: &str) -> RawResponse {
        let (text, nonce) = self.vector(name);
        self.send(RawRequest::new(method, path).json(&json!({"sealed": text})).key(name), nonce)
    }

    fn send(&self, call: RawRequest, nonce: &str) -> RawResponse {
        call.token(&self.token).nonce(nonce).send(&self.server)
    }

    /// An identifier sealed by the same partner for the same request.
    fn path(&self, method: &str, path: &str, slot: &str, nonce: &str, id: &str) -> String {
        Place { method, path, nonce, slot: Slot::Path(slot) }.seal(&self.server, &self.partner.key, id)
    }
}

#[test]
fn every_vector_that_is_a_body_is_opened() {
    let bench = VectorTest::new();
    let (text, nonce) = bench.vector("login_body");
    let call =
        post("/v1/get_access_token", &json!({"sealed": text})).with("x-api-key", &bench.partner.api_key);
    assert_eq!(call.nonce(nonce).send(&bench.server).status, 200);
    let added = bench.body("employee_add_body_cyrillic", "POST", "/v1/employee/add").ok(200);
    assert_eq!((&added["customId"], &added["name"]), (&json!("Таб-0001"), &json!("Пётр")));
    let unknown = bench.body("replenishment_body_base64_nonce", "POST", "/v1/replenishment");
    assert_eq!(unknown.status, 404);
    assert_eq!(
        unknown.json(),
        json!([{"message": unknown.json()[0]["message"], "code": "card_not_found", "idCard": CARD}])
    );
    let empty = bench.body("empty_body", "POST", "/v1/order/confirm/");
    assert_eq!(empty.fields(), "body");
    assert!(!empty.text.contains("refused"), "it was opened: {empty:?}");
    for (name, category) in [("plaintext_31_bytes", "abcdefghijkl"), ("plaintext_32_bytes", "abcdefghijklm")]
    {
        // All vectors have one nonce, which a request that changes something spends.
        let bench = VectorTest::new();
        assert_eq!(bench.body(name, "POST", "/v1/category").ok(201)["nameCategory"], category);
    }
}

#[test]
fn every_vector_that_is_a_parameter_is_opened() {
    let bench = VectorTest::new();
    let unknown = |what: &str| (404, format!("{what}_not_found"));
    let (id, nonce) = bench.vector("path_param");
    assert_eq!(bench.send(get(&format!("/v1/card/{id}/")), nonce).code(), unknown("card"));

    let (id, nonce) = bench.vector("path_param_of_put");
    let (body, _) = bench.vector("body_of_the_same_put");
    let put = RawRequest::new("PUT", &format!("/v1/employee/{id}")).json(&json!({"sealed": body}));
    assert_eq!(bench.send(put, nonce).code(), unknown("employee"));

    let (query, nonce) = bench.vector("get_paging_whole_query");
    let (body, _) = bench.vector("get_paging_in_body");
    let card = bench.path("GET", "/v1/card/*/transactions", "idCard", nonce, CARD);
    let path = format!("/v1/card/{card}/transactions");
    assert_eq!(bench.send(get(&format!("{path}?sealed={query}")), nonce).code(), unknown("card"));
    assert_eq!(bench.send(get(&path).json(&json!({"sealed": body})), nonce).code(), unknown("card"));

    let (page, nonce) = bench.vector("query_param");
    let beside = |size: &str| get(&format!("/v1/card/{CARD}/transactions?per_page={size}&page={page}"));
    assert_eq!(bench.send(beside("50"), nonce).code(), unknown("card"));
    assert_eq!(bench.send(beside("51"), nonce).fields(), "page");

    let (id, nonce) = bench.vector("query_param_idReplenishment");
    let status = get(&format!("/v1/replenishment/status/?idReplenishment={id}"));
    assert_eq!(bench.send(status, nonce).code(), unknown("request"));

    for name in ["field_switch_main", "field_switch_blocked"] {
        let (status, nonce) = bench.vector(name);
        let body = json!({"idCard": CARD, "statusCard": status});
        let switch = post(&format!("/v1/employee/{EMPLOYEE}/card/switch"), &body).key(name);
        assert_eq!(bench.send(switch, nonce).code(), unknown("employee"), "{name}");
    }
}

/// The request that holds a forgery, and the field that is reported as faulty.
fn forged_call(forgery: &Value) -> (RawRequest, String) {
    let text = forgery["text"].as_str().unwrap();
    let (method, path) = (forgery["method"].as_str().unwrap(), forgery["path"].as_str().unwrap());
    let slot = forgery["slot"].as_str().unwrap();
    let (call, field) = match slot.split_once(':') {
        None => (RawRequest::new(method, &path.replace('*', CARD)).json(&json!({"sealed": text})), "body"),
        Some(("path", name)) => (RawRequest::new(method, &path.replace('*', text)), name),
        Some(("field", name)) => {
            let mut body = json!({name[1..]: text});
            for neighbour in forgery["clear"].as_array().unwrap() {
                let (name, value) = (neighbour[0].as_str().unwrap(), &neighbour[1]);
                body[&name["field:/".len()..]] = if value == "1" { json!(1) } else { value.clone() };
            }
            (RawRequest::new(method, path).json(&body), &name[1..])
        }
        Some(other) => panic!("{other:?}"),
    };
    (call, field.to_owned())
}

#[test]
fn every_forgery_is_refused_in_the_same_words() {
    let forgeries: Vec<Value> =
        serde_json::from_str(include_str!("../../../sealing/tests/data/forgeries.json")).unwrap();
    let mut sent = 0;
    for (place, forgery) in forgeries.iter().enumerate() {
        let why = forgery["why"].as_str().unwrap();
        // A response and an event are opened by the client; what does not look sealed stands clear in a path; the path
        // gives the slot, and no card can be deleted; and a malformed nonce is another fault.
        let text = forgery["text"].as_str().unwrap();
        let elsewhere = forgery["direction"] != "req"
            // An event sent as a request: the service has nothing at the path that events are bound to.
            || forgery["path"] == "/"
            || forgery["method"] == "DELETE"
            || forgery["slot"] == "path:idEmployee"
            || why.starts_with("x-nonce");
        if elsewhere || !text.starts_with("s1.") {
            continue;
        }
        let server = server_at(forgery["now"].as_i64().unwrap());
        let partner = partner(&server, key_of(forgery));
        let token = login(&server, &partner).access;
        let (call, field) = forged_call(forgery);
        let got = call.token(&token).nonce(forgery["x_nonce"].as_str().unwrap()).send(&server);
        let expected = json!({"success": false, "data": [
            {"field": field, "message": "incorrect value passed", "detail": "the sealed value was refused; check the sealing key and the clock"},
        ]});
        assert_eq!((got.status, got.json()), (422, expected), "{place}: {why}");
        sent += 1;
    }
    assert!(sent >= 25, "{sent} of {}", forgeries.len());
}

#[test]
fn a_forged_nonce_is_refused_before_anything_is_decrypted() {
    let bench = VectorTest::new();
    let (id, _) = bench.vector("path_param");
    for nonce in ["short", "0123456789 abcdef", "нонснонснонснонс"] {
        assert_eq!(bench.send(get(&format!("/v1/card/{id}")), nonce).fields(), "x-nonce", "{nonce}");
    }
    let clear = get("/v1/card/none").bytes(JSON, b"");
    assert_eq!(bench.send(clear, "0123456789abcdef").fields(), "idCard");
}
