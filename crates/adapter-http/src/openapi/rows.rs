//! What the table of routes does not say of an operation: what it reads, what it answers, why it may refuse.

mod cards;
mod people;
mod requests;
mod sandbox;

use super::json::Json;
use super::schema::{Components, Described};
use crate::code::Code;
use crate::input::reader::Reader;

/// An operation.
pub(super) struct Row {
    /// Its name in the table of routes.
    pub(super) name: &'static str,
    /// Reads its values; run over no call, it tells what it asks for.
    pub(super) reads: fn(&mut Reader<'_>),
    /// The status of its answer.
    pub(super) status: u16,
    /// The schema of its answer.
    pub(super) answer: fn(&mut Components) -> Json,
    /// Why it may refuse, beside what every call may be refused for.
    pub(super) refusals: &'static [Refusal],
}

/// A reason to refuse.
pub(super) enum Refusal {
    /// With one of these codes.
    Coded(u16, &'static [Code]),
    /// With a list of cards, each with one of these codes.
    Cards(u16, &'static [Code]),
}

/// The row of the operation with this name.
pub(super) fn named(name: &str) -> Option<&'static Row> {
    all().find(|row| row.name == name)
}

/// Every row.
pub(super) fn all() -> impl Iterator<Item = &'static Row> {
    people::ROWS.iter().chain(cards::ROWS).chain(requests::ROWS).chain(sandbox::ROWS)
}

/// An operation that answers `T` with 200.
const fn row<T: Described>(
    name: &'static str,
    reads: fn(&mut Reader<'_>),
    refusals: &'static [Refusal],
) -> Row {
    Row { name, reads, status: 200, answer: T::schema, refusals }
}

impl Row {
    /// The same with another status.
    const fn answering(self, status: u16) -> Self {
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
