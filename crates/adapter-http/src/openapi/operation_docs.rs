//! What the table of routes does not say of an operation: what it reads, what it answers, why it may refuse.

mod cards;
mod people;
mod requests;
mod sandbox;

use super::json::Json;
use super::schema::{Components, HasSchema};
use crate::code::Code;
use crate::input::reader::Reader;

/// An operation.
pub(super) struct OperationDocs {
    /// Its name in the table of routes.
    pub(super) name: &'static str,
    /// Reads its values; run over no call, it tells what it asks for.
    pub(super) reads: fn(&mut Reader<'_>),
    /// The status of its answer.
    pub(super) status: u16,
    /// The schema of its answer.
    pub(super) response: fn(&mut Components) -> Json,
    /// Why it may refuse, beside what every call may be refused for.
    pub(super) errors: &'static [ErrorResponse],
}

/// A reason to refuse.
pub(super) enum ErrorResponse {
    /// With one of these codes.
    Coded(u16, &'static [Code]),
    /// With a list of cards, each with one of these codes.
    Cards(u16, &'static [Code]),
}

/// The row of the operation with this name.
pub(super) fn named(name: &str) -> Option<&'static OperationDocs> {
    all().find(|docs| docs.name == name)
}

/// Every row.
pub(super) fn all() -> impl Iterator<Item = &'static OperationDocs> {
    people::OPERATIONS.iter().chain(cards::OPERATIONS).chain(requests::OPERATIONS).chain(sandbox::OPERATIONS)
}

/// An operation that answers `T` with 200.
const fn docs<T: HasSchema>(
    name: &'static str,
    reads: fn(&mut Reader<'_>),
    errors: &'static [ErrorResponse],
) -> OperationDocs {
    OperationDocs { name, reads, status: 200, response: T::schema, errors }
}

impl OperationDocs {
    /// The same with another status.
    const fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }
}

/// A reader of values as a row holds it.
macro_rules! reads {
    ($reader:path $(, $with:expr)?) => {
        |r| {
            $reader(r $(, $with)?);
        }
    };
}
use reads;
