//! Card numbers as texts of digits.

use kopeck_domain::card_number::CardNumber;
use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer, Serializer};

pub(crate) fn serialize<S: Serializer>(number: &CardNumber, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<CardNumber, D::Error> {
    let text = String::deserialize(deserializer)?;
    CardNumber::parse(&text).map_err(|invalid| D::Error::custom(invalid.detail()))
}
