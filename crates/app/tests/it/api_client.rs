//! Bare calls over HTTP, so that a test sees the exact spellings, types and bytes.

use std::sync::atomic::{AtomicU64, Ordering};

use kopeck_client::{Client, PlasticItem, VirtualItem};
use kopeck_domain::partner::SealingPolicy;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::server::{TestPartner, TestServer};

/// An identifier that nothing has.
pub const UNKNOWN_ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

/// A caller with a token, whose bodies travel clear.
#[derive(Clone)]
pub struct Api {
    http: reqwest::Client,
    base: String,
    token: String,
}

/// A response.
pub struct Reply {
    pub status: u16,
    pub text: String,
    pub body: Value,
}

/// A card as the partner knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plastic {
    pub id: String,
    pub number: String,
}

/// A server with one partner who has so many kopecks.
pub async fn start(deposit: i64) -> (TestServer, Api) {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, deposit);
    let api = Api::login(&server, &partner).await;
    (server, api)
}

/// The same with the typed client.
pub fn start_client(deposit: i64) -> (TestServer, Client) {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Required, deposit);
    let client = server.client(&partner);
    (server, client)
}

pub fn nonce() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{:032x}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The tests use no TLS, but reqwest requires a provider.
pub fn plain_http() -> reqwest::Client {
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    reqwest::Client::builder().no_proxy().tls_backend_preconfigured(tls).build().unwrap()
}

impl Api {
    pub async fn login(server: &TestServer, partner: &TestPartner) -> Self {
        let http = plain_http();
        let body = json!({"login": partner.login, "password": partner.password}).to_string();
        let answer = http
            .post(format!("{}/v1/get_access_token", server.base_url))
            .header("x-api-key", &partner.api_key)
            .header("x-nonce", nonce())
            .header("content-type", "application/json")
            .body(body)
            .send()
            .await
            .unwrap();
        let text = answer.text().await.unwrap();
        let pair: Value = serde_json::from_str(&text).unwrap();
        let token = pair["accessToken"].as_str().unwrap_or_else(|| panic!("{text}")).to_owned();
        Self { http, base: server.base_url.clone(), token }
    }

    /// Sends a request with a new nonce; `Value::Null` stands for no body.
    pub async fn call(&self, method: Method, path: &str, body: &Value) -> Reply {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.send(method, path, body, &nonce()).await
    }

    pub async fn send(&self, method: Method, path: &str, body: String, nonce: &str) -> Reply {
        let mut request = self
            .http
            .request(method, format!("{}{path}", self.base))
            .header("authorization", format!("Bearer {}", self.token))
            .header("x-nonce", nonce)
            .header("x-request-id", "the-test");
        if !body.is_empty() {
            request = request.header("content-type", "application/json").body(body);
        }
        let answer = request.send().await.unwrap();
        let status = answer.status();
        let text = answer.text().await.unwrap();
        assert_ne!(status, StatusCode::INTERNAL_SERVER_ERROR, "{path}: {text}");
        let body = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{path}: not JSON: {text}"));
        Reply { status: status.as_u16(), text, body }
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.call(Method::GET, path, &Value::Null).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        self.call(Method::POST, path, body).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> Reply {
        self.call(Method::PUT, path, body).await
    }

    pub async fn delete(&self, path: &str) -> Reply {
        self.call(Method::DELETE, path, &Value::Null).await
    }

    /// A new employee's identifier.
    pub async fn employee(&self, custom_id: &str) -> String {
        let added = self.post("/v1/employee/add", &json!({"customId": custom_id})).await.ok(200);
        text(&added["idEmployee"])
    }

    /// A new category's identifier.
    pub async fn category(&self, name: &str) -> String {
        text(&self.post("/v1/category", &json!({"nameCategory": name})).await.ok(201)["idCategory"])
    }

    /// Orders plastic cards, has them made, and answers the new ones.
    pub async fn plastic(&self, server: &TestServer, count: u32) -> Vec<Plastic> {
        let before = self.free().await;
        self.post("/v1/order/plasticcards", &plastic_order(count, "Nevsky 1")).await.ok(202);
        server.run_jobs();
        let after = self.free().await;
        after.into_iter().filter(|card| !before.contains(card)).collect()
    }

    /// The unassigned cards, the oldest first.
    pub async fn free(&self) -> Vec<Plastic> {
        let list = self.get("/v1/cards/available?per_page=500").await.ok(200);
        let card = |card: &Value| Plastic { id: text(&card["idCard"]), number: text(&card["customIdCard"]) };
        list["data"].as_array().unwrap().iter().map(card).collect()
    }

    pub async fn link(&self, employee: &str, number: &str, status: &str) -> Reply {
        let body = json!({"customIdCard": number, "statusCard": status});
        self.post(&format!("/v1/employee/{employee}/link_card"), &body).await
    }

    pub async fn switch(&self, employee: &str, card: &str, status: &str) -> Reply {
        let body = json!({"idCard": card, "statusCard": status});
        self.post(&format!("/v1/employee/{employee}/card/switch"), &body).await
    }

    /// `count` cards, each the MAIN card of a new employee.
    pub async fn main_cards(&self, server: &TestServer, count: u32) -> Vec<String> {
        let cards = self.plastic(server, count).await;
        let mut ids = Vec::new();
        for card in cards {
            let employee = self.employee(&format!("E-{}", card.number)).await;
            self.link(&employee, &card.number, "MAIN").await.ok(200);
            ids.push(card.id);
        }
        ids
    }

    /// Asks for top-ups; answers the identifier of the request.
    pub async fn top_up(&self, cards: &[(&str, i64)]) -> String {
        text(&self.post("/v1/replenishment", &top_ups(cards)).await.ok(202)["replenishmentId"])
    }

    /// The state of a replenishment.
    pub async fn top_up_state(&self, id: &str) -> String {
        let path = format!("/v1/replenishment/status/?idReplenishment={id}");
        text(&self.get(&path).await.ok(200)["message"])
    }

    /// The state of an order.
    pub async fn order_state(&self, id: &str) -> String {
        text(&self.get(&format!("/v1/order/status/{id}")).await.ok(200)["message"])
    }

    /// Checks balance, hold and available.
    pub async fn expect_money(&self, balance: i64, hold: i64) {
        let shown = self.get("/v1/balance").await.ok(200);
        let amounts = json!([shown["balance"], shown["hold"], shown["available"]]);
        assert_eq!(amounts, json!([balance, hold, balance - hold]));
    }

    /// The values of `field` in the list under `path`, in order.
    pub async fn column(&self, path: &str, field: &str) -> Vec<Value> {
        let list = self.get(path).await.ok(200);
        list["data"].as_array().unwrap().iter().map(|item| item[field].clone()).collect()
    }

    pub async fn sandbox(&self, card: &str, command: &str) {
        self.post(&format!("/sandbox/v1/card/{card}/{command}"), &json!({})).await.ok(200);
    }
}

impl Reply {
    /// The body of a response with this status.
    #[track_caller]
    pub fn ok(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        self.body
    }

    /// Checks a refusal with a code.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) {
        assert_eq!((self.status, self.body["code"].as_str()), (status, Some(code)), "{}", self.text);
        assert_eq!(keys(&self.body), ["code", "message", "success"]);
        assert_eq!(self.body["success"], json!(false));
        assert!(self.body["message"].as_str().is_some_and(|message| !message.is_empty()));
    }

    /// Checks that just these fields are faulty, in whatever order.
    #[track_caller]
    pub fn faulty(self, expected: &[&str]) {
        assert_eq!(self.status, 422, "{expected:?}: {}", self.text);
        assert_eq!(keys(&self.body), ["data", "success"]);
        assert_eq!(self.body["success"], json!(false));
        let mut fields = Vec::new();
        for fault in self.body["data"].as_array().unwrap() {
            assert_eq!(keys(fault), ["detail", "field", "message"]);
            assert_eq!(fault["message"], json!("incorrect value passed"));
            assert!(!fault["detail"].as_str().unwrap().is_empty());
            fields.push(fault["field"].as_str().unwrap());
        }
        fields.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(fields, expected);
    }

    /// Checks a list of faulty cards: each code with its card, in the order of the request.
    #[track_caller]
    pub fn faulty_cards(self, status: u16, expected: &[(&str, &str)]) {
        assert_eq!(self.status, status, "{}", self.text);
        let list = self.body.as_array().unwrap_or_else(|| panic!("{}", self.text));
        let mut found = Vec::new();
        for fault in list {
            assert_eq!(keys(fault), ["code", "idCard", "message"]);
            assert!(!fault["message"].as_str().unwrap().is_empty());
            found.push((fault["code"].as_str().unwrap(), fault["idCard"].as_str().unwrap()));
        }
        assert_eq!(found, expected);
    }
}

/// The names of an object's fields, sorted.
pub fn keys(object: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[track_caller]
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

pub fn plastic_order(count: u32, address: &str) -> Value {
    json!({"data": [{
        "numberCards": count, "typeCard": "MP4", "deliveryAddress": address, "recipient": "Анна Ли",
        "phone": "9031234567",
    }]})
}

pub fn virtual_order(count: u32, amount: i64) -> Value {
    json!({"data": [{"numberCards": count, "typeCard": "MLZ", "amount": amount}]})
}

pub fn top_ups(cards: &[(&str, i64)]) -> Value {
    let cards: Vec<Value> =
        cards.iter().map(|(card, amount)| json!({"idCard": card, "amountReplenishment": amount})).collect();
    json!({"cards": cards})
}

pub fn plastic_item(count: u32) -> PlasticItem {
    PlasticItem {
        number_cards: count,
        type_card: kopeck_client::CardType::Kkl,
        delivery_address: "Невский, 1".to_owned(),
        recipient: "Анна Ли".to_owned(),
        phone: "0031234567".to_owned(),
    }
}

pub fn virtual_item(count: u32, amount: i64) -> VirtualItem {
    VirtualItem::new(count, amount)
}
