//! What a run finds.

use std::fmt;

use kopeck_port_store::StoreError;

/// Something that must hold and did not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// What must hold.
    pub rule: &'static str,
    /// How it did not.
    pub what: String,
}

impl Violation {
    /// The store without faults never fails.
    pub(crate) fn unreadable(error: &StoreError) -> Self {
        Self { rule: "what is stored can be read", what: error.to_string() }
    }

    /// Of a step that no fault can have met.
    pub(crate) fn failed(error: &dyn fmt::Display) -> Self {
        Self { rule: "nothing fails without faults", what: error.to_string() }
    }

    /// Judges an error of the store: a store that is away is part of the run, anything else is a finding.
    pub(crate) fn judge(error: &StoreError) -> Result<(), Self> {
        match error {
            StoreError::Conflict(_) | StoreError::Corrupt(_) | StoreError::Failed(_) => {
                Err(Self { rule: "the store is never asked for what cannot be", what: error.to_string() })
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.what)
    }
}
