//! The policy `required` against an attacker who reads requests and responses, and changes what is not sealed.

use serde_json::{Value, json};

use crate::copies::{Part, Sealer};
use crate::raw_http::{
    JSON, RawRequest, RawResponse, fresh_nonce, now, open_answer, optional, post, required, seal_body,
};
use crate::server::{TestPartner, TestServer};
use crate::world::{Sample, Things, samples};

/// Every operation that changes data, with its body left out. What has no body names an identifier of its path.
#[test]
fn the_access_token_alone_changes_nothing() {
    let server = TestServer::start();
    let (partner, token) = required(&server);
    let sealer = Sealer { key: &partner.key, now: now(&server) };
    let nothing = Things::nothing();
    let mut without_body = Vec::new();
    for sample in samples().filter(|sample| sample.operation.changes) {
        let (name, path) = (sample.operation.name, sample.operation.path);
        let needs = |got: &RawResponse| assert_eq!(got.fields(), needed(&sample), "{name}");
        let bare =
            || RawRequest { body: Vec::new(), ..sample.call(&nothing) }.without("content-type").token(&token);
        needs(&bare().send(&server));
        needs(&sealer.seal(path, &bare(), Part::Query).unwrap().send(&server));
        assert_eq!(bare().json(&json!({})).send(&server).fields(), "body", "{name}");
        if needed(&sample) == "body" {
            continue;
        }
        without_body.push(name);
        for part in [Part::Path, Part::Body] {
            let sealed = sealer.seal(path, &bare(), part).unwrap().send(&server);
            assert!(!sealed.text.contains("must be sealed"), "{name} {part:?}: {sealed:?}");
            assert_ne!(sealed.status, 401, "{name}");
        }
    }
    assert!(without_body.len() >= 13, "{without_body:?}");
}

/// The field that is named where the body is left out.
fn needed(sample: &Sample) -> &'static str {
    const BODY_OPTIONAL: &[&str] = &["sandbox.activate", "run.refuse"];
    let has_body = sample.parameters().len() > sample.operation.placeholders().count();
    if has_body && !BODY_OPTIONAL.contains(&sample.operation.name) {
        return "body";
    }
    sample.operation.placeholders().last().unwrap_or("body")
}

/// A webhook, and the two operations whose responses have its secret.
struct Secrets<'a> {
    server: &'a TestServer,
    partner: &'a TestPartner,
    token: &'a str,
    id: String,
}

impl Secrets<'_> {
    fn create(&self) -> RawRequest {
        let call = post("/v1/webhooks", &json!({"url": "https://hooks.example/"})).token(self.token);
        seal_body(self.server, &self.partner.key, call)
    }

    fn rotate(&self) -> RawRequest {
        let call = RawRequest::new("POST", &format!("/v1/webhook/{}/secret", self.id)).token(self.token);
        let sealer = Sealer { key: &self.partner.key, now: now(self.server) };
        sealer.seal("/v1/webhook/{idWebhook}/secret", &call, Part::Path).unwrap()
    }

    /// The secret in a response that has to be sealed.
    fn opened(&self, call: &RawRequest) -> (bool, String) {
        let got = call.send(self.server);
        assert!((200..300).contains(&got.status), "{got:?}");
        assert!(!got.text.contains("whsec_"), "{got:?}");
        let body: Value =
            serde_json::from_str(&open_answer(self.server, &self.partner.key, call, &got)).unwrap();
        (got.replayed(), body["secret"].as_str().unwrap().to_owned())
    }
}

/// A proxy that removes a header, or repeats a request, does not get what signs events.
#[test]
fn secrets_of_webhooks_come_sealed_under_required_whatever_is_accepted() {
    let server = TestServer::start();
    let (partner, token) = required(&server);
    let mut secrets = Secrets { server: &server, partner: &partner, token: &token, id: String::new() };
    let first = secrets.create().sealed_answer();
    let got = first.send(&server);
    let body: Value = serde_json::from_str(&open_answer(&server, &partner.key, &first, &got)).unwrap();
    secrets.id = body["idWebhook"].as_str().unwrap().to_owned();
    let secret = body["secret"].as_str().unwrap().to_owned();
    assert_eq!(secrets.opened(&first.without("accept")), (true, secret.clone()), "the same bytes once more");
    for accept in [None, Some(JSON), Some("*/*"), Some("application/sealed+json;q=0")] {
        let accepting = |call: RawRequest| {
            accept.map_or_else(|| call.clone(), |accept| call.clone().with("accept", accept))
        };
        for call in [accepting(secrets.create()), accepting(secrets.rotate())] {
            let (replayed, new) = secrets.opened(&call);
            assert!(!replayed && new != secret, "{accept:?}");
            assert_eq!(secrets.opened(&call), (true, new.clone()), "{accept:?}");
            let keyed = call.key("one").nonce(&fresh_nonce());
            // The nonce is bound, so that a copy under another one does not open.
            assert_eq!(keyed.send(&server).status, 422);
        }
    }
    let by_token = RawRequest::new("POST", &format!("/v1/webhook/{}/secret", secrets.id)).token(&token);
    assert_eq!(by_token.send(&server).fields(), "idWebhook");

    let (_, token) = optional(&server);
    let created = post("/v1/webhooks", &json!({"url": "https://hooks.example/"})).token(&token).send(&server);
    let id = created.text_of("idWebhook");
    assert!(created.text_of("secret").starts_with("whsec_"));
    let rotated = RawRequest::new("POST", &format!("/v1/webhook/{id}/secret")).token(&token).send(&server);
    assert!(rotated.text_of("secret").starts_with("whsec_"));
}
