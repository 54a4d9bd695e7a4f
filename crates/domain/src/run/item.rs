//! The items of a run.

use crate::Kopecks;
use crate::ids::{CardId, EmployeeId};
use crate::limit::Limit;
use crate::person::CustomId;
use crate::string_enum::serde_enum;

serde_enum! {
    /// What is wrong with an item.
    FaultCode {
        /// A value is not permitted.
        Invalid = "invalid",
        /// A value is missing.
        Missing = "missing",
        /// The person, the card or the employee stands in an earlier item.
        Duplicate = "duplicate",
        /// Two values say the same in different words.
        Ambiguous = "ambiguous",
        /// A cell of a workbook is a formula.
        Formula = "formula",
        /// There is no such employee.
        EmployeeNotFound = "employee_not_found",
        /// The employee has left.
        EmployeeLeft = "employee_left",
        /// There is no such card.
        CardNotFound = "card_not_found",
        /// The employee has no MAIN card.
        NoMainCard = "no_main_card",
        /// The card is no MAIN card.
        CardNotMain = "card_not_main",
        /// The card is closed.
        CardClosed = "card_closed",
        /// The card has expired.
        CardExpired = "card_expired",
        /// The card is blocked.
        CardBlocked = "card_blocked",
        /// Another open request has the card.
        CardInRequest = "card_in_request",
        /// The amount is above that by which the card can be topped up.
        OverCardLimit = "over_card_limit",
        /// The balance of the partner, or of a card that money is taken from, does not cover the amount.
        InsufficientBalance = "insufficient_balance",
        /// There is no such category.
        CategoryNotFound = "category_not_found",
        /// A limit is unlimited and limited at once.
        LimitConflict = "limit_conflict",
    }
}

serde_enum! {
    /// What became of an item.
    Outcome {
        /// Carried out.
        Done = "DONE",
        /// Not carried out: by the service or the bank.
        Refused = "REFUSED",
        /// Passed over: it had a fault, or the employee has left.
        Skipped = "SKIPPED",
    }
}

/// What is wrong with an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The field or column, by the name that the item uses.
    pub field: String,
    /// What is wrong.
    pub code: FaultCode,
    /// The same in words.
    pub detail: String,
}

impl Fault {
    /// A fault of this field.
    pub fn new(field: impl Into<String>, code: FaultCode, detail: impl Into<String>) -> Self {
        Self { field: field.into(), code, detail: detail.into() }
    }
}

/// A value of an item, under its own name.
#[derive(Clone, PartialEq, Eq)]
pub struct Cell {
    /// The field, or the name of the column, as it was given.
    pub name: String,
    /// The value.
    pub value: CellValue,
}

/// Values are personal data.
impl std::fmt::Debug for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cell").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What stands in a cell.
#[derive(Clone, PartialEq, Eq)]
pub enum CellValue {
    /// Nothing: an empty cell, or `null`.
    Blank,
    /// A text, or a number as it is written.
    Text(String),
    /// A formula of a workbook, which is not computed.
    Formula,
}

/// An item of a run: a plain record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunItem {
    /// Its place in the run, from 0.
    pub ordinal: u32,
    /// Where it begins: the place in a list from 1, or the line of a file.
    pub line: u32,
    /// Its values as they were given; empty once the person was erased.
    pub cells: Vec<Cell>,
    /// The limit that it sets.
    pub limit: Option<Limit>,
    /// The employee whom it names, or who has the card that it names.
    pub employee: Option<EmployeeId>,
    /// That employee's identifier of the partner's own, or the one that the item gives.
    pub custom_id: Option<CustomId>,
    /// The card that it led to when the run was made.
    pub card: Option<CardId>,
    /// Whether that was a MAIN card.
    pub is_main: bool,
    /// The kopecks that it moves: of a virtual order, the first top-up of each card.
    pub amount: Option<Kopecks>,
    /// What the card held when a programme decided on the amount.
    pub balance_seen: Option<Kopecks>,
    /// What is wrong with it.
    pub fault: Option<Fault>,
    /// What became of it.
    pub outcome: Option<Outcome>,
    /// Why it was not carried out.
    pub reason: Option<String>,
}
