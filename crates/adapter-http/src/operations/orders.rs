//! Orders of cards.

mod cancel;
mod confirm;
mod list;
mod place;
mod place_plastic;
mod place_virtual;
mod result;
mod status;

use kopeck_domain::ids::OrderId;
use kopeck_domain::order::Order;
use kopeck_domain::request::RequestState;
use kopeck_service::orders::{ChangeOrderError, OrderError};

use crate::input::field_types::id;
use crate::operations::prelude::*;
use crate::operations::requests::shown;

pub(super) static OPERATIONS: [&Operation; 7] = [
    &place_plastic::OPERATION,
    &place_virtual::OPERATION,
    &status::OPERATION,
    &result::OPERATION,
    &confirm::OPERATION,
    &cancel::OPERATION,
    &list::OPERATION,
];

/// The order of the path.
fn read_id(r: &mut Reader<'_>) -> Option<OrderId> {
    r.id("order_id")
}

/// The order of the body `OrderIdentifier`.
fn read_order(r: &mut Reader<'_>) -> Option<OrderId> {
    r.body().required("orderId", id::<OrderId>().about("The order."))
}

/// The body of the state.
fn state(request: Order) -> api::OrderState {
    api::OrderState {
        message: RequestState::from(request.state()).as_str().into(),
        order_id: request.id().uuid(),
        reference: shown(request.reference()),
    }
}

impl From<OrderError> for ApiError {
    fn from(error: OrderError) -> Self {
        match error {
            OrderError::NotFound => Code::OrderNotFound.into(),
            OrderError::Store(error) => error.into(),
        }
    }
}

/// The response to a refused change; `refusal` is its error code, and `word` says what was not done.
fn change_refused(error: ChangeOrderError, refusal: Code, word: &str) -> ApiError {
    match error {
        ChangeOrderError::NotFound => Code::OrderNotFound.into(),
        ChangeOrderError::WrongState(state) => {
            let message = format!("an order in {state} cannot be {word}");
            ApiError::new(refusal, message)
        }
        ChangeOrderError::Store(error) => error.into(),
    }
}
