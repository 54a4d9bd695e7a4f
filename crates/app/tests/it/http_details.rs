//! The details of refusals: an engineer finds the fault by them.

use serde_json::json;

use crate::raw_http::{JSON, RawRequest, get, optional, post};
use crate::server::TestServer;

#[test]
fn a_body_in_another_encoding_is_called_so() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    for (body, said) in [
        // `Водители` in Windows-1251.
        (&b"{\"nameCategory\":\"\xc2\xee\xe4\xe8\xf2\xe5\xeb\xe8\"}"[..], "it is not UTF-8"),
        (b"\xff\xfe{\0}\0", "it is not UTF-8"),
        (b"\xef\xbb\xbf{\"nameCategory\":\"x\"}", "it begins with a byte-order mark"),
    ] {
        let got = RawRequest::new("POST", "/v1/category").token(&token).bytes(JSON, body).send(&server);
        assert_eq!(got.fields(), "body");
        assert!(got.text.contains(said), "{got:?}");
    }
}

#[test]
fn the_detail_of_a_value_of_another_type_or_size_has_the_rule() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let got = post("/v1/employee/add", &json!({"customId": "T-1", "phone": 9_031_234_567_i64}))
        .token(&token)
        .send(&server);
    assert!(got.text.contains("must be a string: give the number in quotes"), "{got:?}");
    let card = "0f8fad5b-d9cb-469f-a165-70867728950e";
    for amount in ["99999999999999999999", "-99999999999999999999", "18446744073709551615", "1e30"] {
        let body = format!(r#"{{"cards":[{{"idCard":"{card}","amountReplenishment":{amount}}}]}}"#);
        let got = RawRequest::new("POST", "/v1/replenishment").token(&token).bytes(JSON, body).send(&server);
        assert_eq!(got.status, 422, "{got:?}");
        assert!(got.text.contains("must be an integer from 1 to 100000000 kopecks"), "{amount}: {got:?}");
    }
    for (target, said) in [
        ("/v1/employees?page=99999999999999999999", "must be an integer from 1 to "),
        ("/v1/statement/2999-01", "must not be in the future"),
        (
            "/v1/events?types=card.isued",
            r#"\"card.isued\" is no type of event; the nearest is \"card.issued\""#,
        ),
        ("/v1/events?after=99999999999999999999", "must be "),
    ] {
        let got = get(target).token(&token).send(&server);
        assert_eq!(got.status, 422, "{target}: {got:?}");
        assert!(got.text.contains(said), "{target}: {got:?}");
    }
}

#[test]
fn a_key_that_was_used_names_another_request() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let create =
        |name: &str| post("/v1/category", &json!({"nameCategory": name})).key("wire-7").token(&token);
    create("One").send(&server).ok(201);
    assert!(create("Two").send(&server).text.contains("was used for another request"));
}
