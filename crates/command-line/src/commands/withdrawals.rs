//! `kopeck call withdrawals …`.

use std::fmt;
use std::str::FromStr;

use clap::{Args, Subcommand};
use kopeck_client::{CardWithdrawal, Client, Uuid};

use crate::context::IdempotencyArgs;
use crate::examples;
use crate::failure::{Failure, field_of_item};
use crate::money;
use crate::names::{self, CardName};
use crate::output::Output;
use crate::pages::PageArgs;
use crate::requests::{ReferenceArgs, RequestFilterArgs, RequestKind, WaitArgs, changed};
use crate::table::{self, Column, number, text};

/// What can be done with withdrawals.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum WithdrawalsCommand {
    /// Take money back from cards, in one request.
    #[command(after_help = examples::WITHDRAWALS)]
    Create(CreateArgs),
    /// Show the state of a withdrawal.
    Status {
        /// The withdrawal.
        #[arg(value_parser = names::uuid)]
        withdrawal_id: Uuid,
        #[command(flatten)]
        wait: WaitArgs,
    },
    /// Show the result of each card.
    Result {
        /// The withdrawal.
        #[arg(value_parser = names::uuid)]
        withdrawal_id: Uuid,
    },
    /// Cancel a withdrawal that is still NEW.
    Cancel {
        /// The withdrawal.
        #[arg(value_parser = names::uuid)]
        withdrawal_id: Uuid,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// List withdrawals, the newest first.
    List {
        #[command(flatten)]
        filter: RequestFilterArgs,
        #[command(flatten)]
        page: PageArgs,
    },
}

/// Which cards, and how much.
#[derive(Debug, Clone, Args)]
pub(crate) struct CreateArgs {
    /// A card and how much to take from it, in roubles with kopecks, or `all`.
    #[arg(value_name = "CARD=AMOUNT", required = true)]
    cards: Vec<CardAmount>,
    #[command(flatten)]
    reference: ReferenceArgs,
    #[command(flatten)]
    wait: WaitArgs,
    #[command(flatten)]
    repeat: IdempotencyArgs,
}

/// What takes all that is on a card.
const ALL: &str = "all";

/// A card and how much to take from it, in kopecks; `None` for all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CardAmount {
    card: CardName,
    amount: Option<i64>,
}

impl FromStr for CardAmount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (card, amount) =
            text.split_once('=').ok_or("must be a card, an equals sign and an amount or `all`")?;
        let amount = if amount == ALL { None } else { Some(money::parse(amount)?) };
        Ok(Self { card: card.parse()?, amount })
    }
}

impl fmt::Display for CardAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amount = self.amount.map_or_else(|| ALL.to_owned(), money::shown);
        write!(f, "{}={amount}", self.card)
    }
}

const COLUMNS: [Column; 7] = [
    text("withdrawalId", "/withdrawalId"),
    text("status", "/status"),
    number("cards", "/numberCards"),
    table::money("amount", "/amount"),
    table::money("withdrawn", "/amountMoved"),
    text("created", "/createdAt"),
    text("reference", "/reference"),
];

/// Runs a command on withdrawals.
pub(super) async fn run(client: &Client, command: WithdrawalsCommand) -> Result<Output, Failure> {
    let withdrawals = client.withdrawals();
    match command {
        WithdrawalsCommand::Create(args) => create(client, args).await,
        WithdrawalsCommand::Status { withdrawal_id, wait } => {
            RequestKind::Withdrawal.status(client, withdrawal_id, wait).await
        }
        WithdrawalsCommand::Result { withdrawal_id } => {
            RequestKind::Withdrawal.result(client, withdrawal_id, false).await
        }
        WithdrawalsCommand::Cancel { withdrawal_id, repeat } => {
            Ok(changed(repeat.send(withdrawals.cancel(withdrawal_id)).await?))
        }
        WithdrawalsCommand::List { filter, page } => {
            page.answer(&COLUMNS, withdrawals.all(&filter.into())).await
        }
    }
}

async fn create(client: &Client, args: CreateArgs) -> Result<Output, Failure> {
    let asked = args.cards;
    let names: Vec<CardName> = asked.iter().map(|each| each.card.clone()).collect();
    let ids = names::cards(client, &names).await?;
    let cards: Vec<CardWithdrawal> = ids
        .into_iter()
        .zip(&asked)
        .map(|(id, each)| CardWithdrawal { id_card: id, amount: each.amount })
        .collect();
    let argument = |field: &str| asked.get(field_of_item(field)?.0).map(ToString::to_string);
    let created = args.repeat.send(args.reference.name(client.withdrawals().create(&cards))).await;
    let created = created.map_err(|failure| failure.naming(argument))?;
    RequestKind::Withdrawal.accepted(client, created.withdrawal_id, args.wait).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_gives_an_amount_or_all() {
        for (text, amount) in [("8747859702=1.50", Some(150)), ("8747859702=all", None)] {
            let card = text.parse::<CardAmount>().unwrap();
            assert_eq!((card.amount, card.to_string()), (amount, text.to_owned()));
        }
        for bad in ["8747859702", "8747859702=", "8747859702=some", "=all"] {
            assert!(bad.parse::<CardAmount>().is_err(), "{bad}");
        }
    }
}
