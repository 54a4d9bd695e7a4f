//! Errors that top-ups and limit changes share.

use actix_web::http::StatusCode;
use kopeck_domain::ids::CardId;
use kopeck_domain::request::RequestState;

use crate::code::Code;
use crate::error::{ApiError, FaultyCard};

pub(super) fn no_such_request() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, Code::RequestNotFound, "there is no such request")
}

pub(super) fn not_cancellable(state: RequestState) -> ApiError {
    let message = format!("a request in {state} cannot be cancelled");
    ApiError::new(StatusCode::CONFLICT, Code::RequestNotCancellable, message)
}

pub(super) fn unknown_cards(cards: Vec<CardId>) -> ApiError {
    let unknown = |card| FaultyCard::new(card, Code::CardNotFound, "there is no such card");
    ApiError::cards(StatusCode::NOT_FOUND, cards.into_iter().map(unknown).collect())
}

pub(super) fn cards_in_conflict<C>(conflicts: Vec<C>, faulty: fn(C) -> FaultyCard) -> ApiError {
    ApiError::cards(StatusCode::CONFLICT, conflicts.into_iter().map(faulty).collect())
}

pub(super) fn in_request(card: CardId) -> FaultyCard {
    let message = "the card is already in a request being processed; wait for it and retry";
    FaultyCard::new(card, Code::CardInRequest, message)
}

pub(super) fn expired(card: CardId) -> FaultyCard {
    FaultyCard::new(card, Code::CardExpired, "the card has expired")
}
