//! Withdrawals: money that is taken back from cards.

mod cancel;
mod create;
mod list;
mod result;
mod status;

use kopeck_domain::ids::WithdrawalId;
use kopeck_domain::request::{RequestReference, RequestState};
use kopeck_domain::withdrawal::Withdrawal;

use crate::operations::prelude::*;

pub(super) static OPERATIONS: [&Operation; 5] =
    [&create::OPERATION, &status::OPERATION, &result::OPERATION, &cancel::OPERATION, &list::OPERATION];

/// The withdrawal of the path.
fn read_id(r: &mut Reader<'_>) -> Option<WithdrawalId> {
    r.id("withdrawalId")
}

api_type! {
    /// The state of a withdrawal.
    struct WithdrawalStateDto as "WithdrawalState" {
        /// Its state.
        message: RequestState,
        /// The withdrawal.
        withdrawal_id: WithdrawalId,
        /// Your own name for it; absent if you gave none.
        #[serde(skip_serializing_if = "Option::is_none")]
        reference: Option<RequestReference>,
    }
}

impl From<Withdrawal> for WithdrawalStateDto {
    fn from(request: Withdrawal) -> Self {
        Self {
            message: request.state().into(),
            withdrawal_id: request.id(),
            reference: request.into_fields().reference,
        }
    }
}
