//! Closings: cards that are permanently closed.

mod cancel;
mod create;
mod list;
mod result;
mod status;

use kopeck_domain::closing::Closing;
use kopeck_domain::ids::ClosingId;
use kopeck_domain::request::RequestState;

use crate::operations::prelude::*;
use crate::operations::requests::shown;

pub(super) static OPERATIONS: [&Operation; 5] =
    [&create::OPERATION, &status::OPERATION, &result::OPERATION, &cancel::OPERATION, &list::OPERATION];

/// The closing of the path.
fn read_id(r: &mut Reader<'_>) -> Option<ClosingId> {
    r.id("closingId")
}

/// The body of the state.
fn state(request: Closing) -> api::ClosingState {
    api::ClosingState {
        message: RequestState::from(request.state()).as_str().into(),
        closing_id: request.id().uuid(),
        reference: shown(request.reference()),
    }
}
