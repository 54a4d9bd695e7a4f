//! What must hold: at every moment, and when all is done.

mod always;
mod at_rest;
mod paydays;

pub(crate) use always::Watch;
pub(crate) use at_rest::{accounts_are_fresh, bank_agrees, check};
pub(crate) use paydays::Paydays;
