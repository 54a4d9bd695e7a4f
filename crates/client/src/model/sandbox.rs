//! Commands of a sandbox.

use kopeck_api::wire;
use serde::Serialize;
use time::PrimitiveDateTime;

/// A purchase at a merchant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Purchase {
    /// The price in kopecks.
    pub amount: i64,
    /// The merchant's outlet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The merchant's category code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcc: Option<String>,
    /// The merchant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merchant_id: Option<String>,
    /// When, to the minute, in the service's time zone; in the past or in the future. Default: now.
    #[serde(serialize_with = "wire::text_or_null::serialize", skip_serializing_if = "Option::is_none")]
    pub at: Option<PrimitiveDateTime>,
}

impl Purchase {
    /// For `amount` kopecks, now, at an unnamed merchant.
    #[must_use]
    pub fn new(amount: i64) -> Self {
        Self { amount, ..Self::default() }
    }
}

/// The bank faults from now on; none by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BankBehaviour {
    /// The latency of each response in milliseconds: up to a minute.
    pub latency_ms: u64,
    /// The share of requests that fail without an effect, 0 to 1.
    pub error_rate: f64,
    /// The share of requests that get lost without an effect and without a response, 0 to 1.
    pub lose_request_rate: f64,
    /// The share of requests with an effect and no response, 0 to 1.
    pub lose_answer_rate: f64,
    /// The share of retries with a second effect, 0 to 1.
    pub duplicate_rate: f64,
    /// Whether it leaves purchases and refunds out of its feed.
    pub silent_feed: bool,
    /// Whether it cannot be reached at all.
    pub down: bool,
}
