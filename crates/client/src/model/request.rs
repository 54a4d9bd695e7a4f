//! Asynchronous requests and their states.

use serde::Deserialize;
use uuid::Uuid;

use crate::model::open_enum::open_enum;

open_enum! {
    /// The state of an order, a top-up request or a change of limits.
    pub enum RequestState {
        /// Accepted; can still be cancelled.
        New = "NEW",
        /// Handed to the bank.
        InProcess = "IN_PROCESS",
        /// Done; the result can be read.
        Success = "SUCCESS",
        /// Done for some of the cards. Orders are never in this state.
        PartSuccess = "PART_SUCCESS",
        /// Refused by the bank; nothing has changed.
        Decline = "DECLINE",
        /// Cancelled by the partner.
        Rejected = "REJECTED",
        /// An order whose receipt the partner has confirmed.
        Confirmed = "CONFIRMED",
    }
}

impl RequestState {
    /// Whether the service is done with the request. A state that the client does not know is not final.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        match self {
            Self::Success | Self::PartSuccess | Self::Decline | Self::Rejected | Self::Confirmed => true,
            Self::New | Self::InProcess | Self::Unknown(_) => false,
        }
    }
}

/// A request and its state.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RequestStatus {
    /// The request: an order, a top-up request, or a change of limits.
    #[serde(rename = "orderId", alias = "replenishmentId", alias = "setLimitsCardsId")]
    pub id: Uuid,
    /// Its state.
    #[serde(rename = "message")]
    pub state: RequestState,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_request_has_a_status() {
        for id in ["orderId", "replenishmentId", "setLimitsCardsId"] {
            let json = format!(r#"{{"message":"PART_SUCCESS","{id}":"{}"}}"#, Uuid::nil());
            let status: RequestStatus = serde_json::from_str(&json).unwrap();
            assert_eq!(status, RequestStatus { id: Uuid::nil(), state: RequestState::PartSuccess });
        }
    }

    #[test]
    fn a_state_of_a_newer_service_is_not_final() {
        assert!(!RequestState::from("ON_HOLD").is_final());
    }
}
