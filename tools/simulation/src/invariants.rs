//! What must hold: at every moment, and when all is done.

mod always;
mod at_rest;
pub(crate) mod paydays;

pub(crate) use always::Watch;
pub(crate) use at_rest::{accounts_are_fresh, bank_agrees, check};
