//! `kopeck call closings …`.

use std::fmt;
use std::str::FromStr;

use clap::{Args, Subcommand};
use kopeck_client::{CardClosing, Client, ClosingReason, Uuid};

use crate::context::IdempotencyArgs;
use crate::examples;
use crate::failure::{Failure, field_of_item};
use crate::names::{self, CardName};
use crate::output::Output;
use crate::pages::PageArgs;
use crate::requests::{ReferenceArgs, RequestFilterArgs, RequestKind, WaitArgs, changed};
use crate::table::{self, Column, number, text};

/// What can be done with closings.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ClosingsCommand {
    /// Close cards for good, in one request.
    #[command(after_help = examples::CLOSINGS)]
    Create(CreateArgs),
    /// Show the state of a closing.
    Status {
        /// The closing.
        #[arg(value_parser = names::uuid)]
        closing_id: Uuid,
        #[command(flatten)]
        wait: WaitArgs,
    },
    /// Show the result of each card.
    Result {
        /// The closing.
        #[arg(value_parser = names::uuid)]
        closing_id: Uuid,
    },
    /// Cancel a closing that is still NEW; one of lost and stolen cards alone cannot be cancelled.
    Cancel {
        /// The closing.
        #[arg(value_parser = names::uuid)]
        closing_id: Uuid,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// List closings, the newest first.
    List {
        #[command(flatten)]
        filter: RequestFilterArgs,
        #[command(flatten)]
        page: PageArgs,
    },
}

/// Which cards, and why.
#[derive(Debug, Clone, Args)]
pub(crate) struct CreateArgs {
    /// A card and why it is closed: lost, stolen, damaged, leaver or other.
    #[arg(value_name = "CARD=REASON", required = true)]
    cards: Vec<CardReason>,
    #[command(flatten)]
    reference: ReferenceArgs,
    #[command(flatten)]
    wait: WaitArgs,
    #[command(flatten)]
    repeat: IdempotencyArgs,
}

/// A card and why it is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CardReason {
    card: CardName,
    reason: ClosingReason,
}

impl FromStr for CardReason {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (card, reason) = text.split_once('=').ok_or("must be a card, an equals sign and a reason")?;
        match ClosingReason::from(reason.to_uppercase().as_str()) {
            ClosingReason::Unknown(_) => {
                Err("the reason must be lost, stolen, damaged, leaver or other".to_owned())
            }
            reason => Ok(Self { card: card.parse()?, reason }),
        }
    }
}

impl fmt::Display for CardReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.card, self.reason.as_str().to_lowercase())
    }
}

const COLUMNS: [Column; 6] = [
    text("closingId", "/closingId"),
    text("status", "/status"),
    number("cards", "/numberCards"),
    table::money("returned", "/amountMoved"),
    text("created", "/createdAt"),
    text("reference", "/reference"),
];

/// Runs a command on closings.
pub(super) async fn run(client: &Client, command: ClosingsCommand) -> Result<Output, Failure> {
    let closings = client.closings();
    match command {
        ClosingsCommand::Create(args) => create(client, args).await,
        ClosingsCommand::Status { closing_id, wait } => {
            RequestKind::Closing.status(client, closing_id, wait).await
        }
        ClosingsCommand::Result { closing_id } => {
            RequestKind::Closing.result(client, closing_id, false).await
        }
        ClosingsCommand::Cancel { closing_id, repeat } => {
            Ok(changed(repeat.send(closings.cancel(closing_id)).await?))
        }
        ClosingsCommand::List { filter, page } => page.answer(&COLUMNS, closings.all(&filter.into())).await,
    }
}

async fn create(client: &Client, args: CreateArgs) -> Result<Output, Failure> {
    let asked = args.cards;
    let names: Vec<CardName> = asked.iter().map(|each| each.card.clone()).collect();
    let ids = names::cards(client, &names).await?;
    let cards: Vec<CardClosing> =
        ids.into_iter().zip(&asked).map(|(id, each)| CardClosing::new(id, each.reason.clone())).collect();
    let argument = |field: &str| asked.get(field_of_item(field)?.0).map(ToString::to_string);
    let created = args.repeat.send(args.reference.name(client.closings().create(&cards))).await;
    let created = created.map_err(|failure| failure.naming(argument))?;
    RequestKind::Closing.accepted(client, created.closing_id, args.wait).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_has_a_reason() {
        let card = "8747859702=Stolen".parse::<CardReason>().unwrap();
        assert_eq!(
            (card.reason.clone(), card.to_string()),
            (ClosingReason::Stolen, "8747859702=stolen".to_owned())
        );
        for bad in ["8747859702", "8747859702=", "8747859702=tired", "=lost"] {
            assert!(bad.parse::<CardReason>().is_err(), "{bad}");
        }
    }
}
