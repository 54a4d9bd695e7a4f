//! The feed.

use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::event::DeclinedPurchase;
use kopeck_domain::payment::PaymentRefusal;
use kopeck_port_bank::{FeedChange, FeedEntry};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::serde::rfc3339;

use crate::{TransactionDto, number};

/// A piece of the feed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedResponse {
    /// The entries, by ascending number. Fewer than the limit mean that there are no more yet.
    pub entries: Vec<FeedEntryDto>,
}

/// Something that happened to a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedEntryDto {
    /// Its number in the feed, above zero.
    pub seq: i64,
    /// When the bank recorded it.
    #[serde(with = "rfc3339")]
    pub at: OffsetDateTime,
    /// The card.
    #[serde(with = "number")]
    pub card: CardNumber,
    /// The change.
    #[serde(flatten)]
    pub change: FeedChangeDto,
}

/// A change of a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
pub enum FeedChangeDto {
    /// Money moved.
    Transaction {
        /// The transaction, as in the list of the card's transactions.
        transaction: TransactionDto,
        /// The id of the card's transaction before it; absent for the first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        previous_id: Option<i64>,
    },
    /// A purchase was declined.
    Declined {
        /// The purchase.
        purchase: DeclinedDto,
    },
    /// The card was activated.
    Activated,
    /// The card was blocked.
    Blocked,
    /// The card was unblocked.
    Unblocked,
    /// The last day of the card was moved to the past.
    Expired,
    /// Something else about the card changed: also any type that is not known.
    #[serde(other)]
    Changed,
}

/// A purchase that was declined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeclinedDto {
    /// When it was tried.
    #[serde(with = "rfc3339")]
    pub at: OffsetDateTime,
    /// Kopecks, above zero.
    pub amount: Kopecks,
    /// Why: `card_closed`, `card_blocked`, `card_expired`, `not_activated`, `merchant_category`, `day_not_allowed`,
    /// `time_not_allowed`, `limit_exceeded`, `insufficient_funds`, or any other word.
    pub reason: String,
    /// Name of the merchant's outlet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Merchant category code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcc: Option<String>,
    /// The merchant's identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merchant_id: Option<String>,
}

/// The reason of a decline that has none of the known ones.
const OTHER_REASON: &str = "other";

impl From<DeclinedPurchase> for DeclinedDto {
    fn from(declined: DeclinedPurchase) -> Self {
        let DeclinedPurchase { at, amount, reason, place, mcc, merchant_id } = declined;
        let reason = reason.map_or(OTHER_REASON, PaymentRefusal::code).to_owned();
        Self { at, amount, reason, place, mcc, merchant_id }
    }
}

impl From<DeclinedDto> for DeclinedPurchase {
    fn from(dto: DeclinedDto) -> Self {
        let DeclinedDto { at, amount, reason, place, mcc, merchant_id } = dto;
        Self { at, amount, reason: PaymentRefusal::from_code(&reason), place, mcc, merchant_id }
    }
}

impl From<FeedEntry> for FeedEntryDto {
    fn from(entry: FeedEntry) -> Self {
        let FeedEntry { seq, at, card, change } = entry;
        let change = match change {
            FeedChange::Transaction { transaction, previous } => FeedChangeDto::Transaction {
                transaction: transaction.into(),
                previous_id: (previous != 0).then_some(previous),
            },
            FeedChange::Declined(declined) => FeedChangeDto::Declined { purchase: declined.into() },
            FeedChange::Activated => FeedChangeDto::Activated,
            FeedChange::Blocked => FeedChangeDto::Blocked,
            FeedChange::Unblocked => FeedChangeDto::Unblocked,
            FeedChange::Expired => FeedChangeDto::Expired,
            FeedChange::Other => FeedChangeDto::Changed,
        };
        Self { seq, at, card, change }
    }
}

impl From<FeedEntryDto> for FeedEntry {
    fn from(dto: FeedEntryDto) -> Self {
        let FeedEntryDto { seq, at, card, change } = dto;
        let change = match change {
            FeedChangeDto::Transaction { transaction, previous_id } => FeedChange::Transaction {
                transaction: transaction.into(),
                previous: previous_id.unwrap_or(0),
            },
            FeedChangeDto::Declined { purchase } => FeedChange::Declined(purchase.into()),
            FeedChangeDto::Activated => FeedChange::Activated,
            FeedChangeDto::Blocked => FeedChange::Blocked,
            FeedChangeDto::Unblocked => FeedChange::Unblocked,
            FeedChangeDto::Expired => FeedChange::Expired,
            FeedChangeDto::Changed => FeedChange::Other,
        };
        Self { seq, at, card, change }
    }
}

#[cfg(test)]
mod tests {
    use kopeck_domain::transaction::{Transaction, TransactionType};
    use time::macros::datetime;

    use super::*;

    const AT: OffsetDateTime = datetime!(2026-11-21 06:00 UTC);

    fn entry(change: FeedChange) -> FeedEntry {
        FeedEntry { seq: 7, at: AT, card: CardNumber::parse("1000000007").unwrap(), change }
    }

    #[test]
    fn every_entry_survives_the_wire() {
        let transaction = Transaction {
            id: 3,
            executed_at: AT,
            kind: TransactionType::Refund,
            amount: Kopecks::new(5),
            place: None,
            mcc: None,
            merchant_id: None,
        };
        let declined = |reason| DeclinedPurchase {
            at: AT,
            amount: Kopecks::new(5),
            reason,
            place: Some("Пекарня".to_owned()),
            mcc: Some("5462".to_owned()),
            merchant_id: None,
        };
        for change in [
            FeedChange::Transaction { transaction: transaction.clone(), previous: 0 },
            FeedChange::Transaction { transaction, previous: 2 },
            FeedChange::Declined(declined(Some(PaymentRefusal::Closed))),
            FeedChange::Declined(declined(None)),
            FeedChange::Activated,
            FeedChange::Blocked,
            FeedChange::Unblocked,
            FeedChange::Expired,
            FeedChange::Other,
        ] {
            let json = serde_json::to_string(&FeedEntryDto::from(entry(change.clone()))).unwrap();
            let read: FeedEntryDto = serde_json::from_str(&json).unwrap();
            assert_eq!(FeedEntry::from(read), entry(change), "{json}");
        }
        let json = serde_json::to_string(&FeedEntryDto::from(entry(FeedChange::Blocked))).unwrap();
        assert_eq!(json, r#"{"seq":7,"at":"2026-11-21T06:00:00Z","card":"1000000007","type":"BLOCKED"}"#);
    }

    #[test]
    fn a_type_of_a_newer_bank_is_a_change_of_the_card() {
        let json =
            r#"{"seq":7,"at":"2026-11-21T06:00:00Z","card":"1000000007","type":"MELTED","degrees":961}"#;
        let read: FeedEntryDto = serde_json::from_str(json).unwrap();
        assert_eq!(FeedEntry::from(read), entry(FeedChange::Other));
        let half = r#"{"seq":7,"at":"2026-11-21T06:00:00Z","card":"1000000007","type":"TRANSACTION"}"#;
        assert!(serde_json::from_str::<FeedEntryDto>(half).is_err());
    }
}
