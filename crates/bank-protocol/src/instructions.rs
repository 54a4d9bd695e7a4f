//! Instructions on the wire.

use kopeck_domain::Kopecks;
use kopeck_domain::card::CardType;
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::{BankKey, Delivery, Instruction, OrderedCards, Submission};
use serde::{Deserialize, Serialize};

use crate::error::ProtocolError;
use crate::limit::LimitDto;
use crate::number;

/// Instructions, carried out independently.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubmitRequest {
    /// 1 to [`MOST_INSTRUCTIONS`](crate::MOST_INSTRUCTIONS).
    pub instructions: Vec<InstructionDto>,
}

/// An instruction under its key.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", deny_unknown_fields)]
pub enum InstructionDto {
    /// Issue all these cards, or none of them.
    IssueCards {
        /// The key.
        key: String,
        /// The ordered cards.
        lines: Vec<LineDto>,
    },
    /// Put money on a card.
    TopUp {
        /// The key.
        key: String,
        /// The card.
        #[serde(with = "number")]
        card: CardNumber,
        /// Kopecks, above zero.
        amount: Kopecks,
    },
    /// Let a card be spent within a limit from now on.
    SetLimit {
        /// The key.
        key: String,
        /// The card.
        #[serde(with = "number")]
        card: CardNumber,
        /// The new limit.
        limit: LimitDto,
    },
    /// Block a card, or lift that block.
    SetBlock {
        /// The key.
        key: String,
        /// The card.
        #[serde(with = "number")]
        card: CardNumber,
        /// Whether to block it.
        blocked: bool,
        /// Which change of the card's block this is, from 1.
        change: u32,
    },
    /// Close a card permanently, and return its balance.
    CloseCard {
        /// The key.
        key: String,
        /// The card.
        #[serde(with = "number")]
        card: CardNumber,
    },
    /// Take money back from a card.
    Withdraw {
        /// The key.
        key: String,
        /// The card.
        #[serde(with = "number")]
        card: CardNumber,
        /// Kopecks, above zero; absent for all that is on the card.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        amount: Option<Kopecks>,
    },
}

/// A line of an order of cards.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LineDto {
    /// The product.
    #[serde(rename = "type")]
    pub kind: CardType,
    /// How many, above zero.
    pub count: u32,
    /// Virtual cards: kopecks that each holds from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_top_up: Option<Kopecks>,
    /// Plastic cards: where they go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<DeliveryDto>,
}

/// The delivery of plastic cards.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeliveryDto {
    /// Postal address.
    pub address: String,
    /// Full name of the person who receives them.
    pub recipient: String,
    /// Their phone, ten digits.
    pub phone: String,
}

/// Reads a key: 1 to 100 visible ASCII characters.
///
/// # Errors
/// [`ProtocolError`] for anything else.
pub fn check_key(text: &str) -> Result<BankKey, ProtocolError> {
    BankKey::new(text).map_err(|_| ProtocolError::new("key", "must have 1 to 100 visible ASCII characters"))
}

impl From<&Submission> for InstructionDto {
    fn from(submission: &Submission) -> Self {
        let key = submission.key.as_str().to_owned();
        match &submission.instruction {
            Instruction::IssueCards(lines) => {
                Self::IssueCards { key, lines: lines.iter().map(LineDto::from).collect() }
            }
            Instruction::TopUp { card, amount } => Self::TopUp { key, card: *card, amount: *amount },
            Instruction::SetLimit { card, limit } => Self::SetLimit { key, card: *card, limit: limit.into() },
            Instruction::SetBlock { card, blocked, change } => {
                Self::SetBlock { key, card: *card, blocked: *blocked, change: *change }
            }
            Instruction::CloseCard { card } => Self::CloseCard { key, card: *card },
            Instruction::Withdraw { card, amount } => Self::Withdraw { key, card: *card, amount: *amount },
        }
    }
}

impl From<&OrderedCards> for LineDto {
    fn from(line: &OrderedCards) -> Self {
        let delivery = line.delivery.as_ref().map(|delivery| DeliveryDto {
            address: delivery.address.clone(),
            recipient: delivery.recipient.clone(),
            phone: delivery.phone.clone(),
        });
        Self { kind: line.kind, count: line.count, first_top_up: line.first_top_up, delivery }
    }
}

impl TryFrom<InstructionDto> for Submission {
    type Error = ProtocolError;

    fn try_from(dto: InstructionDto) -> Result<Self, ProtocolError> {
        let (key, instruction) = match dto {
            InstructionDto::IssueCards { key, lines } => {
                let lines = lines.into_iter().map(OrderedCards::try_from).collect::<Result<Vec<_>, _>>()?;
                if lines.is_empty() {
                    return Err(ProtocolError::new("lines", "must not be empty"));
                }
                (key, Instruction::IssueCards(lines))
            }
            InstructionDto::TopUp { key, card, amount } => {
                (key, Instruction::TopUp { card, amount: positive("amount", amount)? })
            }
            InstructionDto::SetLimit { key, card, limit } => {
                (key, Instruction::SetLimit { card, limit: (&limit).try_into()? })
            }
            InstructionDto::SetBlock { key, card, blocked, change } => {
                (key, Instruction::SetBlock { card, blocked, change })
            }
            InstructionDto::CloseCard { key, card } => (key, Instruction::CloseCard { card }),
            InstructionDto::Withdraw { key, card, amount } => {
                let amount = amount.map(|amount| positive("amount", amount)).transpose()?;
                (key, Instruction::Withdraw { card, amount })
            }
        };
        Ok(Self { key: check_key(&key)?, instruction })
    }
}

impl TryFrom<LineDto> for OrderedCards {
    type Error = ProtocolError;

    fn try_from(dto: LineDto) -> Result<Self, ProtocolError> {
        if dto.count == 0 {
            return Err(ProtocolError::new("count", "must be above zero"));
        }
        let first_top_up = dto.first_top_up.map(|amount| positive("firstTopUp", amount)).transpose()?;
        let delivery = dto.delivery.map(|delivery| Delivery {
            address: delivery.address,
            recipient: delivery.recipient,
            phone: delivery.phone,
        });
        Ok(Self { kind: dto.kind, count: dto.count, first_top_up, delivery })
    }
}

pub(crate) fn positive(field: &'static str, amount: Kopecks) -> Result<Kopecks, ProtocolError> {
    if amount.is_positive() { Ok(amount) } else { Err(ProtocolError::new(field, "must be above zero")) }
}

#[cfg(test)]
mod tests;
