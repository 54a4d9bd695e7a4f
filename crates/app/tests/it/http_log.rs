//! The log of the real binary about a request, without secrets and personal data.

use serde_json::json;

use crate::process::Installation;
use crate::raw_http::{RawRequest, fresh_nonce, get, login_call, post};

#[test]
fn the_log_follows_a_call_by_its_id_and_keeps_secrets() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let running = installation.serve(&[]);
    let send = |call: RawRequest, id: &str| call.with("x-request-id", id).send_to(&running.base_url);
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
    let own = |name: &str| {
        let line =
            log.lines().find(|line| line.contains(&format!("caller_request_id=trace-{name}"))).unwrap();
        let (_, id) = line.split_once(" request_id=").unwrap();
        id.split(' ').next().unwrap().to_owned()
    };
    assert!(own("add").len() == 36 && own("add") != own("get"), "each call has an id of ours: {log}");
    let seal: Vec<&str> = log.lines().filter(|line| line.contains("trace-seal")).collect();
    let [seal] = seal[..] else { panic!("one line a request: {log}") };
    assert!(
        seal.contains(" WARN ") && seal.contains("refused_seals=1 field=body reason=the value"),
        "{seal}"
    );
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
    ask([127, 0, 0, 2], "unknown", "by-unknown");
    ask([127, 0, 0, 3], "198.51.100.1", "by-a-liar");
    assert!(running.stop("TERM").1);
    let log = installation.log();
    for (id, address) in [("by-proxy", "2001:db8::5"), ("by-unknown", "-"), ("by-a-liar", "127.0.0.3")] {
        let line = log.lines().find(|line| line.contains("kopeck::access") && line.contains(id)).unwrap();
        assert!(line.split(' ').any(|part| part == format!("address={address}")), "{line}");
    }
}

/// A name of two or three characters, another one for each number up to 238,328.
fn short_name(number: usize) -> String {
    let letter =
        |at: usize| char::from(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[at % 62]);
    let name: String = [letter(number), letter(number / 62)].into_iter().collect();
    if number < 62 * 62 { name } else { format!("{name}{}", letter(number / (62 * 62))) }
}

/// Names of fields and parameters are the client's own and may hold whole lines. It takes no credentials to send them.
#[test]
fn a_request_cannot_forge_lines_of_the_log_or_make_many() {
    const FORGED: &str = "2026-11-23T04:00:00.000Z INFO kopeck::access request status=200 partner=01a2";
    const VALUE: &str = "s1.AAAA";
    let installation = Installation::new();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let running = installation.serve(&[]);
    let send = |call: RawRequest, id: &str| call.with("x-request-id", id).send_to(&running.base_url).status;
    let stranger = |body: &str| {
        let call = RawRequest::new("POST", "/v1/get_access_token").with("x-api-key", "ak_wrong");
        call.nonce(&fresh_nonce()).bytes("application/json", body)
    };
    let many = |count: usize, of: &dyn Fn(usize) -> String| (0..count).map(of).collect::<Vec<_>>();

    assert_eq!(send(stranger(&json!({format!("x\n{FORGED}"): VALUE}).to_string()), "forged-field"), 400);
    let query = format!("?y%0A{}={VALUE}", FORGED.replace(' ', "%20"));
    send(
        RawRequest::new("POST", &format!("/v1/get_access_token{query}")).nonce(&fresh_nonce()),
        "forged-query",
    );
    let fields = many(8_000, &|number| format!("\"f{number}\":\"{VALUE}\""));
    // Whether the body is opened or is too large for a token request already.
    send(stranger(&format!("{{{}}}", fields.join(","))), "many-of-a-stranger");

    let login = login_call(&partner.api_key, &partner.login, &partner.password).send_to(&running.base_url);
    let token = login.text_of("accessToken");
    let body = format!("{{\"nameCategory\":\"{VALUE}\",{}}}", fields[..31].join(","));
    let call = RawRequest::new("POST", "/v1/category").nonce(&fresh_nonce()).token(&token);
    assert_eq!(send(call.bytes("application/json", body), "many-fields"), 422);
    // The maximum that fits into the headers of a request.
    let parameters = many(8_264, &|number| format!("{}=s1.", short_name(number))).join("&");
    assert!(send(get(&format!("/v1/employees?{parameters}")).token(&token), "many-parameters") >= 414);
    let (_, good) = running.stop("TERM");
    assert!(good);

    let log = installation.log();
    assert!(!log.lines().any(|line| line.starts_with(FORGED)), "{log}");
    let ids = ["forged-field", "forged-query", "many-of-a-stranger", "many-fields", "many-parameters"];
    for id in ids {
        let lines: Vec<&str> = log.lines().filter(|line| line.contains(id)).collect();
        assert!(lines.len() == 1 && lines[0].len() < 512, "{id}: {lines:?}");
    }
    let line = |id: &str| log.lines().find(|line| line.contains(id)).unwrap();
    assert!(line("forged-field").contains(" refused_seals=1 field=- reason="), "{log}");
    assert!(line("many-fields").contains(" refused_seals=32 field=nameCategory reason="), "{log}");
}

/// One partner may send the id that another sent: the log and the audit log tell the two requests apart.
#[test]
fn a_borrowed_request_id_is_kept_beside_one_of_our_own() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let running = installation.serve(&[]);
    for password in ["wrong-password-1", "wrong-password-2"] {
        let call = login_call(&partner.api_key, &partner.login, password).with("x-request-id", "borrowed");
        let got = call.send_to(&running.base_url);
        assert_eq!((got.status, got.request_id()), (400, "borrowed"));
    }
    assert!(running.stop("TERM").1);
    let entries = installation.succeed(&["audit", "list", "--json", "--action", "token.access"]);
    let entries: Vec<serde_json::Value> =
        entries.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let own: std::collections::BTreeSet<&str> = entries
        .iter()
        .filter(|entry| entry["callerRequestId"] == "borrowed")
        .map(|entry| entry["requestId"].as_str().unwrap())
        .collect();
    assert_eq!(own.len(), 2, "{entries:?}");
    let log = installation.log();
    for id in own {
        let line = log.lines().find(|line| line.contains(&format!("request_id={id}"))).unwrap();
        assert!(line.contains("caller_request_id=borrowed"), "{line}");
    }
}
