//! The documentation of operations beside the table of routes: inputs, response, errors.

mod cards;
mod people;
mod requests;
mod sandbox;

use super::json::Json;
use super::schema::{Components, HasSchema};
use crate::code::Code;
use crate::input::reader::Reader;

/// The documentation of an operation.
pub(super) struct OperationDocs {
    /// Its name in the table of routes.
    pub(super) name: &'static str,
    /// Its reader, which records the inputs.
    pub(super) reads: fn(&mut Reader<'_>),
    /// The status code of its response.
    pub(super) status: u16,
    /// The schema of its response.
    pub(super) response: fn(&mut Components) -> Json,
    /// Its errors, beside those of every operation.
    pub(super) errors: &'static [ErrorResponse],
}

pub(super) enum ErrorResponse {
    /// With one of these error codes.
    Coded(u16, &'static [Code]),
    /// With a list of cards, each with one of these error codes.
    Cards(u16, &'static [Code]),
}

/// The documentation of the operation with this name.
pub(super) fn named(name: &str) -> Option<&'static OperationDocs> {
    all().find(|docs| docs.name == name)
}

/// Every row.
pub(super) fn all() -> impl Iterator<Item = &'static OperationDocs> {
    people::OPERATIONS.iter().chain(cards::OPERATIONS).chain(requests::OPERATIONS).chain(sandbox::OPERATIONS)
}

/// An operation that responds with `T` and status code 200.
const fn docs<T: HasSchema>(
    name: &'static str,
    reads: fn(&mut Reader<'_>),
    errors: &'static [ErrorResponse],
) -> OperationDocs {
    OperationDocs { name, reads, status: 200, response: T::schema, errors }
}

impl OperationDocs {
    /// Replaces the status code.
    const fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }
}

/// Wraps a reader.
macro_rules! reads {
    ($reader:path $(, $with:expr)?) => {
        |r| {
            $reader(r $(, $with)?);
        }
    };
}
use reads;
