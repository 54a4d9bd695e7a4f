//! The public list of operations and error codes.

use crate::code::Code;
use crate::route::{Effect, Field, Route};
use crate::{route, routes};

/// An operation of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationInfo {
    /// Its unique name.
    pub name: &'static str,
    /// Its method. `PUT` includes `PATCH`.
    pub method: &'static str,
    /// Its path, with `{placeholders}` and without a final slash.
    pub path: &'static str,
    /// Whether it changes data. Such requests have an idempotency key.
    pub changes: bool,
    fields: &'static [Field],
}

impl OperationInfo {
    /// Its methods.
    pub fn methods(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.method).chain((self.method == "PUT").then_some("PATCH"))
    }

    /// The placeholders of its path, in their order.
    pub fn placeholders(&self) -> impl Iterator<Item = &'static str> + use<> {
        route::placeholders(self.path)
    }

    /// The names of the fields of its body; for a read, of its parameters.
    pub fn fields(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.fields.iter().map(|field| field.name)
    }
}

/// Every operation, those of the sandbox last. Where two paths match, the first wins.
pub fn operations() -> impl Iterator<Item = OperationInfo> {
    let routes = routes::interface().iter().chain(routes::sandbox());
    routes.map(|Route { name, method, path, effect, fields, .. }| OperationInfo {
        name,
        method: method.as_str(),
        path,
        changes: matches!(effect, Effect::Mutate(_)),
        fields,
    })
}

/// Every error code.
pub fn codes() -> impl Iterator<Item = &'static str> {
    Code::ALL.iter().map(|code| code.as_str())
}
