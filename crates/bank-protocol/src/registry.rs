//! The registry.

use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::RegistryEntry;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::serde::rfc3339;

use crate::{MOST_ROWS, ProtocolError, TransactionDto, check_key, number};

/// The query of the registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RegistryQuery {
    /// The first moment of the period.
    #[serde(with = "rfc3339")]
    pub from: OffsetDateTime,
    /// The moment after its last one.
    #[serde(with = "rfc3339")]
    pub until: OffsetDateTime,
    /// The card of the last entry that was read; absent at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_card: Option<String>,
    /// The id of its transaction.
    #[serde(default)]
    pub after_id: i64,
    /// The most entries.
    #[serde(default = "most_rows")]
    pub limit: u32,
}

fn most_rows() -> u32 {
    MOST_ROWS
}

/// A page of the registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryResponse {
    /// The entries, by ascending card number and, for one card, ascending id. Fewer than the limit mean the end.
    pub entries: Vec<RegistryEntryDto>,
}

/// A movement of money on a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryEntryDto {
    /// The card.
    #[serde(with = "number")]
    pub card: CardNumber,
    /// The key of the instruction that caused it; absent for what holders and merchants do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The movement, as the list of the card's transactions has it.
    pub transaction: TransactionDto,
}

impl From<RegistryEntry> for RegistryEntryDto {
    fn from(entry: RegistryEntry) -> Self {
        let RegistryEntry { card, transaction, key } = entry;
        Self { card, key: key.map(|key| key.as_str().to_owned()), transaction: transaction.into() }
    }
}

impl TryFrom<RegistryEntryDto> for RegistryEntry {
    type Error = ProtocolError;

    fn try_from(dto: RegistryEntryDto) -> Result<Self, ProtocolError> {
        let RegistryEntryDto { card, key, transaction } = dto;
        let key = key.as_deref().map(check_key).transpose()?;
        Ok(Self { card, transaction: transaction.into(), key })
    }
}

#[cfg(test)]
mod tests {
    use kopeck_domain::Kopecks;
    use kopeck_domain::transaction::{Transaction, TransactionType};
    use kopeck_port_bank::BankKey;
    use time::macros::datetime;

    use super::*;

    #[test]
    fn an_entry_survives_the_wire() {
        let transaction = Transaction {
            id: 3,
            executed_at: datetime!(2026-11-21 06:00 UTC),
            kind: TransactionType::Replenishment,
            amount: Kopecks::new(5),
            place: None,
            mcc: None,
            merchant_id: None,
        };
        let card = CardNumber::parse("1000000007").unwrap();
        for key in [None, Some(BankKey::new("order/7d0f").unwrap())] {
            let entry = RegistryEntry { card, transaction: transaction.clone(), key };
            let json = serde_json::to_string(&RegistryEntryDto::from(entry.clone())).unwrap();
            assert_eq!(json.contains("key"), entry.key.is_some(), "{json}");
            let read: RegistryEntryDto = serde_json::from_str(&json).unwrap();
            assert_eq!(RegistryEntry::try_from(read), Ok(entry));
        }
    }
}
