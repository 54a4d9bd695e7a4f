//! Withdrawals: money that is taken back from cards.

mod cancel;
mod create;
mod list;
mod result;
mod status;

use kopeck_domain::ids::WithdrawalId;
use kopeck_domain::request::RequestState;
use kopeck_domain::withdrawal::Withdrawal;

use crate::operations::prelude::*;
use crate::operations::requests::shown;

pub(super) static OPERATIONS: [&Operation; 5] =
    [&create::OPERATION, &status::OPERATION, &result::OPERATION, &cancel::OPERATION, &list::OPERATION];

/// The withdrawal of the path.
fn read_id(r: &mut Reader<'_>) -> Option<WithdrawalId> {
    r.id("withdrawalId")
}

/// The body of the state.
fn state(request: Withdrawal) -> api::WithdrawalState {
    api::WithdrawalState {
        message: RequestState::from(request.state()).as_str().into(),
        withdrawal_id: request.id().uuid(),
        reference: shown(request.reference()),
    }
}
