//! What a sandbox can be told to do.

use serde::{Deserialize, Serialize};
use time::PrimitiveDateTime;

use crate::model::wire;

/// A purchase at a merchant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Purchase {
    /// The price in kopecks.
    pub amount: i64,
    /// The merchant's outlet.
    pub place: String,
    /// The merchant's category code.
    pub mcc: String,
    /// The merchant.
    pub merchant_id: String,
    /// When, in the service's time zone. Default: now.
    #[serde(serialize_with = "wire::serialize_date_time_or_null", skip_serializing_if = "Option::is_none")]
    pub at: Option<PrimitiveDateTime>,
}

/// What became of a purchase.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PurchaseResult {
    /// Whether the card paid.
    pub approved: bool,
    /// Why not.
    #[serde(default)]
    pub reason: Option<String>,
    /// The transaction; a declined purchase is none.
    #[serde(default)]
    pub transaction_id: Option<i64>,
}

/// How the bank misbehaves from now on. The default is not at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BankBehaviour {
    /// How long each of its answers takes, in milliseconds.
    pub latency_ms: u64,
    /// The share of calls that fail before they have any effect, 0 to 1.
    pub error_rate: f64,
    /// The share of calls that are not answered after they had their effect, 0 to 1.
    pub lose_answer_rate: f64,
    /// The share of repeated calls that have their effect again, 0 to 1.
    pub duplicate_rate: f64,
    /// Whether it cannot be reached at all.
    pub down: bool,
}
