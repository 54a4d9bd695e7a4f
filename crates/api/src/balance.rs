//! The partner's balance, and what moved on it.

use time::{Date, PrimitiveDateTime};
use uuid::Uuid;

use crate::open_enum::open_enum;
use crate::page::PageMeta;
use crate::shape::body;
use crate::wire;

body! {
    /// Your balance.
    pub struct Balance as "Balance" {
        /// All of your money, kopecks.
        balance: i64,
        /// Held for orders and replenishments that are not done.
        hold: i64,
        /// `balance - hold`, the amount that you can spend; never negative.
        available: i64,
        /// When it last changed.
        #[serde(alias = "updateAt", with = "wire::text")]
        updated_at: PrimitiveDateTime,
    }
}

open_enum! {
    /// The type of an entry of the balance.
    pub enum EntryType as "EntryType",
        "DEPOSIT: money arrived. HOLD: money was held for a request. RELEASE: held money was released. DEBIT: held money was spent. RETURN: money came back from a card. WITHDRAWAL: money was paid to you. CORRECTION: a deposit was reversed."
    {
        /// Money arrived.
        Deposit = "DEPOSIT",
        /// Money was held for a request.
        Hold = "HOLD",
        /// Held money was spent.
        Debit = "DEBIT",
        /// Held money was released.
        Release = "RELEASE",
        /// Money came back from a card.
        Return = "RETURN",
        /// Money was paid to the partner.
        Withdrawal = "WITHDRAWAL",
        /// A deposit was reversed.
        Correction = "CORRECTION",
    }
}

open_enum! {
    /// The kind of object to which an entry of the balance belongs.
    pub enum EntrySourceKind as "EntrySourceKind",
        "A request, a deposit, a payment to you, or the reversal of a deposit."
    {
        /// An order.
        Order = "order",
        /// A top-up request.
        Replenishment = "replenishment",
        /// A closing of cards.
        Closing = "closing",
        /// Money taken back from cards.
        Withdrawal = "withdrawal",
        /// A deposit.
        Deposit = "deposit",
        /// A payment to the partner.
        PartnerWithdrawal = "partner_withdrawal",
        /// The reversal of a deposit.
        Correction = "correction",
    }
}

body! {
    /// The request or operation that an entry belongs to.
    pub struct EntrySource as "EntrySource" {
        /// The kind of object.
        kind: EntrySourceKind,
        /// The request, or `null`.
        id: Option<Uuid>,
        /// Your own name for the request, or the reference of the deposit or payout; `null` if there is none.
        reference: Option<String>,
    }
}

body! {
    /// An entry of your balance.
    pub struct BalanceEntry as "BalanceEntry" {
        /// Its number: from 1, without gaps, in posting order.
        seq: i64,
        /// When it was posted.
        #[serde(with = "wire::text")]
        at: PrimitiveDateTime,
        /// The type.
        entry_type: EntryType = "type",
        /// By how much it changed the available amount, kopecks; 0 for a DEBIT, which captures a hold.
        amount: i64,
        /// Your balance after it, kopecks.
        balance: i64,
        /// The held amount after it, kopecks.
        hold: i64,
        /// The available amount after it: `balance - hold`.
        #[serde(default)]
        available: i64,
        /// By how much it changed your balance: `amount + holdChange`.
        #[serde(default)]
        balance_change: i64,
        /// By how much it changed the held amount, kopecks.
        #[serde(default)]
        hold_change: i64,
        /// The request or operation that it belongs to.
        of: EntrySource,
    }
}

body! {
    /// A page of the entries of your balance.
    pub struct BalanceEntries as "BalanceEntries" {
        /// All of your money at the beginning of the period, kopecks.
        opening: i64,
        /// Your balance at its end, kopecks.
        closing: i64,
        /// Held at the beginning of the period, kopecks.
        #[serde(default)]
        opening_hold: i64,
        /// Available at the beginning of the period: `opening - openingHold`.
        #[serde(default)]
        opening_available: i64,
        /// Held at its end, kopecks.
        #[serde(default)]
        closing_hold: i64,
        /// Available at its end: `closing - closingHold`.
        #[serde(default)]
        closing_available: i64,
        /// The entries, oldest first.
        data: Vec<BalanceEntry>,
        /// The position of the page.
        meta: PageMeta,
    }
}

body! {
    /// The entries of one type in a month.
    pub struct StatementTotal as "StatementTotal" {
        /// The type.
        entry_type: EntryType = "type",
        /// How many entries there are.
        number: u64,
        /// By how much they changed the available amount, kopecks.
        amount: i64,
        /// By how much they changed your balance: `amount + holdChange`.
        #[serde(default)]
        balance_change: i64,
        /// By how much they changed the held amount, kopecks.
        #[serde(default)]
        hold_change: i64,
    }
}

body! {
    /// A day of a month.
    pub struct StatementDay as "StatementDay" {
        /// The day.
        #[serde(with = "wire::text")]
        date: Date,
        /// Your balance at its start, kopecks.
        opening: i64,
        /// Your balance at its end, kopecks.
        closing: i64,
        /// By how much it changed the available amount, kopecks.
        amount: i64,
        /// By how much it changed your balance: `amount + holdChange`.
        #[serde(default)]
        balance_change: i64,
        /// By how much it changed the held amount, kopecks.
        #[serde(default)]
        hold_change: i64,
        /// Held at its start, kopecks.
        #[serde(default)]
        opening_hold: i64,
        /// Available at its start: `opening - openingHold`.
        #[serde(default)]
        opening_available: i64,
        /// Held at its end, kopecks.
        #[serde(default)]
        closing_hold: i64,
        /// Available at its end: `closing - closingHold`.
        #[serde(default)]
        closing_available: i64,
    }
}

body! {
    /// The movements of your balance in a month.
    pub struct Statement as "Statement" {
        /// The month, `YYYY-MM`.
        month: String,
        /// Whether the month is over. If not, entries may follow.
        complete: bool,
        /// Your balance at its start, kopecks.
        opening: i64,
        /// Your balance at its end, kopecks.
        closing: i64,
        /// Held at its start, kopecks.
        #[serde(default)]
        opening_hold: i64,
        /// Available at its start: `opening - openingHold`.
        #[serde(default)]
        opening_available: i64,
        /// Held at its end, kopecks.
        #[serde(default)]
        closing_hold: i64,
        /// Available at its end: `closing - closingHold`.
        #[serde(default)]
        closing_available: i64,
        /// Each type of entry, also those without entries.
        totals: Vec<StatementTotal>,
        /// Each day of the month, up to today.
        days: Vec<StatementDay>,
    }
}
