//! Seals requests and opens responses.

use kopeck_sealing::{
    Clear, KeyId, RequestContext, ResponseContext, SealingKey, Slot, bound_path, key_id_of, open_response,
    seal_request,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::error::Error;
use crate::request::Request;
use crate::system;

/// The media type of a sealed body.
pub(crate) const SEALED_JSON: &str = "application/sealed+json";
pub(crate) const JSON: &str = "application/json";

/// The sealing keys and options.
#[derive(Debug, Clone)]
pub(crate) struct Sealing {
    /// Seals requests, and is the first to open responses.
    pub(crate) key: SealingKey,
    /// Opens responses too: during a rotation the service may seal with the other key.
    pub(crate) other_keys: Vec<SealingKey>,
    pub(crate) parameters: bool,
    pub(crate) answers: bool,
}

/// A request in the form in which it is sent.
pub(crate) struct RenderedRequest {
    /// The path from the version prefix on, with the identifier.
    pub(crate) path: String,
    /// The query parameters, not yet percent-encoded.
    pub(crate) query: Vec<(String, String)>,
    /// The body and its type.
    pub(crate) body: Option<(&'static str, Zeroizing<String>)>,
}

/// The body of a sealed request or response.
#[derive(Deserialize)]
struct Envelope {
    sealed: String,
}

impl Request {
    /// The plaintext request.
    pub(crate) fn render_clear(&self) -> RenderedRequest {
        RenderedRequest {
            path: self.path_with(|_, value| value.to_owned()),
            query: self.query.iter().map(|(name, value)| (name.clone(), plain(value))).collect(),
            body: self.body.clone().map(|body| (JSON, body)),
        }
    }

    /// The request with its body sealed, and as an option its query. Identifiers are sealed as an option, too, and always
    /// where nothing else would show that the request comes from the partner.
    pub(crate) fn render_sealed(&self, sealing: &Sealing, nonce: &str, now_unix: u64) -> RenderedRequest {
        let bound = self.bound_path(sealing);
        let seal = |slot, plaintext: &str| {
            let ctx = RequestContext {
                method: self.method.as_str(),
                path: &bound,
                nonce,
                slot,
                clear: Clear::none(),
            };
            seal_request(&sealing.key, &ctx, now_unix, system::random(), plaintext.as_bytes())
        };
        let clear = self.render_clear();
        let path = if self.seals_identifiers(sealing) {
            self.path_with(|name, value| seal(Slot::Path(name), value))
        } else {
            clear.path
        };
        let query = if sealing.parameters && !self.query.is_empty() {
            vec![("sealed".to_owned(), seal(Slot::Query, &json(&self.query)))]
        } else {
            clear.query
        };
        let body = self.body.as_ref().map(|body| {
            let sealed = seal(Slot::Body, body);
            (SEALED_JSON, Zeroizing::new(format!(r#"{{"sealed":"{sealed}"}}"#)))
        });
        RenderedRequest { path, query, body }
    }

    /// A mutation without a body is refused under the policy `required`, unless an identifier in its path is sealed.
    const fn seals_identifiers(&self, sealing: &Sealing) -> bool {
        sealing.parameters || (self.key.is_some() && self.body.is_none())
    }

    /// The path that sealed values are bound to.
    fn bound_path(&self, sealing: &Sealing) -> String {
        let is_sealed = self.seals_identifiers(sealing);
        let path = self.path_with(|_, value| if is_sealed { "*" } else { value }.to_owned());
        bound_path(&path).into_owned()
    }
}

impl Sealing {
    /// Opens the body of a response to `call`.
    pub(crate) fn open(
        &self,
        call: &Request,
        nonce: &str,
        status: u16,
        now_unix: u64,
        body: &str,
    ) -> Result<Zeroizing<String>, Error> {
        let refused = |why: &dyn std::fmt::Display| Error::Sealing(why.to_string());
        let envelope: Envelope = serde_json::from_str(body).map_err(|error| refused(&error))?;
        let key_id = key_id_of(&envelope.sealed).map_err(|refusal| refused(&refusal))?;
        let key = std::iter::once(&self.key).chain(&self.other_keys).find(|key| key.id() == key_id);
        let key = key.ok_or_else(|| Error::Sealing(unknown_key(key_id)))?;
        let path = call.bound_path(self);
        let ctx = ResponseContext { method: call.method.as_str(), path: &path, nonce, status };
        open_response(key, &ctx, now_unix, &envelope.sealed).map_err(|refusal| refused(&refusal))
    }
}

/// The message about a value under a key that the client does not have.
fn unknown_key(id: KeyId) -> String {
    format!("sealed under key {id}, which this client does not have: was the sealing key rotated?")
}

/// A query parameter's value as it stands in a URL.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn json(query: &Map<String, Value>) -> String {
    // `Value`'s own `Display` is JSON.
    Value::Object(query.clone()).to_string()
}

#[cfg(test)]
mod tests {
    use kopeck_api::{operations, placeholders};
    use kopeck_sealing::{looks_sealed, open_request, seal_response};
    use uuid::Uuid;

    use super::*;

    const NONCE: &str = "3f2a9c51e7d84b0fa6c2d1e45b907788";
    const NOW: u64 = 1_767_225_600;
    const CARD: Uuid = Uuid::from_u128(0x0f8f_ad5b_d9cb_469f_a165_7086_7728_950e);

    fn sealing(parameters: bool) -> Sealing {
        let key = SealingKey::new(KeyId::from_bytes([1; 8]), [2; 32]);
        Sealing { key, other_keys: Vec::new(), parameters, answers: true }
    }

    fn transactions() -> Request {
        Request::of(&operations::CARD_TRANSACTIONS)
            .id(CARD)
            .query("page", Some(2))
            .query("type", Some("PAYMENT"))
            .query("per_page", None::<u64>)
    }

    fn open(path: &str, slot: Slot<'_>, method: &str, text: &str) -> String {
        let ctx = RequestContext { method, path, nonce: NONCE, slot, clear: Clear::none() };
        open_request(&sealing(true).key, &ctx, NOW, text).unwrap().to_string()
    }

    #[test]
    fn a_clear_call_is_as_written() {
        let rendered = transactions().render_clear();
        assert_eq!(rendered.path, format!("/v1/card/{CARD}/transactions"));
        let query: Vec<_> = rendered.query.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(query, [("page", "2"), ("type", "PAYMENT")]);
        assert!(rendered.body.is_none());
    }

    #[test]
    fn parameters_are_sealed_as_identifier_and_whole_query() {
        let rendered = transactions().render_sealed(&sealing(true), NONCE, NOW);
        let bound = "/v1/card/*/transactions";
        let id = rendered.path.split('/').nth(3).unwrap();
        assert_eq!(open(bound, Slot::Path("idCard"), "GET", id), CARD.to_string());
        let [(name, query)] = rendered.query.try_into().unwrap();
        assert_eq!(name, "sealed");
        assert_eq!(open(bound, Slot::Query, "GET", &query), r#"{"page":2,"type":"PAYMENT"}"#);
    }

    #[test]
    fn a_body_is_bound_to_the_path_as_it_is_sent() {
        let update = Request::of(&operations::EMPLOYEE_UPDATE).id(CARD).body(&["x"]);
        let call = Request { template: "/v1/employee/{idEmployee}/", ..update };
        for parameters in [true, false] {
            let rendered = call.render_sealed(&sealing(parameters), NONCE, NOW);
            let (content_type, body) = rendered.body.unwrap();
            assert_eq!(content_type, SEALED_JSON);
            let envelope: Envelope = serde_json::from_str(&body).unwrap();
            let bound = bound_path(&rendered.path);
            assert_eq!(open(&bound, Slot::Body, "PUT", &envelope.sealed), r#"["x"]"#);
        }
    }

    /// Holds for future operations too: under the policy `required` the service refuses them otherwise.
    #[test]
    fn a_change_without_a_body_has_its_identifiers_sealed() {
        for operation in
            operations::ALL.iter().filter(|operation| operation.method != kopeck_api::Method::Get)
        {
            let ids = placeholders(operation.route()).count();
            let call = (0..ids).fold(Request::of(operation), |call, _| call.id(CARD));
            let path = call.render_sealed(&sealing(false), NONCE, NOW).path;
            let sealed = path.split('/').filter(|segment| looks_sealed(segment)).count();
            assert_eq!(sealed, if operation.changes { ids } else { 0 }, "{operation}");
            let with_body = call.body(&["x"]).render_sealed(&sealing(false), NONCE, NOW);
            assert!(!with_body.path.contains("s1."), "{operation}");
        }
        let call = Request::of(&operations::CARD_UNLINK).id(CARD).id(CARD);
        let sent = call.render_sealed(&sealing(false), NONCE, NOW).path;
        let bound = bound_path(&sent);
        assert_eq!(bound, "/v1/employee/*/card/*");
        assert_eq!(
            call.bound_path(&sealing(false)),
            bound,
            "its response is bound to the path as it was sent"
        );
        let last = sent.rsplit('/').next().unwrap();
        assert_eq!(open(&bound, Slot::Path("idCard"), "DELETE", last), CARD.to_string());
    }

    #[test]
    fn an_answer_opens_for_its_call_only_and_under_any_of_the_keys() {
        let mut sealing = sealing(true);
        let next = SealingKey::new(KeyId::from_bytes([3; 8]), [4; 32]);
        sealing.other_keys.push(next.clone());
        let call = transactions();
        for key in [&sealing.key, &next] {
            let ctx =
                ResponseContext { method: "GET", path: "/v1/card/*/transactions", nonce: NONCE, status: 200 };
            let sealed = seal_response(key, &ctx, NOW, [9; 16], b"{}");
            let body = format!(r#"{{"sealed":"{sealed}"}}"#);
            assert_eq!(sealing.open(&call, NONCE, 200, NOW, &body).unwrap().as_str(), "{}");
            assert!(sealing.open(&call, NONCE, 404, NOW, &body).is_err());
            assert!(sealing.open(&call, "another-nonce-0123", 200, NOW, &body).is_err());
            assert!(sealing.open(&call, NONCE, 200, NOW + 301, &body).is_err());
            let balance = Request::of(&operations::BALANCE);
            assert!(sealing.open(&balance, NONCE, 200, NOW, &body).is_err());
        }
    }
}
