//! What a route is: an operation of the interface.

use std::future::Future;
use std::pin::Pin;

use actix_web::http::Method;

use crate::error::ApiError;
use crate::handler_context::{HandlerContext, Response};

/// What a handler answers.
pub(crate) type HandlerResult = Result<Response, ApiError>;

/// A handler: reads the values, runs the use case, shows its result.
pub(crate) type Handler = fn(HandlerContext) -> Pin<Box<dyn Future<Output = HandlerResult>>>;

/// An operation.
pub(crate) struct Route {
    /// What the interface calls it; unique.
    pub(crate) name: &'static str,
    /// The method. `PUT` takes `PATCH` as well.
    pub(crate) method: Method,
    /// The path with the interface's placeholders, without a final slash.
    pub(crate) path: &'static str,
    /// What it does.
    pub(crate) effect: Effect,
    /// Whether it shows what only the partner may ever know. Who has seen it is kept in the audit log, and under the
    /// policy `required` it is always sealed.
    pub(crate) discloses: bool,
    /// Whether a call without a body is faulty.
    pub(crate) needs_body: bool,
    /// The fields of its body; of a call that reads, its parameters.
    pub(crate) fields: &'static [Field],
}

/// What an operation does, and who carries it out.
#[derive(Clone, Copy)]
pub(crate) enum Effect {
    /// Gives tokens for login and password. Identified by the API key, never repeated.
    Login,
    /// Gives tokens for a refresh token. Identified by the API key, never repeated.
    Refresh,
    /// Reads; records nothing.
    Read(Handler),
    /// Changes something; a repeat under the same key is answered with the first answer.
    Mutate(Handler),
}

/// A field of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Field {
    /// Its name.
    pub(crate) name: &'static str,
    /// What a sealed one holds.
    pub(crate) kind: FieldEncoding,
    /// Whether the interface lets it travel clear beside sealed ones.
    pub(crate) may_be_clear: bool,
}

/// What stands in a field, once it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FieldEncoding {
    /// A text, as it is.
    Text,
    /// JSON: a number or a list.
    Json,
}

impl Route {
    /// The methods that it answers to.
    pub(crate) fn methods(&self) -> Vec<Method> {
        if self.method == Method::PUT { vec![Method::PUT, Method::PATCH] } else { vec![self.method.clone()] }
    }

    /// Whether it answers to this method.
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
        self.field(name).map_or(FieldEncoding::Text, |field| field.kind)
    }

    /// Whether a field may travel clear in a body whose other fields are sealed.
    pub(crate) fn may_be_clear(&self, name: &str) -> bool {
        self.field(name).is_none_or(|field| field.may_be_clear)
    }

    /// `name` if a field, parameter or placeholder of this operation is called so, else `-`.
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
