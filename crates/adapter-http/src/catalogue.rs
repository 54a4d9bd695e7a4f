//! What the API offers, for whoever describes it.

use crate::code::Code;
use crate::route::Route;
use crate::routes;

/// An operation of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Operation {
    /// Its name, unique.
    pub name: &'static str,
    /// Its method. `PUT` takes `PATCH` as well.
    pub method: &'static str,
    /// Its path, with `{placeholders}` and without a final slash.
    pub path: &'static str,
}

/// Every operation, those of the sandbox last. Where two paths fit a call, the one that stands first is taken.
pub fn operations() -> impl Iterator<Item = Operation> {
    routes::interface().iter().chain(routes::sandbox()).map(|Route { name, method, path, .. }| Operation {
        name,
        method: method.as_str(),
        path,
    })
}

/// Every code that can stand in the body of an error.
pub fn codes() -> impl Iterator<Item = &'static str> {
    Code::ALL.iter().map(|code| code.as_str())
}
