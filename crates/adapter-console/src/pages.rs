//! The pages: each reads what it shows by operations of the API, and each form calls one.

pub(crate) mod account;
pub(crate) mod home;
pub(crate) mod integration;
pub(crate) mod limits;
pub(crate) mod login;
mod names;
pub(crate) mod operator;
pub(crate) mod orders;
mod partner_problems;
pub(crate) mod people;
pub(crate) mod person;
pub(crate) mod programmes;
pub(crate) mod reports;
pub(crate) mod runs;
mod secrets;
pub(crate) mod users;
