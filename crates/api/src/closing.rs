//! Closings of cards.

use time::PrimitiveDateTime;
use uuid::Uuid;

use crate::open_enum::open_enum;
use crate::request::RequestState;
use crate::shape::{OrAbsent, Reference, body};
use crate::wire;

open_enum! {
    /// Why a card is closed.
    pub enum ClosingReason as "ClosingReason",
        "Why a card is closed. LOST and STOLEN block it at once. LEAVER: the employee leaves the company."
    {
        /// It is lost.
        Lost = "LOST",
        /// It was stolen.
        Stolen = "STOLEN",
        /// It does not work any more.
        Damaged = "DAMAGED",
        /// Its holder leaves.
        Leaver = "LEAVER",
        /// Another reason.
        Other = "OTHER",
    }
}

body! {
    /// A closing that was accepted.
    pub struct ClosingCreated as "ClosingAccepted" {
        /// A message for people.
        message: String,
        /// The identifier of the closing.
        closing_id: Uuid,
    }
}

body! {
    /// The outcome of one card of a closing.
    pub struct ClosingResult as "ClosingResult" {
        /// The card.
        id_card: Uuid,
        /// Whether it was closed.
        result_closing: bool,
        /// The amount returned to your balance, kopecks; 0 if it was not closed.
        amount_returned: i64,
        /// Why it was not closed: `the card is closed already`, `refused by the bank`.
        error_closing: Option<String>,
    }
}

body! {
    /// A closing in a list.
    pub struct Closing as "Closing" {
        /// The closing.
        closing_id: Uuid,
        /// Its state.
        state: RequestState = "status",
        /// How many cards it is about.
        number_cards: u64,
        /// Always `null`: a closing brings all money of its cards back.
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
    /// The state of a closing.
    pub struct ClosingState as "ClosingState" {
        /// Its state.
        message: RequestState,
        /// The closing.
        closing_id: Uuid,
        /// Your own name for it; absent if you gave none.
        #[serde(skip_serializing_if = "Option::is_none")]
        reference: Option<String> as OrAbsent<Reference>,
    }
}
