//! The sandbox.

use kopeck_service::partners::PartnerError;

use crate::error::ApiError;
use crate::sandbox::SandboxRefusal;

impl From<SandboxRefusal> for ApiError {
    fn from(error: SandboxRefusal) -> Self {
        match error {
            SandboxRefusal::UnknownCard => super::cards::no_such_card(),
            SandboxRefusal::WrongCode | SandboxRefusal::CodeExpired => {
                Self::field("activationCode", error.to_string())
            }
            SandboxRefusal::UnknownPayment => Self::field("transactionId", error.to_string()),
            SandboxRefusal::OverPayment(_) => Self::field("amount", error.to_string()),
            SandboxRefusal::ClockTooFar => Self::field("seconds", error.to_string()),
            SandboxRefusal::Rate(name) => Self::field(name, error.to_string()),
            SandboxRefusal::Unreachable(reason) => super::cards::bank_unavailable().because(reason),
            SandboxRefusal::Failed(reason) => Self::internal(reason),
        }
    }
}

/// Of a deposit.
impl From<PartnerError> for ApiError {
    fn from(error: PartnerError) -> Self {
        match error {
            PartnerError::NotPositive | PartnerError::Overflow => Self::field("amount", error.to_string()),
            // None of these can happen to a deposit of an authenticated partner under a reference of its own.
            PartnerError::LoginTaken
            | PartnerError::Password(_)
            | PartnerError::NotFound
            | PartnerError::ReferenceUsed(_) => Self::internal(error.to_string()),
            PartnerError::Store(error) => error.into(),
            PartnerError::Security(error) => error.into(),
        }
    }
}
