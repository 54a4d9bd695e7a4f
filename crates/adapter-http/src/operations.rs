//! What the API offers, for whoever describes it.

use crate::code::Code;
use crate::route::{Effect, Field, Route};
use crate::{route, routes};

/// An operation of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Operation {
    /// Its name, unique.
    pub name: &'static str,
    /// Its method. `PUT` takes `PATCH` as well.
    pub method: &'static str,
    /// Its path, with `{placeholders}` and without a final slash.
    pub path: &'static str,
    /// Whether its calls change something. They have an idempotency key then.
    pub changes: bool,
    fields: &'static [Field],
}

impl Operation {
    /// The methods that it answers to.
    pub fn methods(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.method).chain((self.method == "PUT").then_some("PATCH"))
    }

    /// The names in its path, in their order.
    pub fn placeholders(&self) -> impl Iterator<Item = &'static str> + use<> {
        route::placeholders(self.path)
    }

    /// The names of the fields of its body; of an operation that reads, of its parameters.
    pub fn fields(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.fields.iter().map(|field| field.name)
    }
}

/// Every operation, those of the sandbox last. Where two paths fit a call, the one that stands first is taken.
pub fn operations() -> impl Iterator<Item = Operation> {
    let routes = routes::interface().iter().chain(routes::sandbox());
    routes.map(|Route { name, method, path, effect, fields, .. }| Operation {
        name,
        method: method.as_str(),
        path,
        changes: matches!(effect, Effect::Mutate(_)),
        fields,
    })
}

/// Every code that can stand in the body of an error.
pub fn codes() -> impl Iterator<Item = &'static str> {
    Code::ALL.iter().map(|code| code.as_str())
}
