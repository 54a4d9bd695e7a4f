//! The two operations that issue tokens.

use std::pin::Pin;
use std::sync::{Arc, Mutex, mpsc};

use actix_web::test::TestRequest;
use futures_util::FutureExt as _;
use futures_util::future::join_all;
use kopeck_adapter_http::HttpState;
use kopeck_domain::partner::SealingPolicy::{Optional, Required};
use kopeck_port_security::MockPasswordHasher;
use kopeck_port_store::mock::InPlaceStore;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::client::{TestResponse, open, seal, send};
use crate::support::{API_KEY, NONCE, api_over, now_unix, parts, token_service, unit};

fn login(api_key: &str, body: &Value) -> TestRequest {
    TestRequest::post()
        .uri("/v1/get_access_token")
        .insert_header(("x-nonce", NONCE))
        .insert_header(("x-api-key", api_key))
        .insert_header(("accept", "application/sealed+json"))
        .set_json(body)
}

#[actix_web::test]
async fn wrong_credentials_are_one_and_the_same_400() {
    let state = api_over(unit(Optional));
    let given = |login: &str, password: &str| json!({"login": login, "password": password});
    let mut answers = Vec::new();
    for (api_key, body) in [
        ("ak_bad", given("partner-1", "right")),
        ("ak_bad", seal("POST", "/v1/get_access_token", &given("partner-1", "right"))),
        (API_KEY, given("partner-2", "right")),
        (API_KEY, given("partner-1", "wrong")),
    ] {
        let got = send(&state, login(api_key, &body)).await;
        assert_eq!((got.status, got.code().as_str()), (400, "bad_credentials"));
        answers.push(got.text);
    }
    answers.dedup();
    assert_eq!(answers.len(), 1);
    assert_eq!(send(&state, login(API_KEY, &json!({"login": 1}))).await.fields(), "login password");
}

#[actix_web::test]
async fn right_credentials_give_tokens() {
    let state = api_over(unit(Required));
    let body = seal("POST", "/v1/get_access_token", &json!({"login": "partner-1", "password": "right"}));
    let got = send(&state, login(API_KEY, &body)).await;
    let tokens = open(&got, "POST", "/v1/get_access_token");
    assert_eq!(tokens["tokenType"], "bearer");
    assert_eq!(tokens["accessToken"], "Access-token");
    assert_eq!(tokens["accessExpireAt"], json!(now_unix() + 900));

    let refresh = |api_key: &str, token: &str| {
        TestRequest::post()
            .uri("/v1/get_refresh_token")
            .insert_header(("x-nonce", NONCE))
            .insert_header(("x-api-key", api_key))
            .set_json(seal("POST", "/v1/get_refresh_token", &json!({"token": token})))
    };
    assert_eq!(
        send(&state, refresh(API_KEY, "good-refresh-token")).await.json()["refreshToken"],
        "Refresh-token"
    );
    assert_eq!(send(&state, refresh(API_KEY, "bad")).await.code(), "unauthorized");
    assert_eq!(send(&state, refresh("ak_bad", "good-refresh-token")).await.code(), "unauthorized");
}

/// A service that checks one password at a time, on a signal of the test.
struct SlowService {
    state: HttpState,
    /// The passwords in the order in which they were checked.
    checked: Arc<Mutex<Vec<String>>>,
    /// Ends a check.
    end: mpsc::Sender<()>,
}

type PendingLogin<'a> = Pin<Box<dyn Future<Output = TestResponse> + 'a>>;

impl SlowService {
    fn new() -> Self {
        let (checked, (end, ends)) = (Arc::<Mutex<Vec<String>>>::default(), mpsc::channel());
        let (seen, ends) = (Arc::clone(&checked), Mutex::new(ends));
        let mut passwords = MockPasswordHasher::new();
        passwords.expect_verify().returning(move |password, stored| {
            seen.lock().unwrap().push(password.expose_secret().to_owned());
            ends.lock().unwrap().recv().unwrap();
            stored.is_some() && password.expose_secret() == "right"
        });
        let mut parts = parts(Arc::new(InPlaceStore::new(unit(Optional))));
        parts.tokens = Arc::new(token_service(&parts.env, passwords));
        parts.settings.logins_at_once = 1;
        Self { state: HttpState::new(parts), checked, end }
    }

    /// Sends a login, which then waits for its password check or gets its response at once.
    fn login(&self, api_key: &str, password: &str, from: &str) -> Result<PendingLogin<'_>, TestResponse> {
        let call = login(api_key, &json!({"login": "partner-1", "password": password}));
        let mut sent: PendingLogin<'_> = Box::pin(send(&self.state, call.peer_addr(from.parse().unwrap())));
        // The server yields once before a response that has waited for nothing.
        match (&mut sent).now_or_never().or_else(|| (&mut sent).now_or_never()) {
            Some(got) => Err(got),
            None => Ok(sent),
        }
    }

    /// Ends all checks, and returns the passwords in the order of their checks.
    async fn finish(&self, sent: Vec<PendingLogin<'_>>) -> (Vec<u16>, Vec<String>) {
        sent.iter().for_each(|_| self.end.send(()).unwrap());
        let statuses = join_all(sent).await.iter().map(|got| got.status).collect();
        (statuses, std::mem::take(&mut *self.checked.lock().unwrap()))
    }
}

#[actix_web::test]
async fn a_flood_of_strangers_does_not_make_an_honest_login_wait() {
    let service = SlowService::new();
    let (stranger, partner) = ("192.0.2.1:4000", "192.0.2.2:4000");
    // One is checked, eight wait, and the others are refused at once.
    let mut sent: Vec<_> = (0..9)
        .map(|place| service.login("ak_bad", &format!("guess {place}"), stranger).ok().unwrap())
        .collect();
    let refused = service.login("ak_bad", "one too many", stranger).err().unwrap();
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    sent.push(service.login(API_KEY, "right", partner).ok().unwrap());
    let (statuses, order) = service.finish(sent).await;
    assert_eq!(statuses, [[400; 9].as_slice(), &[200]].concat());
    assert_eq!(order.iter().take(3).collect::<Vec<_>>(), ["guess 0", "right", "guess 1"]);

    // The partner's address is known now, also with a wrong API key.
    let sent =
        [("ak_bad", "guess 9", stranger), ("ak_bad", "guess 10", stranger), ("ak_old", "typo", partner)]
            .map(|(api_key, password, from)| service.login(api_key, password, from).ok().unwrap());
    let (_, order) = service.finish(sent.into()).await;
    assert_eq!(order, ["guess 9", "typo", "guess 10"]);
}

#[actix_web::test]
async fn faulty_values_under_a_right_api_key_have_no_priority() {
    let service = SlowService::new();
    let sent: Vec<_> =
        (0..9).map(|_| service.login("ak_bad", "guess", "192.0.2.1:4000").ok().unwrap()).collect();
    let faulty = login(API_KEY, &json!({"login": 1})).peer_addr("192.0.2.2:4000".parse().unwrap());
    let refused = send(&service.state, faulty).await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    service.finish(sent).await;
}
