//! Limit changes.

use actix_web::http::StatusCode;
use kopeck_service::limits::{
    CancelLimitChangeError, LimitCardConflict, LimitChangeError, LimitConflictReason, LimitResultError,
    SetLimitsError,
};

use super::requests::{
    cards_in_conflict, expired, in_request, no_such_request, not_cancellable, unknown_cards,
};
use crate::code::Code;
use crate::error::{ApiError, FaultyCard};

fn faulty(LimitCardConflict { card, reason }: LimitCardConflict) -> FaultyCard {
    match reason {
        LimitConflictReason::InChange => in_request(card),
        LimitConflictReason::Expired => expired(card),
    }
}

impl From<SetLimitsError> for ApiError {
    fn from(error: SetLimitsError) -> Self {
        match error {
            SetLimitsError::UnknownCards(cards) => unknown_cards(cards),
            SetLimitsError::Limit(conflict) => {
                Self::new(StatusCode::CONFLICT, Code::LimitConflict, conflict.to_string())
            }
            SetLimitsError::Conflicts(conflicts) => cards_in_conflict(conflicts, faulty),
            SetLimitsError::Store(error) => error.into(),
        }
    }
}

impl From<LimitChangeError> for ApiError {
    fn from(error: LimitChangeError) -> Self {
        match error {
            LimitChangeError::NotFound => no_such_request(),
            LimitChangeError::Store(error) => error.into(),
        }
    }
}

impl From<LimitResultError> for ApiError {
    fn from(error: LimitResultError) -> Self {
        let code = match error {
            LimitResultError::NotFound => return no_such_request(),
            LimitResultError::NotProcessed => Code::RequestNotProcessed,
            LimitResultError::Cancelled => Code::RequestCancelled,
            LimitResultError::Store(error) => return error.into(),
        };
        Self::new(StatusCode::CONFLICT, code, error.to_string())
    }
}

impl From<CancelLimitChangeError> for ApiError {
    fn from(error: CancelLimitChangeError) -> Self {
        match error {
            CancelLimitChangeError::NotFound => no_such_request(),
            CancelLimitChangeError::WrongState(state) => not_cancellable(state),
            CancelLimitChangeError::Store(error) => error.into(),
        }
    }
}
