//! The handlers: read the values, run the use case, show its result. No rule lives here.

pub(crate) mod balance;
pub(crate) mod cards;
pub(crate) mod categories;
pub(crate) mod employees;
pub(crate) mod orders;
pub(crate) mod replenishments;
pub(crate) mod sandbox;
