//! The version of an employee, and updates of one version alone.

use serde_json::json;

use crate::api_client::UNKNOWN_ID;
use crate::raw_http::{RawRequest, RawResponse, get, optional, post};
use crate::server::TestServer;

fn put(id: &str, body: &serde_json::Value, token: &str) -> RawRequest {
    RawRequest::new("PUT", &format!("/v1/employee/{id}")).json(body).token(token)
}

fn tag(got: &RawResponse) -> String {
    got.header("etag").unwrap_or_else(|| panic!("{got:?}")).to_owned()
}

#[test]
fn an_update_of_an_older_version_is_refused_and_a_retry_is_answered() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let added = post("/v1/employee/add", &json!({"customId": "T-1", "phone": "0031234567"}))
        .token(&token)
        .send(&server);
    let id = added.text_of("idEmployee");
    let read = || tag(&get(&format!("/v1/employee/{id}")).token(&token).send(&server));
    let first = tag(&added);
    assert_eq!((read(), first.len()), (first.clone(), 34), "{first}");

    let change = put(&id, &json!({"name": "Anna"}), &token).key("k-1").with("if-match", &first);
    let changed = change.send(&server);
    changed.ok(200);
    let second = tag(&changed);
    assert!(second != first && read() == second);
    let late = put(&id, &json!({"name": "Olga"}), &token).with("if-match", &first).send(&server);
    assert_eq!(late.code(), (412, "precondition_failed".to_owned()));
    assert_eq!(read(), second, "nothing changed");

    // The first request once more, under its key and with a new nonce: its condition no longer holds.
    let again = put(&id, &json!({"name": "Anna"}), &token).key("k-1").with("if-match", &first).send(&server);
    assert!(again.replayed());
    assert_eq!(tag(&again), second);

    let list = format!("{first}, {second}");
    for condition in ["*", &second, &list] {
        put(&id, &json!({"name": "Anna"}), &token).with("if-match", condition).send(&server).ok(200);
    }
    let weak =
        put(&id, &json!({"name": "Anna"}), &token).with("if-match", format!("W/{second}")).send(&server);
    assert_eq!(weak.status, 412);
}

#[test]
fn other_refusals_come_before_that_of_the_version() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let add = |name: &str| post("/v1/employee/add", &json!({"customId": name})).token(&token).send(&server);
    let id = add("T-1").text_of("idEmployee");
    add("T-2");
    let refused = |id: &str, body: serde_json::Value, condition: &str| {
        put(id, &body, &token).with("if-match", condition).send(&server)
    };
    assert_eq!(refused(UNKNOWN_ID, json!({}), "\"0\"").code(), (404, "employee_not_found".to_owned()));
    assert_eq!(refused(&id, json!({"customId": "T-2"}), "\"0\"").fields(), "customId");
    assert_eq!(refused(&id, json!({"email": "x"}), "\"0\"").fields(), "email");
    assert_eq!(refused(&id, json!({"email": "x"}), "0").fields(), "email if-match");
    assert_eq!(refused(&id, json!({"name": "A"}), "\"0\"").status, 412);
}

/// The tags of two partners' employees with the same fields differ, since their identifiers do.
#[test]
fn a_tag_tells_nothing_of_another_employee() {
    let server = TestServer::start();
    let tags = [optional(&server), optional(&server)].map(|(_, token)| {
        tag(&post("/v1/employee/add", &json!({"customId": "T-1"})).token(&token).send(&server))
    });
    assert_ne!(tags[0], tags[1]);
}
