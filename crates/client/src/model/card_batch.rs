//! Items of card batches.

use std::fmt;

use kopeck_api::ClosingReason;
use serde::Serialize;
use uuid::Uuid;

/// A card, by one of its names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub enum CardRef {
    /// The card itself.
    #[serde(rename = "idCard")]
    Id(Uuid),
    /// The card with this number.
    #[serde(rename = "customIdCard")]
    Number(String),
    /// The main card of an employee.
    #[serde(rename = "idEmployee")]
    Employee(Uuid),
    /// The main card of the employee to whom you gave this identifier.
    #[serde(rename = "customId")]
    CustomId(String),
}

impl CardRef {
    /// The card's identifier, if that is its name.
    #[must_use]
    pub const fn id(&self) -> Option<Uuid> {
        match self {
            Self::Id(id) => Some(*id),
            Self::Number(_) | Self::Employee(_) | Self::CustomId(_) => None,
        }
    }

    /// The card with this number.
    #[must_use]
    pub fn number(custom_id_card: impl Into<String>) -> Self {
        Self::Number(custom_id_card.into())
    }

    /// The main card of an employee.
    #[must_use]
    pub const fn employee(id_employee: Uuid) -> Self {
        Self::Employee(id_employee)
    }

    /// The main card of the employee to whom you gave this identifier.
    #[must_use]
    pub fn custom_id(custom_id: impl Into<String>) -> Self {
        Self::CustomId(custom_id.into())
    }
}

/// The name.
impl fmt::Display for CardRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) | Self::Employee(id) => id.fmt(f),
            Self::Number(name) | Self::CustomId(name) => f.write_str(name),
        }
    }
}

/// The card itself.
impl From<Uuid> for CardRef {
    fn from(id_card: Uuid) -> Self {
        Self::Id(id_card)
    }
}

/// A card to top up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TopUp {
    /// The card, a main one.
    #[serde(flatten)]
    pub card: CardRef,
    /// By how much, in kopecks.
    pub amount_replenishment: i64,
}

impl TopUp {
    /// Tops up `card` by `amount` kopecks.
    #[must_use]
    pub fn new(card: impl Into<CardRef>, amount: i64) -> Self {
        Self { card: card.into(), amount_replenishment: amount }
    }
}

/// A card to close.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CardClosing {
    /// The card.
    #[serde(flatten)]
    pub card: CardRef,
    /// Why; a lost or stolen one is blocked at once.
    pub reason: ClosingReason,
}

impl CardClosing {
    /// Closes `card` for this reason.
    #[must_use]
    pub fn new(card: impl Into<CardRef>, reason: ClosingReason) -> Self {
        Self { card: card.into(), reason }
    }
}

/// A card to take money from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CardWithdrawal {
    /// The card.
    #[serde(flatten)]
    pub card: CardRef,
    /// How much, in kopecks; `None` for all that is on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<i64>,
}

impl CardWithdrawal {
    /// Takes `amount` kopecks from `card`.
    #[must_use]
    pub fn new(card: impl Into<CardRef>, amount: i64) -> Self {
        Self { card: card.into(), amount: Some(amount) }
    }

    /// Takes all that is on `card`.
    #[must_use]
    pub fn all(card: impl Into<CardRef>) -> Self {
        Self { card: card.into(), amount: None }
    }
}
