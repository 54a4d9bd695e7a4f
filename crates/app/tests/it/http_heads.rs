//! Heads: paths, methods, the id of a request, the order of checks.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use serde_json::json;

use crate::api_client::UNKNOWN_ID as ID;
use crate::raw_http::{JSON, RawRequest, exchange, get, optional, post, read_all};
use crate::server::TestServer;
use crate::world::{Things, calls, samples_by_path};

#[test]
fn every_call_wants_a_token_and_then_a_nonce() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    for (method, path) in calls() {
        for path in [path.replace("{}", ID), path.replace("{}", "none") + "/"] {
            let call = RawRequest::new(method, &path);
            // 401 comes before anything that is wrong with the rest.
            for call in
                [call.clone(), call.clone().without("x-nonce").key(""), call.clone().bytes(JSON, b"{")]
            {
                assert_eq!(call.send(&server).code(), (401, "unauthorized".to_owned()), "{method} {path}");
            }
            let call = call.token(&token).bytes(JSON, b"{");
            for call in
                [call.clone().without("x-nonce"), call.clone().nonce("too-short"), call.clone().nonce("")]
            {
                assert_eq!(call.send(&server).fields(), "x-nonce", "{method} {path}");
            }
        }
    }
}

#[test]
fn a_nonce_has_an_alphabet_a_length_and_comes_once() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let call = get("/v1/balance").token(&token);
    for good in ["a".repeat(16), "a".repeat(64), "AZaz09._~+/=-0000".to_owned()] {
        assert_eq!(call.clone().nonce(&good).send(&server).status, 200, "{good}");
    }
    let long = "a".repeat(65);
    for bad in [&long, "aaaaaaaaaaaaaaa", "0123456789 abcdef", "0123456789abcde,", "нонснонснонснонс"]
    {
        assert_eq!(call.clone().nonce(bad).send(&server).fields(), "x-nonce", "{bad}");
    }
    assert_eq!(call.clone().with("x-nonce", b"0123456789abcdef\xFF").send(&server).fields(), "x-nonce");
    assert_eq!(call.clone().and("x-nonce", "0123456789abcdef").send(&server).fields(), "x-nonce");
}

#[test]
fn the_callers_request_id_is_taken_if_it_is_one() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let long = "a".repeat(64);
    for good in ["x", "Az09._-", &long] {
        for call in [
            get("/v1/balance").token(&token),
            get("/v1/balance"),
            get("/nowhere"),
            post("/v1/balance", &json!(1)),
        ] {
            assert_eq!(call.with("x-request-id", good).send(&server).request_id(), good);
        }
    }
    let longer = "a".repeat(65);
    for bad in ["", "a b", "a,b", "ы", "a/b", "<script>", &longer] {
        let got = get("/v1/balance").with("x-request-id", bad).send(&server);
        assert_ne!(got.request_id(), bad);
        assert!(got.request_id().len() >= 16, "{got:?}");
    }
    let twice = get("/v1/balance").and("x-request-id", "one").and("x-request-id", "two").send(&server);
    assert!(!["one", "two"].contains(&twice.request_id()));
    let (one, two) = (get("/v1/balance").send(&server), get("/v1/balance").send(&server));
    assert_ne!(one.request_id(), two.request_id());
}

#[test]
fn an_unknown_path_is_a_404() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    for path in [
        "/v1",
        "/v1/",
        "/v2/balance",
        "/V1/balance",
        "/v1/Balance",
        "//v1/balance",
        "/v1//balance",
        "/v1/balance//",
        "/v1/balance/x",
        "/v1/employee",
        "/v1/employee/",
        "/v1/card//balance",
        "/v1/../v1/balance",
        "/v1/%2e%2e/balance",
        "/v1/get_access_token/x",
        "/index.html",
        "/favicon.ico",
        "/metrics",
        "/%00",
        "/%FF",
        "/v1/card/a/b/c/d",
    ] {
        for method in ["GET", "POST", "DELETE"] {
            let got = RawRequest::new(method, path).token(&token).send(&server);
            assert_eq!(got.code(), (404, "not_found".to_owned()), "{method} {path}");
        }
    }
    assert_eq!(get(&format!("/v1/{}", "x".repeat(20_000))).send(&server).status, 404);
}

/// By no method, with or without a token or a body.
#[test]
fn without_a_sandbox_its_paths_are_unknown_paths() {
    let settings = kopeck_adapter_http::HttpSettings { workers: 1, ..Default::default() };
    let server = TestServer::start_with(false, settings);
    let (_, token) = optional(&server);
    let paths: BTreeSet<String> =
        calls().into_iter().map(|(_, path)| path).filter(|path| path.starts_with("/sandbox/")).collect();
    assert!(paths.len() >= 9, "{paths:?}");
    for path in paths {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            let ask = |path: &str| {
                let call = RawRequest::new(method, path);
                let with_token = call.clone().token(&token);
                let with_body = with_token.clone().json(&json!({"amount": 1, "seconds": 1}));
                [call, with_token, with_body].map(|call| call.send(&server))
            };
            let unknown = ask("/sandbox/v1/nowhere");
            for path in [path.replace("{}", ID), path.replace("{}", ID) + "/", path.replace("{}", "none")] {
                for (got, unknown) in ask(&path).iter().zip(&unknown) {
                    assert_eq!(got.code(), (404, "not_found".to_owned()), "{method} {path}");
                    got.same_but_for_its_id(unknown);
                }
            }
        }
    }
}

#[test]
fn the_response_to_a_wrong_method_lists_the_right_ones() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let all = calls();
    let allowed = |path: &str| {
        let mut methods: Vec<&str> =
            all.iter().filter(|(_, other)| other == path).map(|(method, _)| *method).collect();
        if methods.contains(&"GET") {
            methods.push("HEAD");
        }
        methods.sort_unstable();
        methods
    };
    for (_, path) in &all {
        for method in ["GET", "HEAD", "OPTIONS", "TRACE", "POST", "PUT", "PATCH", "DELETE", "PROPFIND", "get"]
        {
            if allowed(path).contains(&method) {
                continue;
            }
            for slash in ["", "/"] {
                let call = RawRequest::new(method, &(path.replace("{}", ID) + slash)).token(&token);
                let got = call.send(&server);
                assert_eq!(got.status, 405, "{method} {path}");
                let mut allow: Vec<&str> = got.header("allow").unwrap().split(", ").collect();
                allow.sort_unstable();
                assert_eq!(allow, allowed(path), "{method} {path}");
            }
        }
    }
    for path in ["/v1/get_access_token", "/v1/get_refresh_token"] {
        let got = get(path).send(&server);
        assert_eq!(got.code(), (405, "method_not_allowed".to_owned()));
        assert_eq!(got.header("allow"), Some("POST"));
    }
}

#[test]
fn a_long_query_comes_before_credentials_methods_and_paths() {
    let server = TestServer::start();
    let parameters = |count: usize| (0..count).map(|n| format!("p{n}=1&")).collect::<String>();
    let bytes = |count: usize| format!("x={}", "x".repeat(count - 2));
    let wrong = |method: &str, path: &str, query: &str| {
        RawRequest::new(method, &format!("{path}?{query}")).with("x-api-key", "ak_wrong").token("wrong")
    };
    for query in [parameters(33), bytes(4_097), parameters(5_000)] {
        for (method, path) in calls() {
            let got = wrong(method, &path.replace("{}", ID), &query).send(&server);
            assert_eq!(got.code(), (414, "uri_too_long".to_owned()), "{method} {path}");
        }
        for (method, path) in [("GET", "/nowhere"), ("PUT", "/v1/balance"), ("POST", "/docs")] {
            assert_eq!(wrong(method, path, &query).send(&server).status, 414, "{method} {path}");
        }
    }
    let (_, token) = optional(&server);
    for query in [parameters(32), bytes(4_096)] {
        assert_eq!(get(&format!("/v1/employees?{query}")).token(&token).send(&server).status, 200);
    }
}

#[test]
fn an_identifier_that_is_no_uuid_is_named_by_its_placeholder() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    for (sample, field) in samples_by_path() {
        for method in sample.operation.methods() {
            let good = sample.call_as(method, &Things::nothing(), &[], &Things::nothing()).token(&token);
            let send =
                |id: &str| RawRequest { target: good.target.replace(ID, id), ..good.clone() }.send(&server);
            let short = &ID[..35];
            let bare = &ID.replace('-', "");
            let urn = &format!("urn:uuid:{ID}");
            for bad in [
                "x", short, bare, urn, "%00", "%FF%FE", "%zz", "%", "%D1%8B", "null", "*", "..%2f..", "s1",
                "a%20b",
            ] {
                assert_eq!(send(bad).fields(), field, "{method} {} {bad}", good.target);
            }
            assert_eq!(send(&ID.to_uppercase()).status, 404, "{method} {}", good.target);
        }
    }
}

#[test]
fn a_final_slash_is_optional_on_every_path() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    for (method, path) in calls() {
        let path = path.replace("{}", ID);
        let call = |path: &str| RawRequest::new(method, path).token(&token).bytes(JSON, b"[]").send(&server);
        assert_ne!(call(&path).code_or_status(), "404 not_found", "{method} {path}");
        call(&path).same_but_for_its_id(&call(&format!("{path}/")));
    }
}

#[test]
fn heads_that_are_no_http_do_no_harm() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let huge = get("/v1/balance").token(&token).with("x-huge", "x".repeat(300_000));
    let many = (0..5_000).fold(get("/v1/balance").token(&token), |call, n| call.and(&format!("x-{n}"), "1"));
    let big = get("/v1/balance").token(&token).with("x-big", "x".repeat(20_000));
    assert_eq!(big.send(&server).status, 200, "what fits is no matter");
    for bytes in [
        huge.to_bytes(),
        many.to_bytes(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"GET /v1/balance\r\n\r\n".to_vec(),
        "GET /v1/employees?q=\u{44b} HTTP/1.1\r\nhost: x\r\n\r\n".as_bytes().to_vec(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n".to_vec(),
        b"GET /v1/bal\0ance HTTP/1.1\r\nhost: x\r\n\r\n".to_vec(),
        b"GET /v1/balance HTTP/1.1\r\nhost: x\r\nx-a: b\0c\r\n\r\n".to_vec(),
        b"GET /v1/balance HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello!".to_vec(),
        b"POST /v1/category HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n".to_vec(),
        b"POST /v1/category HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n".to_vec(),
        b"POST /v1/category HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip\r\n\r\n".to_vec(),
    ] {
        let got = exchange(&server.base_url, Ipv4Addr::LOCALHOST, &bytes);
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        assert!((400..500).contains(&got.status), "{shown:?}: {got:?}");
        let media = got.header("content-type");
        assert!(media.is_none_or(|media| media == JSON) && !got.text.contains("panic"), "{shown:?}: {got:?}");
    }
    assert_eq!(get("/v1/balance").token(&token).send(&server).status, 200);
}

/// The service stays with HTTP/1.1.
#[test]
fn an_offer_to_upgrade_is_ignored() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let offers = [&["websocket"][..], &["WebSocket"], &["h2c"], &["h2c", "websocket"], &[]];
    for (number, upgrade) in offers.into_iter().enumerate() {
        let offer = |call: RawRequest| {
            let call = call.token(&token).and("connection", "Upgrade");
            upgrade.iter().fold(call, |call, name| call.and("upgrade", name)).to_bytes()
        };
        let name = format!("Category {number}");
        let read = offer(get("/v1/balance"));
        let change = offer(post("/v1/category", &json!({"nameCategory": name})));
        for (bytes, status) in [(read, 200), (change, 201)] {
            // The headers without the offer.
            let text = String::from_utf8(bytes).unwrap().replace("connection: close\r\n", "");
            let more = text.clone() + "GET /nowhere HTTP/1.1\r\nhost: kopeck\r\n\r\n";
            for text in [text, more] {
                let got = exchange(&server.base_url, Ipv4Addr::LOCALHOST, text.as_bytes());
                assert_eq!(got.status, status, "{text}: {got:?}");
                assert_eq!(got.header("connection"), Some("close"), "{text}: {got:?}");
            }
        }
    }
}

/// A request that waits for the database, and others behind it that are answered at once.
#[test]
fn a_burst_larger_than_the_buffer_gets_all_responses() {
    const REQUESTS: usize = 300;
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let call = get("/v1/balance").token(&token);
    let mut burst = String::from_utf8(call.to_bytes()).unwrap().replace("connection: close\r\n", "");
    let head = format!("GET /nowhere HTTP/1.1\r\nhost: kopeck\r\nx-padding: {}\r\n\r\n", "x".repeat(480));
    burst.push_str(&head.repeat(REQUESTS - 2));
    burst.push_str("GET /nowhere HTTP/1.1\r\nhost: kopeck\r\nconnection: close\r\n\r\n");
    assert!(burst.len() > 131_072);
    let answers = read_all(&server.base_url, burst.as_bytes());
    assert_eq!(answers.matches("HTTP/1.1 ").count(), REQUESTS);
    assert!(answers.starts_with("HTTP/1.1 200"), "{answers:.200}");
}
