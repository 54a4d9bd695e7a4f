//! Cards and what was paid with them.

use serde::{Deserialize, Serialize};
use time::{Date, PrimitiveDateTime, Time};
use uuid::Uuid;

use crate::model::limit::CardLimit;
use crate::model::open_enum::open_enum;
use crate::model::wire::{self, WireText as _};
use crate::request::Request;

open_enum! {
    /// The kind of a card.
    pub enum CardType {
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
    /// What a card is to its employee.
    pub enum CardStatus {
        /// The card that top-ups go to; an employee has one at most.
        Main = "MAIN",
        /// An additional card.
        Additional = "ADDITIONAL",
        /// Marked by the partner as out of use: it takes no top-ups. The bank does not know, so it can still pay.
        TemporarilyBlocked = "TEMPORARILY_BLOCKED",
    }
}

open_enum! {
    /// The kind of a transaction, which tells the direction of its money.
    pub enum TransactionType {
        /// A top-up.
        Replenishment = "REPLENISHMENT",
        /// A payment at a merchant.
        Payment = "PAYMENT",
        /// Money back from a merchant.
        Refund = "REFUND",
        /// A payment undone.
        Reversal = "REVERSAL",
        /// A correction by the bank.
        Correction = "CORRECTION",
    }
}

/// A card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Card {
    /// The identifier that the service gave.
    pub id_card: Uuid,
    /// The employee; `None` for an unassigned card.
    #[serde(default)]
    pub id_employee: Option<Uuid>,
    /// The number on the bank's side: 13 digits (EAN) of a plastic card, 10 of a virtual one.
    pub custom_card_id: u64,
    /// The kind.
    #[serde(rename = "type")]
    pub card_type: CardType,
    /// What the card is to its employee; `None` for an unassigned card.
    #[serde(default)]
    pub status_card: Option<CardStatus>,
    /// The last day on which the card is valid.
    #[serde(with = "wire::text")]
    pub date_until: Date,
    /// The card's account at the bank, as of its last daily refresh.
    pub balance_account: AccountBalance,
    /// The balance in kopecks.
    pub balance: i64,
    /// By how much the card can be topped up, in kopecks.
    pub can_to_up: i64,
    /// The limits.
    pub limit: CardLimit,
    /// Whether the card is activated.
    pub activated: bool,
    /// The day it was activated.
    #[serde(default, with = "wire::text_or_null")]
    pub activated_at: Option<Date>,
    /// Whether the data is complete.
    #[serde(default)]
    pub success: bool,
}

/// The balance of a card's account at the bank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountBalance {
    /// When it was refreshed, in the service's time zone. The service is known to spell it in two ways.
    #[serde(rename = "updateAt", alias = "updatedAt", with = "wire::text")]
    pub updated_at: PrimitiveDateTime,
    /// The balance in kopecks.
    pub value: i64,
}

/// The balance of a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardBalance {
    /// The card.
    pub id_card: Uuid,
    /// The card's account at the bank, as of its last daily refresh.
    pub balance_account: AccountBalance,
    /// The balance in kopecks.
    pub balance: i64,
    /// By how much the card can be topped up, in kopecks.
    pub can_to_up: i64,
}

/// A card that is not linked yet to an employee.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AvailableCard {
    /// The identifier that the service gave.
    pub id_card: Uuid,
    /// The number on the bank's side, to link the card by.
    pub custom_id_card: String,
    /// The kind.
    pub type_card: CardType,
    /// The last day on which the card is valid.
    #[serde(with = "wire::text")]
    pub date_until: Date,
}

/// A card and the employee it is linked to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkedCard {
    /// The employee.
    pub id_employee: Uuid,
    /// The card.
    pub id_card: Uuid,
    /// What the card is to the employee.
    pub status_card: CardStatus,
}

/// A movement of money on a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Transaction {
    /// The identifier.
    pub id: i64,
    /// The day, in the service's time zone.
    #[serde(with = "wire::text")]
    pub date_execution_at: Date,
    /// The time of day, to the minute.
    #[serde(with = "wire::text")]
    pub time_execution_at: Time,
    /// The kind.
    #[serde(rename = "type")]
    pub transaction_type: TransactionType,
    /// How much, in kopecks. Positive in either direction.
    pub amount: i64,
    /// The merchant's outlet.
    #[serde(default)]
    pub place: Option<String>,
    /// The merchant's category code.
    #[serde(default)]
    pub mcc: Option<String>,
    /// The merchant.
    #[serde(default)]
    pub merchant_id: Option<String>,
}

/// Which transactions to list. The default lists all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransactionFilter {
    /// Those of this day and later.
    pub from: Option<Date>,
    /// Those of this day and earlier.
    pub to: Option<Date>,
    /// Those of this kind.
    pub transaction_type: Option<TransactionType>,
}

impl TransactionFilter {
    pub(crate) fn add_to(&self, request: Request) -> Request {
        request
            .query("from", self.from.map(|day| day.text()))
            .query("to", self.to.map(|day| day.text()))
            .query("type", self.transaction_type.as_ref().map(TransactionType::as_str))
    }
}

/// Whether a card would pay an amount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentAnswer {
    /// Whether it would.
    pub allowed: bool,
    /// Why not.
    #[serde(default)]
    pub reason: Option<String>,
    /// What the limit leaves to spend in the period, this payment not taken off, in kopecks; `None` without such a
    /// limit.
    #[serde(default)]
    pub remaining: Option<i64>,
    /// When the next period begins, in the service's time zone; `None` without such a limit.
    #[serde(default, with = "wire::text_or_null")]
    pub resets_at: Option<PrimitiveDateTime>,
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
                    "customCardId":4006381333931,"type":"MP4","statusCard":{status},"dateUntil":"31.01.2029",
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
