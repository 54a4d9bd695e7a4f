//! Cards and transactions.

use kopeck_domain::Kopecks;
use kopeck_domain::card::{CardType, Standing};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::transaction::{Transaction, TransactionType};
use kopeck_port_bank::{BankCard, IssuedCard};
use serde::{Deserialize, Serialize};
use time::serde::rfc3339;
use time::{Date, OffsetDateTime};

use crate::convert::same_fields;
use crate::{day, number};

/// A page of the cards issued for an order.
#[derive(Serialize, Deserialize)]
pub struct IssuedCardsResponse {
    /// The cards, in the order of the order's lines. Fewer than the limit mean the end of the list.
    pub cards: Vec<IssuedCardDto>,
}

/// An issued card.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssuedCardDto {
    /// Its number.
    #[serde(with = "number")]
    pub number: CardNumber,
    /// The product.
    #[serde(rename = "type")]
    pub kind: CardType,
    /// The last day on which it is valid.
    #[serde(with = "day")]
    pub valid_until: Date,
    /// Virtual cards: the code that activates it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activation_code: Option<String>,
    /// Virtual cards: the last day on which the code is good.
    #[serde(default, with = "day::option", skip_serializing_if = "Option::is_none")]
    pub code_valid_until: Option<Date>,
    /// Virtual cards: kopecks that it holds from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_top_up: Option<Kopecks>,
    /// Kopecks by which it can be topped up beyond that.
    #[serde(rename = "topUpRoom")]
    pub remaining_top_up: Kopecks,
    /// When it was activated, if it was.
    #[serde(default, with = "rfc3339::option", skip_serializing_if = "Option::is_none")]
    pub activated_at: Option<OffsetDateTime>,
    /// When it was issued.
    #[serde(with = "rfc3339")]
    pub issued_at: OffsetDateTime,
}

same_fields! {
    IssuedCardDto, IssuedCard;
    number, kind, valid_until, activation_code, code_valid_until, first_top_up, remaining_top_up, activated_at, issued_at
}

/// A card of the bank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardResponse {
    /// The card.
    pub card: CardDto,
}

/// The present state of a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardDto {
    /// Its number.
    #[serde(with = "number")]
    pub number: CardNumber,
    /// Kopecks on the card.
    pub balance: Kopecks,
    /// Kopecks by which it can still be topped up.
    pub top_up_room: Kopecks,
    /// Kopecks on the card's account.
    pub account: Kopecks,
    /// When it was activated, if it was.
    #[serde(default, with = "rfc3339::option", skip_serializing_if = "Option::is_none")]
    pub activated_at: Option<OffsetDateTime>,
    /// Whether the bank lets it pay.
    pub standing: Standing,
    /// The last day on which it is valid.
    #[serde(with = "day")]
    pub valid_until: Date,
}

impl CardDto {
    /// The card with this number.
    #[must_use]
    pub const fn new(number: CardNumber, card: BankCard) -> Self {
        let BankCard { balance, remaining_top_up: top_up_room, account, activated_at, standing, valid_until } =
            card;
        Self { number, balance, top_up_room, account, activated_at, standing, valid_until }
    }
}

impl From<CardDto> for BankCard {
    fn from(dto: CardDto) -> Self {
        let CardDto { number: _, balance, top_up_room, account, activated_at, standing, valid_until } = dto;
        Self { balance, remaining_top_up: top_up_room, account, activated_at, standing, valid_until }
    }
}

/// A page of the transactions of a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransactionsResponse {
    /// The transactions, by ascending id. Fewer than the limit mean the end of the list.
    pub transactions: Vec<TransactionDto>,
}

/// A transaction of a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TransactionDto {
    /// The bank's number of it; later ones are greater.
    pub id: i64,
    /// When it happened.
    #[serde(with = "rfc3339")]
    pub executed_at: OffsetDateTime,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: TransactionType,
    /// Kopecks, above zero.
    pub amount: Kopecks,
    /// Name of the merchant's outlet, for spending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Merchant category code, for spending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcc: Option<String>,
    /// The merchant's identifier, for spending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merchant_id: Option<String>,
}

same_fields! { TransactionDto, Transaction; id, executed_at, kind, amount, place, mcc, merchant_id }

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::{date, datetime};

    fn number() -> CardNumber {
        CardNumber::parse("1000000007").unwrap()
    }

    #[test]
    fn an_issued_card_survives_the_wire() {
        let card = IssuedCard {
            number: number(),
            kind: CardType::Mlz,
            valid_until: date!(2029 - 11 - 30),
            activation_code: Some("K7M2Q9XA".to_owned()),
            code_valid_until: Some(date!(2027 - 02 - 19)),
            first_top_up: Some(Kopecks::new(500_000)),
            remaining_top_up: Kopecks::new(1_000_000),
            activated_at: None,
            issued_at: datetime!(2026-11-21 06:00:00.000001 UTC),
        };
        let json = serde_json::to_string(&IssuedCardDto::from(card.clone())).unwrap();
        assert_eq!(
            json,
            "{\"number\":\"1000000007\",\"type\":\"MLZ\",\"validUntil\":\"2029-11-30\",\
             \"activationCode\":\"K7M2Q9XA\",\"codeValidUntil\":\"2027-02-19\",\"firstTopUp\":500000,\
             \"topUpRoom\":1000000,\"issuedAt\":\"2026-11-21T06:00:00.000001Z\"}"
        );
        assert_eq!(IssuedCard::from(serde_json::from_str::<IssuedCardDto>(&json).unwrap()), card);
        let plastic = IssuedCard {
            kind: CardType::Mp4,
            activation_code: None,
            code_valid_until: None,
            first_top_up: None,
            activated_at: Some(datetime!(2026-11-21 06:00 UTC)),
            ..card
        };
        let json = serde_json::to_string(&IssuedCardDto::from(plastic.clone())).unwrap();
        assert_eq!(IssuedCard::from(serde_json::from_str::<IssuedCardDto>(&json).unwrap()), plastic);
    }

    #[test]
    fn a_card_and_its_transactions_survive_the_wire() {
        let card = BankCard {
            balance: Kopecks::new(-5),
            remaining_top_up: Kopecks::new(1_500_000),
            account: Kopecks::new(3),
            activated_at: Some(datetime!(2026-11-21 06:00 UTC)),
            standing: Standing::Blocked,
            valid_until: date!(2029 - 11 - 30),
        };
        let json = serde_json::to_string(&CardResponse { card: CardDto::new(number(), card) }).unwrap();
        assert_eq!(BankCard::from(serde_json::from_str::<CardResponse>(&json).unwrap().card), card);
        let transaction = Transaction {
            id: 7,
            executed_at: datetime!(2026-11-21 09:00 +3),
            kind: TransactionType::Payment,
            amount: Kopecks::new(2_500),
            place: Some("Пекарня".to_owned()),
            mcc: None,
            merchant_id: Some("M-1".to_owned()),
        };
        let json = serde_json::to_string(&TransactionDto::from(transaction.clone())).unwrap();
        assert_eq!(Transaction::from(serde_json::from_str::<TransactionDto>(&json).unwrap()), transaction);
    }
}
