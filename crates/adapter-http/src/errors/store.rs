//! The store's failures.

use kopeck_port_store::StoreError;

use crate::error::ApiError;

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy | StoreError::Cancelled | StoreError::Rerun | StoreError::Unavailable(_) => {
                Self::busy(error.to_string())
            }
            // A constraint that a use case expects is part of its own errors; here it is a surprise.
            StoreError::Conflict(_) | StoreError::Corrupt(_) | StoreError::Failed(_) => {
                Self::internal(error.to_string())
            }
        }
    }
}
