//! The state of an asynchronous request.

use kopeck_api::RequestState;
use kopeck_api::wire::WireText as _;
use serde::Deserialize;
use time::Date;
use uuid::Uuid;

use crate::request::Request;

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
    /// Your own name for it.
    #[serde(default)]
    pub reference: Option<String>,
}

/// Which requests to list; the default lists all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestFilter {
    /// Only those in this state.
    pub state: Option<RequestState>,
    /// Only those with exactly this reference.
    pub reference: Option<String>,
    /// Only those accepted on this day or later.
    pub from: Option<Date>,
    /// Only those accepted on this day or earlier.
    pub to: Option<Date>,
}

impl RequestFilter {
    /// Only requests in one state.
    #[must_use]
    pub fn in_state(state: RequestState) -> Self {
        Self { state: Some(state), ..Self::default() }
    }

    /// Only requests with one reference.
    #[must_use]
    pub fn referred_to_as(reference: impl Into<String>) -> Self {
        Self { reference: Some(reference.into()), ..Self::default() }
    }

    pub(crate) fn add_to(&self, request: Request) -> Request {
        request
            .query("status", self.state.as_ref().map(RequestState::as_str))
            .query("reference", self.reference.as_deref())
            .query("from", self.from.map(|day| day.text()))
            .query("to", self.to.map(|day| day.text()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_request_has_a_status() {
        for id in ["orderId", "replenishmentId", "setLimitsCardsId", "closingId", "withdrawalId"] {
            let json = format!(r#"{{"message":"PART_SUCCESS","{id}":"{}"}}"#, Uuid::nil());
            let status: RequestStatus = serde_json::from_str(&json).unwrap();
            assert_eq!(
                status,
                RequestStatus { id: Uuid::nil(), state: RequestState::PartSuccess, reference: None }
            );
        }
    }
}
