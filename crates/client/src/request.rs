//! A request before it is sealed and sent.

use std::time::Duration;

use kopeck_api::{Operation, placeholders};
use reqwest::Method;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::idempotency::IdempotencyKey;

/// One logical request. Each try renders it anew, with a nonce of its own.
///
/// No `Debug`: a body may hold a password.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// The path with its placeholders, such as `/v1/card/{idCard}/balance`.
    pub(crate) template: &'static str,
    /// The values of the placeholders, in their order.
    pub(crate) ids: Vec<Uuid>,
    pub(crate) query: Map<String, Value>,
    pub(crate) body: Option<Zeroizing<String>>,
    /// How long the service may wait before it responds.
    pub(crate) wait: Duration,
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
            ids: Vec::new(),
            query: Map::new(),
            body: None,
            wait: Duration::ZERO,
            key: operation.changes.then(IdempotencyKey::fresh),
        }
    }

    /// The value of the next placeholder.
    pub(crate) fn id(mut self, id: Uuid) -> Self {
        self.ids.push(id);
        self
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

    /// The path. In place of each placeholder stands what `value` makes of its name and its identifier.
    pub(crate) fn path_with(&self, value: impl Fn(&'static str, Uuid) -> String) -> String {
        let mut path = self.template.to_owned();
        for (name, id) in placeholders(self.template).zip(&self.ids) {
            path = path.replace(&format!("{{{name}}}"), &value(name, *id));
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
        let shown = |name: &str, id: Uuid| format!("{name}={}", id.as_u128());
        let [one, two] = [1, 2].map(Uuid::from_u128);
        let call = Request::of(&operations::CARD_BALANCE).id(one);
        assert_eq!(call.path_with(shown), "/v1/card/idCard=1/balance");
        let call = Request::of(&operations::CARD_UNLINK).id(one).id(two);
        assert_eq!(call.path_with(shown), "/v1/employee/idEmployee=1/card/idCard=2");
        let call = Request::of(&operations::ORDER_LIST);
        assert_eq!(call.path_with(shown), "/v1/orders");
    }

    #[test]
    fn only_writes_have_a_key_each_its_own() {
        assert_eq!(Request::of(&operations::ORDER_LIST).key, None);
        let key = || Request::of(&operations::CATEGORY_CREATE).key;
        assert!(key().is_some());
        assert_ne!(key(), key());
    }
}
