//! Cards and their transactions.

use actix_web::http::StatusCode;
use kopeck_domain::card::{LinkRefusal, SwitchRefusal};
use kopeck_service::cards::{CardError, LinkCardError, SwitchCardError};
use kopeck_service::transactions::TransactionsError;

use crate::code::Code;
use crate::error::ApiError;

/// 404 for a card.
pub(super) fn no_such_card() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, Code::CardNotFound, "there is no such card")
}

/// 503 for data that only the bank has.
pub(super) fn bank_unavailable() -> ApiError {
    ApiError::unavailable(Code::BankUnavailable, "the bank cannot be reached, try again")
}

impl From<CardError> for ApiError {
    fn from(error: CardError) -> Self {
        match error {
            CardError::NotFound => no_such_card(),
            CardError::Store(error) => error.into(),
        }
    }
}

impl From<TransactionsError> for ApiError {
    fn from(error: TransactionsError) -> Self {
        match error {
            TransactionsError::NotFound => no_such_card(),
            TransactionsError::BankUnavailable => bank_unavailable(),
            TransactionsError::Store(error) => error.into(),
        }
    }
}

impl From<LinkCardError> for ApiError {
    fn from(error: LinkCardError) -> Self {
        match error {
            LinkCardError::EmployeeNotFound => super::employees::no_such_employee(),
            LinkCardError::CardNotFound => no_such_card(),
            LinkCardError::Refused(refusal) => {
                let code = match refusal {
                    LinkRefusal::AlreadyLinked => Code::CardAlreadyLinked,
                    LinkRefusal::LinkedToAnother => Code::CardLinkedToAnother,
                    LinkRefusal::NotAvailable => Code::CardNotAvailable,
                    LinkRefusal::Expired => Code::CardExpired,
                    LinkRefusal::HasMainCard => Code::EmployeeHasMainCard,
                };
                Self::new(StatusCode::CONFLICT, code, refusal.to_string())
            }
            LinkCardError::Store(error) => error.into(),
        }
    }
}

impl From<SwitchCardError> for ApiError {
    fn from(error: SwitchCardError) -> Self {
        match error {
            SwitchCardError::EmployeeNotFound => super::employees::no_such_employee(),
            SwitchCardError::CardNotFound => no_such_card(),
            SwitchCardError::Refused(refusal) => {
                let code = match refusal {
                    SwitchRefusal::Expired => Code::CardExpired,
                    SwitchRefusal::Blocked => Code::CardBlocked,
                    SwitchRefusal::HasMainCard => Code::EmployeeHasMainCard,
                };
                Self::new(StatusCode::CONFLICT, code, refusal.to_string())
            }
            SwitchCardError::Store(error) => error.into(),
        }
    }
}
