//! Errors of the protocol.

use kopeck_domain::Kopecks;
use serde::{Deserialize, Serialize};

/// The body of every error response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// For programs.
    pub code: ErrorCode,
    /// For people; shows no value of the request.
    pub message: String,
    /// The refundable rest of the payment in kopecks, with [`ErrorCode::OverPayment`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Kopecks>,
    /// The least number that the feed has, with [`ErrorCode::Forgotten`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest: Option<i64>,
}

/// The error codes. Unknown codes read as [`Other`](Self::Other).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// 400: no JSON, or a parameter that cannot be read.
    Malformed,
    /// 401: the shared secret is missing or wrong.
    Unauthorized,
    /// 404: no such path.
    NotFound,
    /// 404: no such card.
    UnknownCard,
    /// 404: the card has no such payment.
    UnknownPayment,
    /// 405: the path does not take this method.
    MethodNotAllowed,
    /// 408: the body did not arrive in time.
    Timeout,
    /// 410: entries of the feed after this number are no longer kept.
    Forgotten,
    /// 422: more than the refundable rest of the payment.
    OverPayment,
    /// 422: the activation code is wrong.
    WrongCode,
    /// 422: the activation code has expired.
    CodeExpired,
    /// 422: beyond the range of the clock.
    ClockTooFar,
    /// 413: the body is too large.
    TooLarge,
    /// 422: values that break the rules of the protocol.
    Invalid,
    /// 500: the bank failed.
    Internal,
    /// 503: the bank is unavailable.
    Unavailable,
    /// Any other.
    #[serde(other)]
    Other,
}

/// A value outside of the protocol. The text names the field and shows no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {why}")]
pub struct ProtocolError {
    /// The field.
    pub field: &'static str,
    /// The fault.
    pub why: &'static str,
}

impl ProtocolError {
    /// `field` is wrong, because of `why`.
    #[must_use]
    pub const fn new(field: &'static str, why: &'static str) -> Self {
        Self { field, why }
    }
}
