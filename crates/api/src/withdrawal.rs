//! Money that is taken back from cards.

use time::PrimitiveDateTime;
use uuid::Uuid;

use crate::request::RequestState;
use crate::shape::{OrAbsent, Reference, body};
use crate::wire;

body! {
    /// A withdrawal that was accepted.
    pub struct WithdrawalCreated as "WithdrawalAccepted" {
        /// A message for people.
        message: String,
        /// The identifier of the withdrawal.
        withdrawal_id: Uuid,
    }
}

body! {
    /// The outcome of one card of a withdrawal.
    pub struct WithdrawalResult as "WithdrawalResult" {
        /// The card.
        id_card: Uuid,
        /// Whether money was taken from it.
        result_withdrawal: bool,
        /// The amount returned to your balance, kopecks; 0 if it failed.
        amount_withdrawn: i64,
        /// Why nothing was taken: `not enough money on the card`, `the card is closed`, `refused by the
        /// bank`.
        error_withdrawal: Option<String>,
    }
}

body! {
    /// A withdrawal in a list.
    pub struct Withdrawal as "Withdrawal" {
        /// The withdrawal.
        withdrawal_id: Uuid,
        /// Its state.
        state: RequestState = "status",
        /// How many cards it is about.
        number_cards: u64,
        /// The requested total, kopecks; `null` if an item of the request has no amount.
        amount: Option<i64>,
        /// The amount returned to your balance so far, kopecks.
        amount_moved: i64,
        /// When it was accepted.
        #[serde(with = "wire::text")]
        created_at: PrimitiveDateTime,
        /// When its state changed last.
        #[serde(alias = "statusUpdateAt", with = "wire::text")]
        status_updated_at: PrimitiveDateTime,
        /// Your own name for it; `null` if you gave none.
        #[serde(default)]
        reference: Option<String>,
    }
}

body! {
    /// The state of a withdrawal.
    pub struct WithdrawalState as "WithdrawalState" {
        /// Its state.
        message: RequestState,
        /// The withdrawal.
        withdrawal_id: Uuid,
        /// Your own name for it; absent if you gave none.
        #[serde(skip_serializing_if = "Option::is_none")]
        reference: Option<String> as OrAbsent<Reference>,
    }
}
