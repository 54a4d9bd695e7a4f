//! Cards and what was paid with them.

use time::{Date, PrimitiveDateTime, Time};
use uuid::Uuid;

use crate::limit::CardLimit;
use crate::open_enum::open_enum;
use crate::shape::{Flat, body};
use crate::wire;

open_enum! {
    /// The kind of a card.
    pub enum CardType as "CardType",
        "MLZ: virtual card of the national payment system. MP4: plastic card of it. KKL: plastic benefits-programme card of it. P04, CP4: plastic cards of international payment networks, which cannot be ordered here."
    {
        /// Virtual card of the national payment system.
        Mlz = "MLZ",
        /// Plastic card of the national payment system.
        Mp4 = "MP4",
        /// Plastic card of the first international payment network; it cannot be ordered.
        P04 = "P04",
        /// Plastic card of the second international payment network; it cannot be ordered.
        Cp4 = "CP4",
        /// Plastic benefits-programme card of the national payment system.
        Kkl = "KKL",
    }
}

open_enum! {
    /// A card, its employee and its status.
    pub enum CardStatus as "CardStatus",
        "MAIN: the card that top-ups go to; an employee has one at most. ADDITIONAL: a further card. TEMPORARILY_BLOCKED: blocked by you, at the bank too; it is not topped up."
    {
        /// The card that top-ups go to; an employee has one at most.
        Main = "MAIN",
        /// An additional card.
        Additional = "ADDITIONAL",
        /// Blocked by the partner, at the bank too: it neither pays nor takes top-ups.
        TemporarilyBlocked = "TEMPORARILY_BLOCKED",
    }
}

open_enum! {
    /// Whether a card can pay, by the bank and by its partner.
    pub enum BankStatus as "BankStatus",
        "OPEN: it can pay. BLOCKING: blocked by you, the bank has not confirmed yet. BLOCKED: blocked by you. UNBLOCKING: not blocked by you any more, the bank has not confirmed yet. BLOCKED_BY_BANK: blocked by the bank. CLOSED: permanently closed."
    {
        /// It can pay.
        Open = "OPEN",
        /// Blocked by the partner; the bank has not confirmed yet.
        Blocking = "BLOCKING",
        /// Blocked by the partner.
        Blocked = "BLOCKED",
        /// Not blocked by the partner any more; the bank has not confirmed yet.
        Unblocking = "UNBLOCKING",
        /// Blocked by the bank.
        BlockedByBank = "BLOCKED_BY_BANK",
        /// Permanently closed.
        Closed = "CLOSED",
    }
}

open_enum! {
    /// The kind of a transaction, which tells the direction of its money.
    pub enum TransactionType as "TransactionType",
        "Implies the direction: REPLENISHMENT and REFUND bring money to the card, PAYMENT takes it, REVERSAL returns it to your balance, CORRECTION is a correction by the bank."
    {
        /// A top-up.
        Replenishment = "REPLENISHMENT",
        /// A payment at a merchant.
        Payment = "PAYMENT",
        /// Money back from a merchant.
        Refund = "REFUND",
        /// Money taken back from the card.
        Reversal = "REVERSAL",
        /// A correction by the bank.
        Correction = "CORRECTION",
    }
}

body! {
    /// A card, linked or not.
    pub struct Card as "Card" {
        /// Our identifier.
        id_card: Uuid,
        /// The employee to whom it is linked; `null` for an unassigned card.
        id_employee: Option<Uuid>,
        /// The bank's number, the same as `customIdCard` elsewhere.
        custom_card_id: u64,
        /// Its type.
        card_type: CardType = "type",
        /// Its status; `null` for an unassigned card.
        status_card: Option<CardStatus>,
        /// Whether it can pay, by the bank and by you.
        bank_status: BankStatus,
        /// Its last day.
        #[serde(with = "wire::text")]
        date_until: Date,
        /// Its account at the bank.
        balance_account: AccountBalance,
        /// The money on it, kopecks.
        balance: i64,
        /// By how much it can still be topped up, kopecks.
        can_to_up: i64,
        /// Its spending limit.
        limit: CardLimit,
        /// Whether it can be used.
        activated: bool,
        /// Since when; a plastic card from its issue.
        #[serde(default, with = "wire::text_or_null")]
        activated_at: Option<Date>,
        /// `true`.
        #[serde(default)]
        success: bool,
    }
}

body! {
    /// A card's account at the bank as of the last daily refresh.
    pub struct AccountBalance as "CardAccount" {
        /// When it was refreshed.
        #[serde(alias = "updatedAt", with = "wire::text")]
        updated_at: PrimitiveDateTime = "updateAt",
        /// The money on it then, kopecks.
        value: i64,
    }
}

body! {
    /// The balance of a card.
    pub struct CardBalance as "CardBalance" {
        /// The card.
        id_card: Uuid,
        /// Its account at the bank.
        balance_account: AccountBalance,
        /// The money on it, kopecks.
        balance: i64,
        /// By how much it can still be topped up, kopecks.
        can_to_up: i64,
    }
}

body! {
    /// An unassigned card in a list.
    pub struct AvailableCard as "UnassignedCard" {
        /// Our identifier.
        id_card: Uuid,
        /// The bank's number: 13 digits (EAN) for plastic, 10 for virtual. You link it by this number.
        custom_id_card: String,
        /// Its type.
        type_card: CardType,
        /// Its last day.
        #[serde(with = "wire::text")]
        date_until: Date,
        /// Whether it can pay.
        bank_status: BankStatus,
    }
}

body! {
    /// A card, its employee and its status.
    pub struct LinkedCard as "Link" {
        /// The employee.
        id_employee: Uuid,
        /// The identifier of the card in all other operations.
        id_card: Uuid,
        /// Its status.
        status_card: CardStatus,
    }
}

body! {
    /// A card and the employee it was linked to.
    pub struct UnlinkedCard as "Unlinked" {
        /// The employee.
        id_employee: Uuid,
        /// The card.
        id_card: Uuid,
    }
}

body! {
    /// A transaction in a list.
    pub struct Transaction as "Transaction" {
        /// Its number.
        id: i64,
        /// The day.
        #[serde(with = "wire::text")]
        date_execution_at: Date,
        /// The time of the day, `HH:MM`.
        #[serde(with = "wire::text")]
        time_execution_at: Time,
        /// Its type, which implies the direction.
        transaction_type: TransactionType = "type",
        /// Kopecks, always positive.
        amount: i64,
        /// The merchant's outlet, where there is one.
        place: Option<String>,
        /// The merchant's category code, where there is one.
        mcc: Option<String>,
        /// The merchant's identifier, where there is one.
        merchant_id: Option<String>,
    }
}

body! {
    /// Whether a card would pay.
    pub struct PaymentAnswer as "Forecast" {
        /// Whether it would pay.
        allowed: bool,
        /// Why not, human-readable: the first reason that applies.
        reason: Option<String>,
        /// Why not, for programs: `card_closed`, `card_blocked`, `card_expired`, `not_activated`,
        /// `merchant_category`,
        /// `day_not_allowed`, `time_not_allowed`, `limit_exceeded`, `insufficient_funds`; later versions
        /// may add codes.
        #[serde(default)]
        code: Option<String>,
        /// The amount that the limit leaves in the period of the payment, before the payment, kopecks;
        /// `null` if the limit has no `amount`.
        remaining: Option<i64>,
        /// The start of the next period, when the limit resets; `null` if the limit has no `amount`.
        #[serde(default, with = "wire::text_or_null")]
        resets_at: Option<PrimitiveDateTime>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_read_in_both_spellings_and_free_or_not() {
        for (spelling, employee, status) in [
            ("updateAt", r#""0f8fad5b-d9cb-469f-a165-70867728950e""#, r#""MAIN""#),
            ("updatedAt", "null", "null"),
        ] {
            let json = format!(
                r#"{{"idCard":"0f8fad5b-d9cb-469f-a165-70867728950e","idEmployee":{employee},
                    "customCardId":4006381333931,"type":"MP4","statusCard":{status},"bankStatus":"OPEN","dateUntil":"31.01.2029",
                    "balanceAccount":{{"{spelling}":"07.02.2026 03:00","value":125000}},"balance":125000,
                    "canToUp":1375000,"limit":{{"unlimited":true,"amount":null,"period":null,"days":[],"times":[]}},
                    "activated":true,"activatedAt":null,"success":true}}"#
            );
            let card: Card = serde_json::from_str(&json).unwrap();
            assert_eq!(card.balance_account.value, 125_000);
            assert_eq!(card.id_employee.is_none(), card.status_card.is_none());
        }
    }
}

body! {
    /// A transaction among those of all cards.
    pub struct PartnerTransaction as "PartnerTransaction" {
        /// Its number among your transactions: from 1, without gaps, in the order in which the service
        /// learnt of them.
        seq: i64,
        /// The card.
        id_card: Uuid,
        /// The employee to whom the card is linked; `null` if there is none.
        id_employee: Option<Uuid>,
        /// Your identifier of them.
        custom_id: Option<String>,
        /// The transaction.
        #[serde(flatten)]
        transaction: Transaction as Flat<Transaction>,
    }
}

body! {
    /// A part of the transactions of all cards.
    pub struct TransactionFeed as "TransactionFeed" {
        /// The transactions, in the order of their numbers.
        data: Vec<PartnerTransaction>,
        /// The `after` of the following request.
        next: i64,
    }
}
