//! What must hold: at every moment, and when all is done.

mod always;
mod at_rest;

pub(crate) use always::Watch;
pub(crate) use at_rest::{accounts_are_fresh, bank_agrees, check};

use kopeck_port_store::StoreError;

use crate::violation::Violation;

/// The store without faults never fails.
fn unreadable(error: &StoreError) -> Violation {
    Violation { rule: "what is stored can be read", what: error.to_string() }
}
