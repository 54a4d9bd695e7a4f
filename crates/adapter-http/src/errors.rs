//! Maps the errors of use cases to responses: one file a group, every match exhaustive, so that a new error compiles
//! only with a status code and an error code.

mod card_batches;
mod cards;
mod categories;
mod employees;
pub(crate) mod idempotency;
pub(crate) mod orders;
mod sandbox;
mod store;
mod tokens;
