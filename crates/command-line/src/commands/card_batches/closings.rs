//! `kopeck call closings …`.

use std::fmt;
use std::str::FromStr;

use clap::Args;
use kopeck_client::{CardClosing, Client, Closing, ClosingReason, Closings};

use super::{CardValue, ForCard, NewBatch, item_of, items};
use crate::examples;
use crate::failure::Failure;
use crate::output::Output;
use crate::requests::NewRequestArgs;
use crate::table::{Column, flag, money, number, text};

/// Which cards, and why.
#[derive(Debug, Clone, Args)]
pub(crate) struct ClosingArgs {
    /// A card and why it is closed: lost, stolen, damaged, leaver or other.
    #[arg(value_name = "CARD=REASON", required = true)]
    cards: Vec<ForCard<Reason>>,
    #[command(flatten)]
    request: NewRequestArgs,
}

/// Why a card is closed, in capitals or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reason(ClosingReason);

impl CardValue for Reason {
    const NOUN: &'static str = "a reason";
}

impl FromStr for Reason {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match ClosingReason::from(text.to_uppercase().as_str()) {
            ClosingReason::Unknown(_) => {
                Err("the reason must be lost, stolen, damaged, leaver or other".to_owned())
            }
            reason => Ok(Self(reason)),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.as_str().to_lowercase())
    }
}

impl NewBatch for ClosingArgs {
    type Record = Closing;

    const ABOUT: &'static str = "Close cards for good, in one request";
    const EXAMPLES: &'static str = examples::CLOSINGS;
    const NOUN: &'static str = "closing";
    const ID: &'static str = "CLOSING_ID";
    const NOT_CANCELLED: &'static str = "; one of lost and stolen cards alone cannot be cancelled";
    const COLUMNS: &'static [Column] = &[
        text("closingId", "/closingId"),
        text("status", "/status"),
        number("cards", "/numberCards"),
        money("returned", "/amountMoved"),
        text("created", "/createdAt"),
        text("reference", "/reference"),
    ];
    const RESULT: &'static [Column] = &[
        text("idCard", "/idCard"),
        flag("closed", "/resultClosing"),
        money("returned", "/amountReturned"),
        text("reason", "/errorClosing"),
    ];

    fn of(client: &Client) -> Closings<'_> {
        client.closings()
    }

    async fn create(self, client: &Client) -> Result<Output, Failure> {
        let Self { cards: typed, request } = self;
        let cards = items(&typed, |card, reason| CardClosing::new(card, reason.0.clone()));
        let created = client.closings().create(&cards);
        let argument = |field: &str| item_of(field, &typed);
        request.send::<Self, _>(client, created, |created| created.closing_id, argument).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_has_a_reason() {
        let card = "8747859702=Stolen".parse::<ForCard<Reason>>().unwrap();
        assert_eq!(
            (card.value.0.clone(), card.to_string()),
            (ClosingReason::Stolen, "8747859702=stolen".to_owned())
        );
        for bad in ["8747859702", "8747859702=", "8747859702=tired", "=lost"] {
            assert!(bad.parse::<ForCard<Reason>>().is_err(), "{bad}");
        }
    }
}
