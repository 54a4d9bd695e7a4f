//! An operation of the interface.

use std::future::Future;
use std::pin::Pin;

use actix_web::http::Method;

use crate::error::ApiError;
use crate::handler_context::{HandlerContext, Response};

pub(crate) type HandlerResult = Result<Response, ApiError>;

/// Reads the values, runs the use case, serializes its result.
pub(crate) type Handler = fn(HandlerContext) -> Pin<Box<dyn Future<Output = HandlerResult>>>;

/// An operation.
pub(crate) struct Route {
    /// The unique name in the interface.
    pub(crate) name: &'static str,
    /// The method. `PUT` includes `PATCH`.
    pub(crate) method: Method,
    /// The path with placeholders, without a final slash.
    pub(crate) path: &'static str,
    /// Its effect and handler.
    pub(crate) effect: Effect,
    /// Whether a response shows secrets of the partner. The audit log records such requests, and under the policy
    /// `required` the response is always sealed.
    pub(crate) discloses: bool,
    /// Whether a request without a body is faulty.
    pub(crate) needs_body: bool,
    /// The fields of its body; for a read, its parameters.
    pub(crate) fields: &'static [Field],
}

/// The effect of an operation, with its handler.
#[derive(Clone, Copy)]
pub(crate) enum Effect {
    /// Issues tokens for login and password. Identified by the API key, never replayed.
    Login,
    /// Issues tokens for a refresh token. Identified by the API key, never replayed.
    Refresh,
    /// Reads; records nothing.
    Read(Handler),
    /// Changes data; an idempotent retry gets the recorded response.
    Mutate(Handler),
}

/// A field of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    /// The content of a sealed value.
    pub(crate) encoding: FieldEncoding,
    /// Whether it may be plaintext beside sealed fields.
    pub(crate) may_be_clear: bool,
}

/// The content of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FieldEncoding {
    /// A text, as it is.
    Text,
    /// JSON: a number or a list.
    Json,
}

impl Route {
    pub(crate) fn methods(&self) -> Vec<Method> {
        if self.method == Method::PUT { vec![Method::PUT, Method::PATCH] } else { vec![self.method.clone()] }
    }

    /// Whether it has this method.
    pub(crate) fn takes(&self, method: &Method) -> bool {
        self.method == *method || (self.method == Method::PUT && *method == Method::PATCH)
    }

    /// The names in the path, in their order.
    pub(crate) fn placeholders(&self) -> impl Iterator<Item = &'static str> {
        placeholders(self.path)
    }

    /// Whether it reads: the parameters of its query and body are one.
    pub(crate) const fn reads(&self) -> bool {
        matches!(self.effect, Effect::Read(_))
    }

    /// What a sealed field of its body holds.
    pub(crate) fn field_encoding(&self, name: &str) -> FieldEncoding {
        self.field(name).map_or(FieldEncoding::Text, |field| field.encoding)
    }

    /// Whether a field may be plaintext beside sealed fields.
    pub(crate) fn may_be_clear(&self, name: &str) -> bool {
        self.field(name).is_none_or(|field| field.may_be_clear)
    }

    /// `name` if the operation has such a field, parameter or placeholder, else `-`.
    pub(crate) fn own_name(&self, name: &str) -> &'static str {
        let field = self.field(name).map(|field| field.name);
        field.or_else(|| self.placeholders().find(|own| *own == name)).unwrap_or("-")
    }

    /// Whether it has a field or parameter of this name.
    pub(crate) fn has_field(&self, name: &str) -> bool {
        self.field(name).is_some()
    }

    fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// The names in a path, in their order.
pub(crate) fn placeholders(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}
