//! The two calls that give tokens.

use actix_web::test::TestRequest;
use kopeck_domain::partner::SealingPolicy::{Optional, Required};
use serde_json::{Value, json};

use crate::caller::{open, seal, send};
use crate::support::{API_KEY, NONCE, api_over, now_unix, unit};

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
