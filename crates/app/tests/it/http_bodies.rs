//! Bodies and queries that are not what they should be: 4xx in the shape of every error, and a server that goes on.

use std::io::Write;
use std::net::{Ipv4Addr, Shutdown};
use std::time::Duration;

use kopeck_adapter_http::HttpSettings;
use serde_json::json;

use crate::raw_http::{JSON, RawRequest, RawResponse, SEALED_JSON, connect, get, optional, post, required};
use crate::server::TestServer;
use crate::world::calls;

/// The most bytes of the body of a read.
const READ_LIMIT: usize = 8 * 1024;

const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

fn with(settings: HttpSettings) -> TestServer {
    TestServer::start_with(true, HttpSettings { workers: 1, ..settings })
}

#[test]
fn a_body_that_is_no_json_object_is_named_body() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let deep = |open: &str, close: &str| open.repeat(200_000) + &close.repeat(200_000);
    let bodies: Vec<Vec<u8>> = [
        "",
        " ",
        "{",
        "}",
        "[]",
        "[{}]",
        "null",
        "true",
        "5",
        "\"text\"",
        "{\"a\":1}x",
        "{\"a\":1}{}",
        "{'a':1}",
        "{a:1}",
        "{\"a\":NaN}",
        "{\"a\":01}",
        "{\"a\":1,}",
        "{\"a\":1,\"a\":2}",
        "{\"a\":\"\\x\"}",
        "\u{feff}{}",
        "{\"a\":\"\u{1}\"}",
        "nameCategory=x",
        "<a/>",
        "\0",
        "{}\0",
        "{\"a\":1e999}",
        "{\"a\":\"\\ud800\"}",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .chain([
        b"{\"a\":\"\xFF\xFE\"}".to_vec(),
        b"{\"\xC3\x28\":1}".to_vec(),
        "{\"a\":1}".encode_utf16().flat_map(u16::to_le_bytes).collect(),
        deep("[", "]").into_bytes(),
        deep("{\"a\":", "}").into_bytes(),
        format!("{{\"nameCategory\":{}}}", deep("[", "]")).into_bytes(),
        format!("{{\"unknown\":{}1{}}}", "{\"a\":".repeat(200_000), "}".repeat(200_000)).into_bytes(),
        b"[".repeat(1_000_000),
    ])
    .collect();
    let calls = [("POST", "/v1/category"), ("PUT", "/v1/employee/{}"), ("POST", "/v1/order/confirm/")];
    for (method, path) in calls {
        for body in &bodies {
            let shown = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
            let call = RawRequest::new(method, &path.replace("{}", ID)).token(&token).bytes(JSON, body);
            assert_eq!(call.send(&server).fields(), "body", "{method} {path} {shown:?}");
        }
    }
    // A request that reads may have a body, but then a good and a short one.
    for body in bodies.iter().filter(|body| !body.is_empty()) {
        if body.len() > READ_LIMIT {
            let got = get("/v1/employees").token(&token).bytes(JSON, body).send(&server);
            assert_eq!(got.code(), (413, "payload_too_large".to_owned()));
            continue;
        }
        assert_eq!(get("/v1/employees").token(&token).bytes(JSON, body).send(&server).fields(), "body");
    }
    assert_eq!(get("/v1/employees").token(&token).bytes(JSON, b"").send(&server).status, 200);
    assert_eq!(RawRequest::new("POST", "/v1/category").token(&token).send(&server).fields(), "body");
}

/// Also where a body is not needed.
#[test]
fn no_operation_takes_a_broken_body() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    for (method, path) in calls() {
        let call = RawRequest::new(method, &path.replace("{}", ID)).token(&token);
        for body in ["{", "[]", "5", "{\"a\":1,\"a\":2}", "{}\0"] {
            let got = call.clone().bytes(JSON, body).send(&server);
            assert_eq!(got.fields(), "body", "{method} {path} {body:?}");
        }
        assert_eq!(call.bytes("text/plain", "{}").send(&server).status, 415, "{method} {path}");
    }
}

#[test]
fn the_detail_of_a_faulty_value_is_right() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    for body in ["{\"nameCategory\":1e999}", "{\"nameCategory\":\"\\ud800\"}", "{\"x\":\"\\udc00\\ud800\"}"] {
        let got = RawRequest::new("POST", "/v1/category").token(&token).bytes(JSON, body).send(&server);
        assert_eq!(got.fields(), "body", "{body}");
        assert!(got.text.contains("out of range"), "{body}: {got:?}");
    }
}

#[test]
fn unknown_fields_are_ignored_and_strange_characters_refused() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let mut body =
        json!({"nameCategory": "One", "": 1, "ы": [null], "constructor": {}, "__proto__": {"a": 1}});
    let got = post("/v1/category", &body).token(&token).send(&server);
    assert_eq!(got.ok(201)["nameCategory"], "One");
    assert_eq!(got.header("kopeck-ignored"), Some("__proto__, constructor, ..."), "names, and no odd ones");
    body["NameCategory"] = json!("x");
    body["nameCategory"] = json!("Two");
    assert_eq!(post("/v1/category", &body).token(&token).send(&server).ok(201)["nameCategory"], "Two");
    for bad in ["a\u{0}b", "\u{0}", "", "  ", "\n"] {
        let got = post("/v1/category", &json!({"nameCategory": bad})).token(&token).send(&server);
        assert_eq!(got.fields(), "nameCategory", "{bad:?}");
    }
    let employee = json!({
        "customId": "a\u{0}", "surname": "\u{0}", "name": 5, "patronymic": "", "phone": 9_031_234_567_i64,
        "email": "a\u{0}@b.c", "idCategory": "\u{0}", "status": "WORK\u{0}",
    });
    let got = post("/v1/employee/add", &employee).token(&token).send(&server);
    let mut fields: Vec<String> = got.fields().split(' ').map(str::to_owned).collect();
    fields.sort_unstable();
    let all = ["customId", "email", "idCategory", "name", "patronymic", "phone", "status", "surname"];
    assert_eq!(fields, all, "all at once");
    let line = json!({
        "numberCards": 1, "typeCard": "MP4", "deliveryAddress": "a\u{0}", "recipient": "\u{0}b", "phone": "9031234567",
    });
    let got = post("/v1/order/plasticcards", &json!({"data": [line]})).token(&token).send(&server);
    assert_eq!(got.fields(), "data[0].deliveryAddress data[0].recipient");
}

#[test]
fn a_body_is_json_or_a_415() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let call = |media: &str, name: &str| {
        let body = json!({"nameCategory": name}).to_string();
        RawRequest::new("POST", "/v1/category").token(&token).bytes(media, body)
    };
    let good = [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=\"UTF-8\"",
    ];
    for (place, media) in good.iter().enumerate() {
        assert_eq!(call(media, &format!("good {place}")).send(&server).status, 201, "{media}");
    }
    let unsupported = (415, "unsupported_media_type".to_owned());
    for bad in [
        "",
        "text/plain",
        "text/json",
        "application/jsonx",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/json; charset=windows-1251",
        "application/xml",
        "*/*",
        "application/json, text/plain",
        "json",
        "application/problem+json",
        "\u{44b}",
    ] {
        assert_eq!(call(bad, "bad").send(&server).code(), unsupported, "{bad}");
        assert_eq!(
            call(bad, "bad").without("authorization").send(&server).code(),
            unsupported,
            "the head comes first"
        );
    }
    assert_eq!(call("", "bad").without("content-type").send(&server).code(), unsupported);
    assert_eq!(call(JSON, "bad").and("content-type", JSON).send(&server).code(), unsupported);
    for encoding in ["gzip", "identity", "br", ""] {
        for call in [call(JSON, "bad"), get("/v1/balance").token(&token), call(SEALED_JSON, "bad")] {
            let call = call.with("content-encoding", encoding);
            assert_eq!(call.send(&server).code(), unsupported, "{encoding}");
        }
    }
    assert_eq!(get("/v1/balance").token(&token).with("content-type", "text/plain").send(&server).status, 200);
    // A body with the type of sealed ones has to be sealed.
    assert_eq!(call(SEALED_JSON, "bad").send(&server).fields(), "body");
}

fn chunked(call: &RawRequest, size: usize) -> RawRequest {
    let mut body = Vec::new();
    for chunk in call.body.chunks(size) {
        body.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
        body.extend([chunk, b"\r\n"].concat());
    }
    body.extend(b"0\r\n\r\n");
    RawRequest { body, ..call.clone().with("transfer-encoding", "chunked") }
}

#[test]
fn a_body_has_a_limit() {
    let server = with(HttpSettings { body_limit: 1_000, ..HttpSettings::default() });
    let (partner, token) = optional(&server);
    let sized = |size: usize, name: &str| {
        let start = format!("{{\"nameCategory\":\"{name}\",\"x\":\"");
        let body = format!("{start}{}\"}}", "x".repeat(size - start.len() - 2));
        assert_eq!(body.len(), size);
        RawRequest::new("POST", "/v1/category").token(&token).bytes(JSON, body)
    };
    assert_eq!(sized(1_000, "a").send(&server).status, 201);
    assert_eq!(chunked(&sized(1_000, "b"), 64).send(&server).status, 201);
    let large = (413, "payload_too_large".to_owned());
    assert_eq!(sized(1_001, "c").send(&server).code(), large);
    assert_eq!(sized(1_001, "c").without("authorization").send(&server).code(), large, "by its head");
    assert_eq!(chunked(&sized(1_001, "c"), 64).send(&server).code(), large);
    assert_eq!(chunked(&sized(200_000, "c"), 200_000).send(&server).code(), large);
    for length in ["18446744073709551615", "99999999999"] {
        let got = get("/v1/balance").with("content-length", length).bytes(JSON, b"").send(&server);
        assert_eq!(got.code(), large, "{length}");
    }
    let login = post("/v1/get_access_token", &json!({"login": "x".repeat(1_000)}))
        .with("x-api-key", &partner.api_key);
    assert_eq!(login.send(&server).code(), large);
    let sealed = chunked(&sized(2_000, "c").sealed_answer(), 64);
    let got = sealed.send(&server);
    let opened = crate::raw_http::open_answer(&server, &partner.key, &sealed, &got);
    assert_eq!((got.status, opened.contains("payload_too_large")), (413, true));
}

#[test]
fn the_usual_limit_is_two_mebibytes() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let start = "{\"nameCategory\":\"Big\",\"x\":\"";
    let body = |size: usize| format!("{start}{}\"}}", "x".repeat(size - start.len() - 2));
    let call =
        |size| RawRequest::new("POST", "/v1/category").token(&token).bytes(JSON, body(size)).send(&server);
    assert_eq!(call(2 * 1024 * 1024).status, 201);
    assert_eq!(call(2 * 1024 * 1024 + 1).code(), (413, "payload_too_large".to_owned()));
}

#[test]
fn a_token_call_takes_8_kib() {
    let server = TestServer::start();
    let (partner, _) = optional(&server);
    for path in ["/v1/get_access_token", "/v1/get_refresh_token"] {
        let call = |size: usize| {
            let body = format!("{{\"x\":\"{}\"}}", "x".repeat(size - 8));
            RawRequest::new("POST", path).with("x-api-key", &partner.api_key).bytes(JSON, body)
        };
        assert_eq!(call(8_192).send(&server).status, 422, "{path}");
        for large in [call(8_193), chunked(&call(8_193), 1_000), call(100_000)] {
            assert_eq!(large.send(&server).code(), (413, "payload_too_large".to_owned()), "{path}");
        }
    }
}

#[test]
fn bodies_share_a_budget_of_which_token_calls_have_a_quarter() {
    let server = with(HttpSettings { body_memory: 4_000, ..HttpSettings::default() });
    let (partner, token) = optional(&server);
    let sized = |path: &str, size: usize| {
        let body = format!("{{\"x\":\"{}\"}}", "x".repeat(size - 8));
        RawRequest::new("POST", path).token(&token).with("x-api-key", &partner.api_key).bytes(JSON, body)
    };
    let used_up = |call: RawRequest| {
        let got = call.send(&server);
        assert_eq!((got.code(), got.header("retry-after")), ((503, "internal".to_owned()), Some("1")));
    };
    for _ in 0..3 {
        assert_eq!(sized("/v1/category", 3_000).send(&server).fields(), "nameCategory");
        assert_eq!(chunked(&sized("/v1/category", 1_600), 100).send(&server).fields(), "nameCategory");
        used_up(sized("/v1/category", 3_001));
        used_up(chunked(&sized("/v1/category", 3_001), 100));
        assert_eq!(sized("/v1/get_refresh_token", 1_000).send(&server).fields(), "token");
        used_up(sized("/v1/get_refresh_token", 1_001));
    }
}

#[test]
fn a_body_that_dawdles_or_breaks_off_ends() {
    let server = with(HttpSettings { body_deadline: Duration::from_millis(200), ..HttpSettings::default() });
    let (_, token) = optional(&server);
    let whole = post("/v1/category", &json!({"nameCategory": "Slow"})).token(&token).to_bytes();
    let send = |bytes: &[u8], end: bool| {
        let mut stream = connect(&server.base_url, Ipv4Addr::LOCALHOST);
        stream.write_all(bytes).unwrap();
        if end {
            stream.shutdown(Shutdown::Write).unwrap();
        }
        RawResponse::read(&mut stream)
    };
    let dawdling = send(&whole[..whole.len() - 1], false);
    assert_eq!(dawdling.code(), (408, "request_timeout".to_owned()));
    dawdling.request_id();
    assert_eq!(dawdling.header("cache-control"), Some("no-store"));
    let endless = post("/v1/category", &json!({"nameCategory": "Slow"})).token(&token);
    let endless = chunked(&endless, 5).to_bytes();
    assert_eq!(send(&endless[..endless.len() - 8], false).code(), (408, "request_timeout".to_owned()));
    let login = post("/v1/get_access_token", &json!({})).with("x-api-key", "ak_wrong").to_bytes();
    assert_eq!(send(&login[..login.len() - 1], false).code(), (408, "request_timeout".to_owned()));
    assert_eq!(send(&whole[..whole.len() - 1], true).fields(), "body", "it broke off");
    // The service does not wait for the body of an unauthenticated client.
    let stranger = post("/v1/category", &json!({"nameCategory": "Slow"})).to_bytes();
    assert_eq!(send(&stranger[..stranger.len() - 1], false).code(), (401, "unauthorized".to_owned()));
    assert_eq!(
        post("/v1/category", &json!({"nameCategory": "Slow"})).token(&token).send(&server).status,
        201
    );
}

#[test]
fn queries_are_read_strictly() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let call = |query: &str| get(&format!("/v1/employees?{query}")).token(&token).send(&server);
    for good in [
        "",
        "&&",
        "page=1",
        "page=1&per_page=500",
        "perPage=1",
        "q=%D0%81+x",
        "unknown=1&x",
        "q=",
        "page=1000000000",
        "?page=1",
    ] {
        assert_eq!(call(good).status, 200, "{good}");
    }
    for (bad, fields) in [
        ("page=1&page=1", "page"),
        ("page=1&p%61ge=2", "page"),
        ("unknown=1&unknown=2", "query"),
        ("page=0", "page"),
        ("page=-1", "page"),
        ("page=1.0", "page"),
        ("page=1e1", "page"),
        ("page=", "page"),
        ("page=+1", "page"),
        ("page=99999999999999999999", "page"),
        ("page=1000000001", "page"),
        ("per_page=501", "per_page"),
        ("perPage=0", "perPage"),
        ("per_page=1&perPage=2", "perPage"),
        ("page=%", "page"),
        ("page=%zz", "page"),
        ("page=1%0", "page"),
        ("q=%FF", "q"),
        ("q=%00", "q"),
        ("q=%ED%A0%80", "q"),
        ("%FF=1", "query"),
        ("%zz", "query"),
        ("=&=", "query"),
        ("=1&=2&page=0", "query"),
        ("status=work", "status"),
        ("status=", "status"),
        ("idCategory=x", "idCategory"),
        ("customId=%00", "customId"),
        ("page=0&per_page=0&status=x", "page per_page status"),
    ] {
        let mut found: Vec<String> = call(bad).fields().split(' ').map(str::to_owned).collect();
        found.dedup();
        let mut fields: Vec<&str> = fields.split(' ').collect();
        found.sort_unstable();
        fields.sort_unstable();
        assert_eq!(found, fields, "{bad}");
    }
}

#[test]
fn a_parameter_of_the_query_wins_over_the_body() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let per_page = |query: &str, body: &serde_json::Value| {
        let got = get(&format!("/v1/employees{query}")).token(&token).json(body).send(&server);
        got.ok(200)["meta"]["per_page"].as_u64().unwrap()
    };
    assert_eq!(per_page("", &json!({})), 15);
    assert_eq!(per_page("", &json!({"page": 1, "per_page": 7})), 7);
    assert_eq!(per_page("", &json!({"perPage": 7, "page": null})), 7);
    assert_eq!(per_page("?per_page=8", &json!({"per_page": 7})), 8);
    assert_eq!(per_page("?per_page=8", &json!({"page": 1})), 8);
    for (body, fields) in [
        (json!({"page": 0}), "page"),
        (json!({"page": "1"}), "page"),
        (json!({"page": 1.5}), "page"),
        (json!({"per_page": 501}), "per_page"),
        (json!({"page": [], "perPage": {}}), "page perPage"),
    ] {
        assert_eq!(get("/v1/employees").token(&token).json(&body).send(&server).fields(), fields, "{body}");
    }
}

#[test]
fn a_partner_that_has_to_seal_may_send_no_clear_body() {
    let server = TestServer::start();
    let (_, token) = required(&server);
    for (method, path) in calls() {
        let call = RawRequest::new(method, &path.replace("{}", ID)).token(&token);
        for body in [json!({}), json!({"page": 1, "nameCategory": "x", "amount": 1, "status": "WORK"})] {
            assert_eq!(call.clone().json(&body).send(&server).fields(), "body", "{method} {path}");
        }
    }
    for (call, status) in
        [(get("/v1/employees?page=1&per_page=2&q=x"), 200), (get(&format!("/v1/card/{ID}")), 404)]
    {
        assert_eq!(call.clone().token(&token).send(&server).status, status, "{call:?}");
    }
}
