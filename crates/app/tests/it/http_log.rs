//! What the log of the real binary says of a call, and what it must never say.

use serde_json::json;

use crate::bare::{Call, get, login_call, post};
use crate::process::Installation;

#[test]
fn the_log_follows_a_call_by_its_id_and_keeps_secrets() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let running = installation.serve(&[]);
    let send = |call: Call, id: &str| call.with("x-request-id", id).send_to(&running.base_url);
    let tokens = send(login_call(&partner.api_key, &partner.login, &partner.password), "trace-login");
    let (access, refresh) = (tokens.text_of("accessToken"), tokens.text_of("refreshToken"));
    assert_eq!(
        send(login_call(&partner.api_key, &partner.login, "hunter2-wrong"), "trace-wrong").status,
        400
    );
    let refresh_call =
        post("/v1/get_refresh_token", &json!({"token": refresh})).with("x-api-key", &partner.api_key);
    assert_eq!(send(refresh_call, "trace-refresh").status, 200);
    let employee = json!({"customId": "Secret-Id-1", "surname": "Тайный", "email": "hidden@example.com"});
    let added = send(post("/v1/employee/add", &employee).token(&access).key("a-key-of-mine"), "trace-add");
    let id = added.text_of("idEmployee");
    assert_eq!(send(get(&format!("/v1/employee/{id}")).token(&access), "trace-get").status, 200);
    let refused =
        send(post("/v1/category", &json!({"sealed": "s1.garbage-to-refuse"})).token(&access), "trace-seal");
    assert_eq!(refused.fields(), "body");
    assert_eq!(send(get("/v1/employees?q=Looking-For").token(&access), "trace-query").status, 200);
    let (_, good) = running.stop("TERM");
    assert!(good);

    let log = installation.log();
    for id in ["login", "wrong", "refresh", "add", "get", "seal", "query"] {
        assert!(log.lines().any(|line| line.contains(&format!("trace-{id}"))), "{id}: {log}");
    }
    let reasons = log.lines().filter(|line| line.contains("trace-seal")).count();
    assert!(reasons >= 2, "the call and why the value was refused: {log}");
    for secret in [
        &*partner.api_key,
        &partner.password,
        &partner.sealing_key,
        &access,
        &refresh,
        "hunter2-wrong",
        "Secret-Id-1",
        "Тайный",
        "hidden@example.com",
        "Looking-For",
        "garbage-to-refuse",
        "a-key-of-mine",
        &access.split('.').nth(2).unwrap()[..20],
    ] {
        assert!(!log.contains(secret), "{secret} stands in the log: {log}");
    }
}

#[test]
fn the_access_log_names_the_client_that_a_trusted_proxy_reports() {
    let installation = Installation::new();
    let running = installation.serve(&["--trusted-proxies", "127.0.0.2"]);
    let ask = |from: [u8; 4], client: &str, id: &str| {
        let call = get("/v1/balance").with("x-forwarded-for", client).with("x-request-id", id).from(from);
        assert_eq!(call.send_to(&running.base_url).status, 401);
    };
    ask([127, 0, 0, 2], "198.51.100.1, 2001:db8::5", "by-proxy");
    ask([127, 0, 0, 2], "unknown", "by-nobody");
    ask([127, 0, 0, 3], "198.51.100.1", "by-a-liar");
    assert!(running.stop("TERM").1);
    let log = installation.log();
    for (id, address) in [("by-proxy", "2001:db8::5"), ("by-nobody", "-"), ("by-a-liar", "127.0.0.3")] {
        let line = log.lines().find(|line| line.contains("kopeck::access") && line.contains(id)).unwrap();
        assert!(line.split(' ').any(|part| part == format!("address={address}")), "{line}");
    }
}
