//! Requests, and responses that the client reads in another form; the others are in `kopeck-api`. Fields that a
//! newer service adds are ignored.

pub(crate) mod card;
pub(crate) mod card_batch;
pub(crate) mod done;
pub(crate) mod employee;
pub(crate) mod event;
pub(crate) mod order;
pub(crate) mod patch;
pub(crate) mod request;
pub(crate) mod request_log;
pub(crate) mod run;
pub(crate) mod sandbox;
pub(crate) mod statement;
pub(crate) mod webhook;
