//! A request before it is sealed and sent.

use std::time::Duration;

use kopeck_api::{Operation, placeholders};
use reqwest::Method;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::idempotency::IdempotencyKey;

/// One logical request. Each attempt renders it again, with a new nonce.
///
/// No `Debug`: a body may hold a password.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// The path with its placeholders, such as `/v1/card/{idCard}/balance`.
    pub(crate) template: &'static str,
    /// The values of the placeholders, in their order.
    pub(crate) values: Vec<String>,
    /// The media type of a file to ask for in place of JSON. Files are never sealed.
    pub(crate) file: Option<&'static str>,
    pub(crate) query: Map<String, Value>,
    pub(crate) body: Option<Zeroizing<String>>,
    /// How long the service may wait before it responds.
    pub(crate) wait: Duration,
    /// The version that a change is for.
    pub(crate) if_match: Option<String>,
    /// Present for a mutation.
    pub(crate) key: Option<IdempotencyKey>,
}

impl Request {
    /// A request of an operation; a mutation gets a fresh key.
    pub(crate) fn of(operation: &Operation) -> Self {
        Self {
            method: match operation.method {
                kopeck_api::Method::Get => Method::GET,
                kopeck_api::Method::Post => Method::POST,
                kopeck_api::Method::Put => Method::PUT,
                kopeck_api::Method::Delete => Method::DELETE,
            },
            template: operation.path,
            values: Vec::new(),
            file: None,
            query: Map::new(),
            body: None,
            wait: Duration::ZERO,
            if_match: None,
            key: operation.changes.then(IdempotencyKey::fresh),
        }
    }

    /// The value of the next placeholder.
    pub(crate) fn id(mut self, id: Uuid) -> Self {
        self.values.push(id.to_string());
        self
    }

    /// The month in the path. The service says what is wrong with one.
    pub(crate) fn month(mut self, month: &str) -> Self {
        // Nothing that could be another path.
        self.values.push(month.chars().filter(|letter| letter.is_ascii_digit() || *letter == '-').collect());
        self
    }

    /// Asks for a file.
    pub(crate) fn file(self, media_type: &'static str) -> Self {
        Self { file: Some(media_type), ..self }
    }

    /// The service may wait this long before it responds.
    pub(crate) fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// Adds a query parameter, if there is a value.
    pub(crate) fn query(mut self, name: &str, value: Option<impl Into<Value>>) -> Self {
        if let Some(value) = value {
            self.query.insert(name.to_owned(), value.into());
        }
        self
    }

    #[expect(
        clippy::expect_used,
        reason = "serialising fails for maps with other keys than strings, and the client has none"
    )]
    pub(crate) fn body(mut self, body: &impl Serialize) -> Self {
        self.body =
            Some(Zeroizing::new(serde_json::to_string(body).expect("no map has other keys than strings")));
        self
    }

    /// Adds a field to the body, which is an object with other fields.
    pub(crate) fn field(mut self, name: &str, value: &str) -> Self {
        if let Some(body) = &mut self.body
            && body.pop() == Some('}')
        {
            body.push_str(&format!(",{}:{}}}", Value::from(name), Value::from(value)));
        }
        self
    }

    /// The path. In place of each placeholder stands what `shown` makes of its name and its value.
    pub(crate) fn path_with(&self, shown: impl Fn(&'static str, &str) -> String) -> String {
        let mut path = self.template.to_owned();
        for (name, value) in placeholders(self.template).zip(&self.values) {
            path = path.replace(&format!("{{{name}}}"), &shown(name, value));
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use kopeck_api::operations;

    use super::*;

    #[test]
    fn placeholders_are_replaced() {
        let shown = |name: &str, value: &str| format!("{name}={}", value.trim_start_matches(['0', '-']));
        let [one, two] = [1, 2].map(Uuid::from_u128);
        let call = Request::of(&operations::CARD_BALANCE).id(one);
        assert_eq!(call.path_with(shown), "/v1/card/idCard=1/balance");
        let call = Request::of(&operations::CARD_UNLINK).id(one).id(two);
        assert_eq!(call.path_with(shown), "/v1/employee/idEmployee=1/card/idCard=2");
        let call = Request::of(&operations::ORDER_LIST);
        assert_eq!(call.path_with(shown), "/v1/orders");
    }

    #[test]
    fn a_field_is_added_to_a_body() {
        let call = Request::of(&operations::ORDER_CANCEL).body(&serde_json::json!({"data": [1]}));
        let body = call.field("reference", "PO \"7\"").body;
        assert_eq!(body.as_deref().map(String::as_str), Some(r#"{"data":[1],"reference":"PO \"7\""}"#));
    }

    #[test]
    fn only_writes_have_a_key_each_its_own() {
        assert_eq!(Request::of(&operations::ORDER_LIST).key, None);
        let key = || Request::of(&operations::CATEGORY_CREATE).key;
        assert!(key().is_some());
        assert_ne!(key(), key());
    }
}
