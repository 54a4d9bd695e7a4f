//! The states of asynchronous requests.

use crate::open_enum::open_enum;

open_enum! {
    /// The state of an order, a top-up request or a change of limits.
    pub enum RequestState as "RequestState",
        "NEW: accepted, can still be cancelled. IN_PROCESS: handed to the bank. SUCCESS: completed. PART_SUCCESS: completed for some cards (never an order). DECLINE: refused for all cards. REJECTED: cancelled by you. CONFIRMED: an order whose receipt you confirmed."
    {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_of_a_newer_service_is_not_final() {
        assert!(!RequestState::from("ON_HOLD").is_final());
    }
}
