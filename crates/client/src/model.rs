//! Requests and responses. The client ignores fields that a newer service adds.

pub(crate) mod balance;
pub(crate) mod card;
pub(crate) mod category;
pub(crate) mod employee;
pub(crate) mod limit;
pub(crate) mod open_enum;
pub(crate) mod order;
pub(crate) mod page;
pub(crate) mod patch;
pub(crate) mod replenishment;
pub(crate) mod request;
pub(crate) mod sandbox;
pub(crate) mod wire;
