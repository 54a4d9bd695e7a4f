//! Orders.

use actix_web::http::StatusCode;
use kopeck_service::orders::{ChangeOrderError, OrderError, OrderResultError, PlaceOrderError};

use crate::code::Code;
use crate::error::ApiError;

fn no_such_order() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, Code::OrderNotFound, "there is no such order")
}

impl From<PlaceOrderError> for ApiError {
    fn from(error: PlaceOrderError) -> Self {
        match error {
            PlaceOrderError::Invalid(faults) => faults.into(),
            PlaceOrderError::InsufficientBalance => {
                let message = "the partner's balance does not cover the order";
                Self::new(StatusCode::PAYMENT_REQUIRED, Code::InsufficientBalance, message)
            }
            PlaceOrderError::Store(error) => error.into(),
        }
    }
}

impl From<OrderError> for ApiError {
    fn from(error: OrderError) -> Self {
        match error {
            OrderError::NotFound => no_such_order(),
            OrderError::Store(error) => error.into(),
        }
    }
}

impl From<OrderResultError> for ApiError {
    fn from(error: OrderResultError) -> Self {
        let code = match error {
            OrderResultError::NotFound => return no_such_order(),
            OrderResultError::Cancelled => Code::OrderCancelled,
            OrderResultError::Declined => Code::OrderDeclined,
            OrderResultError::NotProcessed => Code::OrderNotProcessed,
            OrderResultError::Store(error) => return error.into(),
        };
        Self::new(StatusCode::NOT_FOUND, code, error.to_string())
    }
}

/// A change of an order: the refusal of each has its own code.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OrderChange {
    Confirm,
    Cancel,
}

impl OrderChange {
    /// The response to `error`.
    pub(crate) fn refusal(self, error: ChangeOrderError) -> ApiError {
        match error {
            ChangeOrderError::NotFound => no_such_order(),
            ChangeOrderError::WrongState(state) => {
                let (code, word) = match self {
                    Self::Confirm => (Code::OrderNotConfirmable, "confirmed"),
                    Self::Cancel => (Code::OrderNotCancellable, "cancelled"),
                };
                let message = format!("an order in {state} cannot be {word}");
                ApiError::new(StatusCode::CONFLICT, code, message)
            }
            ChangeOrderError::Store(error) => error.into(),
        }
    }
}
