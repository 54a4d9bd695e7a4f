//! Closings: cards that are closed for good.

mod cancel;
mod create;
mod list;
mod result;
mod status;

use kopeck_domain::closing::Closing;
use kopeck_domain::ids::ClosingId;
use kopeck_domain::request::{RequestReference, RequestState};

use crate::operations::prelude::*;

pub(super) static OPERATIONS: [&Operation; 5] =
    [&create::OPERATION, &status::OPERATION, &result::OPERATION, &cancel::OPERATION, &list::OPERATION];

/// The closing of the path.
fn read_id(r: &mut Reader<'_>) -> Option<ClosingId> {
    r.id("closingId")
}

api_type! {
    /// The state of a closing.
    struct ClosingStateDto as "ClosingState" {
        /// Its state.
        message: RequestState,
        /// The closing.
        closing_id: ClosingId,
        /// Your own name for it; absent if you gave none.
        #[serde(skip_serializing_if = "Option::is_none")]
        reference: Option<RequestReference>,
    }
}

impl From<Closing> for ClosingStateDto {
    fn from(request: Closing) -> Self {
        Self {
            message: request.state().into(),
            closing_id: request.id(),
            reference: request.into_fields().reference,
        }
    }
}
