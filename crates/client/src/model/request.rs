//! The state of an asynchronous request.

use kopeck_api::RequestState;
use serde::Deserialize;
use uuid::Uuid;

/// A request and its state.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct RequestStatus {
    /// The request: an order, a top-up request, a change of limits, a closing or a withdrawal.
    #[serde(
        rename = "orderId",
        alias = "replenishmentId",
        alias = "setLimitsCardsId",
        alias = "closingId",
        alias = "withdrawalId"
    )]
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
        for id in ["orderId", "replenishmentId", "setLimitsCardsId", "closingId", "withdrawalId"] {
            let json = format!(r#"{{"message":"PART_SUCCESS","{id}":"{}"}}"#, Uuid::nil());
            let status: RequestStatus = serde_json::from_str(&json).unwrap();
            assert_eq!(status, RequestStatus { id: Uuid::nil(), state: RequestState::PartSuccess });
        }
    }
}
