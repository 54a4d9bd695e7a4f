//! What differs.

use std::fmt;

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::date_text;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::ids::PartnerId;
use kopeck_port_bank::BankKey;
use time::Date;

/// A movement of which bank and service do not say the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The day that was compared.
    pub day: Date,
    /// Whose card it is; `None` if no partner has it.
    pub partner: Option<PartnerId>,
    /// The card: the bank's, if the two differ.
    pub card: CardNumber,
    /// The bank's id of the movement, if there is one.
    pub transaction: Option<i64>,
    /// The key of the instruction, if there is one.
    pub key: Option<BankKey>,
    /// What it moved on the card by the service's records, kopecks, below zero if money left the card; `None` if it is not
    /// in them.
    pub here: Option<Kopecks>,
    /// The same by the bank's registry.
    pub there: Option<Kopecks>,
    /// What differs.
    pub kind: DifferenceKind,
}

/// What differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DifferenceKind {
    /// The bank has the movement, the service's records do not.
    MissingHere,
    /// The service's records have the movement, the bank does not.
    MissingThere,
    /// The amounts differ.
    Amount,
    /// The bank carried out what ended otherwise here, or has not ended.
    End {
        /// The state here.
        here: &'static str,
    },
    /// The bank carried one instruction out more than once.
    Twice,
    /// The bank carried an instruction out on another card.
    WrongCard {
        /// The card of the instruction.
        here: CardNumber,
    },
    /// The movement is of another day here.
    WrongDay {
        /// The day here.
        here: Date,
        /// The day at the bank.
        there: Date,
    },
    /// No card here has this number.
    UnknownCard,
}

impl DifferenceKind {
    /// Its name for programs.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::MissingHere => "missing_here",
            Self::MissingThere => "missing_there",
            Self::Amount => "amount",
            Self::End { .. } => "end",
            Self::Twice => "twice",
            Self::WrongCard { .. } => "wrong_card",
            Self::WrongDay { .. } => "wrong_day",
            Self::UnknownCard => "unknown_card",
        }
    }
}

impl fmt::Display for DifferenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingHere => f.write_str("missing here"),
            Self::MissingThere => f.write_str("missing at the bank"),
            Self::Amount => f.write_str("another amount"),
            Self::End { here } => write!(f, "done at the bank, {here} here"),
            Self::Twice => f.write_str("done more than once at the bank"),
            Self::WrongCard { here } => write!(f, "card {here} here"),
            Self::WrongDay { here, there } => {
                write!(f, "{} here, {} at the bank", date_text(*here), date_text(*there))
            }
            Self::UnknownCard => f.write_str("unknown card"),
        }
    }
}
