//! Requests and answers as they stand on the wire. Fields that a newer service adds are passed over.

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
