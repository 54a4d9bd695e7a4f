//! What the sandbox answers.

use serde::Serialize;

use crate::sandbox::PurchaseOutcome;

/// What became of a purchase.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PurchaseDto {
    approved: bool,
    reason: Option<String>,
    transaction_id: Option<i64>,
}

impl From<PurchaseOutcome> for PurchaseDto {
    fn from(outcome: PurchaseOutcome) -> Self {
        match outcome {
            PurchaseOutcome::Approved(id) => Self { approved: true, reason: None, transaction_id: Some(id) },
            PurchaseOutcome::Declined(refusal) => {
                Self { approved: false, reason: Some(refusal.to_string()), transaction_id: None }
            }
        }
    }
}

/// A refund, which is a transaction of its own.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RefundDto {
    success: bool,
    transaction_id: i64,
}

impl RefundDto {
    pub(crate) const fn new(transaction_id: i64) -> Self {
        Self { success: true, transaction_id }
    }
}
