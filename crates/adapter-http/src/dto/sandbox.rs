//! What the sandbox answers.

use crate::openapi::schema::api_type;
use crate::sandbox::PurchaseOutcome;

api_type! {
    /// What became of a purchase.
    #[derive(Clone)]
    pub(crate) struct PurchaseDto as "Purchase" {
        /// Whether the card paid.
        approved: bool,
        /// Why not.
        reason: Option<String>,
        /// The `id` of the payment among the card's transactions; a refused purchase is none, and changes nothing.
        transaction_id: Option<i64>,
    }
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

api_type! {
    /// A refund, which is a transaction of its own.
    #[derive(Clone, Copy)]
    pub(crate) struct RefundDto as "Refund" {
        /// `true`.
        success: bool,
        /// The `id` of the refund among the card's transactions.
        transaction_id: i64,
    }
}

impl RefundDto {
    pub(crate) const fn new(transaction_id: i64) -> Self {
        Self { success: true, transaction_id }
    }
}
