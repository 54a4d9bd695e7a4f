//! Refusals on the wire, and what cannot be read.

use kopeck_domain::Kopecks;
use serde::{Deserialize, Serialize};

/// The body of every answer that is not a success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// For programs.
    pub code: ErrorCode,
    /// For people; never shows a value of the call.
    pub message: String,
    /// Kopecks of the payment that can still be given back, with [`ErrorCode::OverPayment`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Kopecks>,
}

/// Why a call was refused. Words that are not known here read as [`Other`](Self::Other).
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
    /// 422: more than is left of the payment.
    OverPayment,
    /// 422: the activation code is wrong.
    WrongCode,
    /// 422: the activation code is too old.
    CodeExpired,
    /// 422: further than the clock goes.
    ClockTooFar,
    /// 413: the body is too large.
    TooLarge,
    /// 422: values that break the rules of the protocol.
    Invalid,
    /// 500: the bank failed.
    Internal,
    /// 503: the bank does not answer at present.
    Unavailable,
    /// Any other.
    #[serde(other)]
    Other,
}

/// A value that is not of the protocol. The text names the field and never shows the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {why}")]
pub struct Malformed {
    /// The field.
    pub field: &'static str,
    /// What is wrong with it.
    pub why: &'static str,
}

impl Malformed {
    /// That `field` is wrong, and why.
    #[must_use]
    pub const fn new(field: &'static str, why: &'static str) -> Self {
        Self { field, why }
    }
}
