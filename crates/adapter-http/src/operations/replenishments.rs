//! Replenishments: top-ups of cards.

mod cancel;
mod create;
mod list;
mod result;
mod status;

use kopeck_domain::ids::ReplenishmentId;
use kopeck_domain::replenishment::Replenishment;
use kopeck_domain::request::RequestState;

use crate::input::field_types::id;
use crate::operations::prelude::*;
use crate::operations::requests::shown;

pub(super) static OPERATIONS: [&Operation; 7] = [
    &create::OPERATION,
    &status::BY_QUERY,
    &result::BY_QUERY,
    &status::BY_PATH,
    &result::BY_PATH,
    &cancel::OPERATION,
    &list::OPERATION,
];

/// The replenishment of the query.
fn read_parameter(r: &mut Reader<'_>) -> Option<ReplenishmentId> {
    r.required_param(["idReplenishment", "replenishmentId"], id::<ReplenishmentId>())
}

/// The replenishment of the path.
fn read_id(r: &mut Reader<'_>) -> Option<ReplenishmentId> {
    r.id("replenishmentId")
}

/// The body of the state.
fn state(request: Replenishment) -> api::ReplenishmentState {
    api::ReplenishmentState {
        message: RequestState::from(request.state()).as_str().into(),
        replenishment_id: request.id().uuid(),
        reference: shown(request.reference()),
    }
}
