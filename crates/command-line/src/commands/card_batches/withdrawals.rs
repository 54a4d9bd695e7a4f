//! `kopeck call withdrawals …`.

use std::fmt;
use std::str::FromStr;

use clap::Args;
use kopeck_client::{CardWithdrawal, Client, Withdrawal, Withdrawals};

use super::{CardValue, ForCard, NewBatch, item_of, items};
use crate::examples;
use crate::failure::Failure;
use crate::money;
use crate::output::Output;
use crate::requests::NewRequestArgs;
use crate::table::{self, Column, flag, number, text};

/// Which cards, and how much.
#[derive(Debug, Clone, Args)]
pub(crate) struct WithdrawalArgs {
    /// A card and how much to take from it, in roubles with kopecks, or `all`.
    #[arg(value_name = "CARD=AMOUNT", required = true)]
    cards: Vec<ForCard<Part>>,
    #[command(flatten)]
    request: NewRequestArgs,
}

/// Stands for the whole balance of a card.
const ALL: &str = "all";

/// How much to take from a card, in kopecks; `None` for all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part(Option<i64>);

impl CardValue for Part {
    const NOUN: &'static str = "an amount or `all`";
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == ALL { Ok(Self(None)) } else { money::parse(text).map(|amount| Self(Some(amount))) }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.map_or_else(|| ALL.to_owned(), money::shown))
    }
}

impl NewBatch for WithdrawalArgs {
    type Record = Withdrawal;

    const ABOUT: &'static str = "Take money back from cards, in one request";
    const EXAMPLES: &'static str = examples::WITHDRAWALS;
    const NOUN: &'static str = "withdrawal";
    const ID: &'static str = "WITHDRAWAL_ID";
    const COLUMNS: &'static [Column] = &[
        text("withdrawalId", "/withdrawalId"),
        text("status", "/status"),
        number("cards", "/numberCards"),
        table::money("amount", "/amount"),
        table::money("withdrawn", "/amountMoved"),
        text("created", "/createdAt"),
        text("reference", "/reference"),
    ];
    const RESULT: &'static [Column] = &[
        text("idCard", "/idCard"),
        flag("taken", "/resultWithdrawal"),
        table::money("withdrawn", "/amountWithdrawn"),
        text("reason", "/errorWithdrawal"),
    ];

    fn of(client: &Client) -> Withdrawals<'_> {
        client.withdrawals()
    }

    async fn create(self, client: &Client) -> Result<Output, Failure> {
        let Self { cards: typed, request } = self;
        let cards = items(&typed, |card, part| CardWithdrawal { card, amount: part.0 });
        let created = client.withdrawals().create(&cards);
        let argument = |field: &str| item_of(field, &typed);
        request.send::<Self, _>(client, created, |created| created.withdrawal_id, argument).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_gives_an_amount_or_all() {
        for (text, amount) in [("8747859702=1.50", Some(150)), ("8747859702=all", None)] {
            let card = text.parse::<ForCard<Part>>().unwrap();
            assert_eq!((card.value.0, card.to_string()), (amount, text.to_owned()));
        }
        for bad in ["8747859702", "8747859702=", "8747859702=some", "=all"] {
            assert!(bad.parse::<ForCard<Part>>().is_err(), "{bad}");
        }
    }
}
