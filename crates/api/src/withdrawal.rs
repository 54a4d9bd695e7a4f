//! Money that is taken back from cards.

use time::PrimitiveDateTime;
use uuid::Uuid;

use crate::request::RequestState;
use crate::shape::body;
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
    /// What became of one card of a withdrawal.
    pub struct WithdrawalResult as "WithdrawalResult" {
        /// The card.
        id_card: Uuid,
        /// Whether money was taken from it.
        result_withdrawal: bool,
        /// What came back to your balance, kopecks; 0 if nothing did.
        amount_withdrawn: i64,
        /// Why nothing was taken: `not enough money on the card`, `the card is closed`, `refused by the bank`.
        error_withdrawal: Option<String>,
    }
}

body! {
    /// A withdrawal in a list.
    pub struct Withdrawal as "Withdrawal" {
        /// The withdrawal.
        withdrawal_id: Uuid,
        /// Its state.
        status: RequestState,
        /// How many cards it is about.
        number_cards: u64,
        /// The sum asked for, kopecks; `null` if it takes all that is on one of its cards.
        amount: Option<i64>,
        /// What came back to your balance so far, kopecks.
        amount_moved: i64,
        /// When it was accepted.
        #[serde(with = "wire::text")]
        created_at: PrimitiveDateTime,
        /// When its state changed last.
        #[serde(alias = "statusUpdateAt", with = "wire::text")]
        status_updated_at: PrimitiveDateTime,
        /// What you call it; `null` if you gave no reference.
        #[serde(default)]
        reference: Option<String>,
    }
}
