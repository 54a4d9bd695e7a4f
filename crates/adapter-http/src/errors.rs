//! Maps the errors of use cases to responses: one file a group, every match exhaustive, so that a new error compiles
//! only with a status code and an error code.

mod cards;
mod categories;
mod employees;
pub(crate) mod idempotency;
mod limits;
pub(crate) mod orders;
mod replenishments;
mod requests;
mod sandbox;
mod store;
mod tokens;
