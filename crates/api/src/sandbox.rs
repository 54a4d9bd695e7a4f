//! Commands of a sandbox.

use crate::shape::body;

body! {
    /// The outcome of a purchase.
    pub struct PurchaseResult as "Purchase" {
        /// Whether the card paid.
        approved: bool,
        /// Why not, for people.
        reason: Option<String>,
        /// Why not, for programs: a code as that of a forecast.
        #[serde(default)]
        code: Option<String>,
        /// The `id` of the payment among the card's transactions; `null` for a declined purchase, which
        /// changes nothing.
        transaction_id: Option<i64>,
    }
}

body! {
    /// A refund, a separate transaction.
    pub struct RefundResult as "Refund" {
        /// `true`.
        #[serde(default)]
        success: bool,
        /// The `id` of the refund among the card's transactions.
        transaction_id: i64,
    }
}
