//! Who does something in a run.

mod calls;
mod client;
mod compose;
mod deliverer;
mod keeper;
mod process;

pub(crate) use calls::{Call, ClientView, Command};
pub(crate) use client::Client;
pub(crate) use deliverer::{Deliverer, Endpoint};
pub(crate) use keeper::Keeper;
pub(crate) use process::Process;

use kopeck_port_store::StoreError;

use crate::violation::Violation;

/// Judges an error of the store: a store that is away is part of the run, anything else is a finding.
fn judge(error: &StoreError) -> Result<(), Violation> {
    match error {
        StoreError::Busy | StoreError::Cancelled | StoreError::Rerun | StoreError::Unavailable(_) => Ok(()),
        StoreError::Conflict(_) | StoreError::Corrupt(_) | StoreError::Failed(_) => {
            Err(Violation { rule: "the store is never asked for what cannot be", what: error.to_string() })
        }
    }
}
