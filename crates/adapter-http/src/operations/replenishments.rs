//! Replenishments: top-ups of cards.

mod cancel;
mod create;
mod list;
mod result;
mod status;

use kopeck_domain::ids::ReplenishmentId;
use kopeck_domain::replenishment::Replenishment;
use kopeck_domain::request::{RequestReference, RequestState};

use crate::input::field_types::id;
use crate::operations::prelude::*;

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

api_type! {
    /// The state of a replenishment.
    struct ReplenishmentStateDto as "ReplenishmentState" {
        /// Its state.
        message: RequestState,
        /// The replenishment.
        replenishment_id: ReplenishmentId,
        /// Your own name for it; absent if you gave none.
        #[serde(skip_serializing_if = "Option::is_none")]
        reference: Option<RequestReference>,
    }
}

impl From<Replenishment> for ReplenishmentStateDto {
    fn from(request: Replenishment) -> Self {
        Self {
            message: request.state().into(),
            replenishment_id: request.id(),
            reference: request.into_fields().reference,
        }
    }
}
