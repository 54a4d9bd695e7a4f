//! From the refusals of the use cases to what the caller is told: one file a group, every match exhaustive, so that a
//! new refusal does not compile before it has its status and code.

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
