//! A card as a request names it: by itself, or by the employee whose MAIN card it is.

use crate::card_number::CardNumber;
use crate::ids::{CardId, EmployeeId};
use crate::person::CustomId;

/// One of the four names of a card. Which card an employee's name leads to changes with the employee's MAIN card.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CardRef {
    /// The card with this identifier.
    Id(CardId),
    /// The card with this number.
    Number(CardNumber),
    /// The MAIN card of the employee with this identifier.
    Employee(EmployeeId),
    /// The MAIN card of the employee with this identifier of the partner's own.
    CustomId(CustomId),
}

impl CardRef {
    /// Whether it names an employee, and so whichever card is the MAIN one.
    #[must_use]
    pub const fn is_person(&self) -> bool {
        matches!(self, Self::Employee(_) | Self::CustomId(_))
    }
}

impl From<CardId> for CardRef {
    fn from(card: CardId) -> Self {
        Self::Id(card)
    }
}

impl From<EmployeeId> for CardRef {
    fn from(employee: EmployeeId) -> Self {
        Self::Employee(employee)
    }
}
