//! Replenishments.

use actix_web::http::StatusCode;
use kopeck_service::replenishments::{
    CancelReplenishmentError, CardConflict, ConflictReason, CreateReplenishmentError, ReplenishmentError,
    ReplenishmentResultError,
};

use crate::code::Code;
use crate::error::{ApiError, FaultyCard};

fn no_such_request() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, Code::RequestNotFound, "there is no such request")
}

fn faulty(conflict: CardConflict) -> FaultyCard {
    let (code, message) = match conflict.reason {
        ConflictReason::InRequest => {
            (Code::CardInRequest, "the card is already in a request being processed; wait for it and retry")
        }
        ConflictReason::NotMain => {
            (Code::CardNotMain, "the card is not a main card; change its status and retry")
        }
        ConflictReason::Expired => (Code::CardExpired, "the card has expired"),
    };
    FaultyCard::new(conflict.card, code, message)
}

impl From<CreateReplenishmentError> for ApiError {
    fn from(error: CreateReplenishmentError) -> Self {
        match error {
            CreateReplenishmentError::UnknownCards(cards) => {
                let unknown = |card| FaultyCard::new(card, Code::CardNotFound, "there is no such card");
                Self::cards(StatusCode::NOT_FOUND, cards.into_iter().map(unknown).collect())
            }
            CreateReplenishmentError::Conflicts(conflicts) => {
                Self::cards(StatusCode::CONFLICT, conflicts.into_iter().map(faulty).collect())
            }
            CreateReplenishmentError::Overflow(overflow) => Self::field("cards", overflow.to_string()),
            CreateReplenishmentError::Store(error) => error.into(),
        }
    }
}

impl From<ReplenishmentError> for ApiError {
    fn from(error: ReplenishmentError) -> Self {
        match error {
            ReplenishmentError::NotFound => no_such_request(),
            ReplenishmentError::Store(error) => error.into(),
        }
    }
}

impl From<ReplenishmentResultError> for ApiError {
    fn from(error: ReplenishmentResultError) -> Self {
        let code = match error {
            ReplenishmentResultError::NotFound => return no_such_request(),
            ReplenishmentResultError::NotProcessed => Code::RequestNotProcessed,
            ReplenishmentResultError::Cancelled => Code::RequestCancelled,
            ReplenishmentResultError::Store(error) => return error.into(),
        };
        Self::new(StatusCode::CONFLICT, code, error.to_string())
    }
}

impl From<CancelReplenishmentError> for ApiError {
    fn from(error: CancelReplenishmentError) -> Self {
        match error {
            CancelReplenishmentError::NotFound => no_such_request(),
            CancelReplenishmentError::WrongState(state) => {
                let message = format!("a request in {state} cannot be cancelled");
                Self::new(StatusCode::CONFLICT, Code::RequestNotCancellable, message)
            }
            CancelReplenishmentError::Store(error) => error.into(),
        }
    }
}
