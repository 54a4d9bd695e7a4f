//! Replenishments.

use actix_web::http::StatusCode;
use kopeck_service::replenishments::{
    CancelReplenishmentError, CardConflict, ConflictReason, CreateReplenishmentError, ReplenishmentError,
    ReplenishmentResultError,
};

use super::requests::{
    cards_in_conflict, expired, in_request, no_such_request, not_cancellable, unknown_cards,
};
use crate::code::Code;
use crate::error::{ApiError, FaultyCard};

fn faulty(CardConflict { card, reason }: CardConflict) -> FaultyCard {
    match reason {
        ConflictReason::InRequest => in_request(card),
        ConflictReason::NotMain => {
            let message = "the card is not a main card; change its status and retry";
            FaultyCard::new(card, Code::CardNotMain, message)
        }
        ConflictReason::Expired => expired(card),
    }
}

impl From<CreateReplenishmentError> for ApiError {
    fn from(error: CreateReplenishmentError) -> Self {
        match error {
            CreateReplenishmentError::UnknownCards(cards) => unknown_cards(cards),
            CreateReplenishmentError::Conflicts(conflicts) => cards_in_conflict(conflicts, faulty),
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
            CancelReplenishmentError::WrongState(state) => not_cancellable(state),
            CancelReplenishmentError::Store(error) => error.into(),
        }
    }
}
