//! Orders of cards.

use std::fmt;

use kopeck_api::{CardType, wire};
use serde::{Deserialize, Serialize};
use time::Date;

/// Plastic cards to order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlasticItem {
    /// How many, 1 to 10,000.
    pub number_cards: u32,
    /// [`CardType::Mp4`] or [`CardType::Kkl`].
    pub type_card: CardType,
    /// The address of the delivery.
    pub delivery_address: String,
    /// Full name of the recipient.
    pub recipient: String,
    /// Ten digits, without country code.
    pub phone: String,
}

/// Virtual cards to order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VirtualItem {
    /// How many, 1 to 5,000.
    pub number_cards: u32,
    /// [`CardType::Mlz`].
    pub type_card: CardType,
    /// The first top-up of each, 5,000 to 1,500,000 kopecks.
    pub amount: i64,
}

impl VirtualItem {
    /// Cards that each hold `amount` kopecks from the start.
    #[must_use]
    pub const fn new(number_cards: u32, amount: i64) -> Self {
        Self { number_cards, type_card: CardType::Mlz, amount }
    }
}

/// The cards that an order brought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OrderResult {
    /// The kind of the cards; of an order of several kinds, that of the first.
    pub type_card: CardType,
    /// The cards.
    pub data: Vec<IssuedCard>,
}

/// A card that was issued for an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct IssuedCard {
    /// The kind.
    #[serde(default)]
    pub type_card: Option<CardType>,
    /// The number on the bank's side: 13 digits (EAN) of a plastic card, 10 of a virtual one.
    pub custom_id_card: String,
    /// The code that activates a virtual card.
    #[serde(default)]
    pub activation_code: Option<ActivationCode>,
    /// The last day on which the code of a virtual card can be used.
    #[serde(default, with = "wire::text_or_null")]
    pub validity_period: Option<Date>,
    /// The first top-up of a virtual card, in kopecks.
    #[serde(default)]
    pub amount: Option<i64>,
}

/// The code that activates a virtual card. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActivationCode(String);

impl ActivationCode {
    /// The code itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for ActivationCode {
    fn from(code: String) -> Self {
        Self(code)
    }
}

impl fmt::Debug for ActivationCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ActivationCode(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_both_kinds_are_read_and_codes_not_shown() {
        let json = r#"{"orderId":"0f8fad5b-d9cb-469f-a165-70867728950e","typeCard":"MLZ","data":[
            {"typeCard":"MLZ","customIdCard":"1234567890","activationCode":"hush","validityPeriod":"01.03.2026",
             "amount":5000},
            {"customIdCard":"4006381333931"}]}"#;
        let result: OrderResult = serde_json::from_str(json).unwrap();
        let [virtual_card, plastic] = result.data.as_slice() else { panic!("{result:?}") };
        assert_eq!(virtual_card.activation_code.as_ref().map(ActivationCode::expose), Some("hush"));
        assert_eq!(plastic.activation_code, None);
        assert!(!format!("{result:?}").contains("hush"));
    }
}
