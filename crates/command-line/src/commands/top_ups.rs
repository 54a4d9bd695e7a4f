//! `kopeck call topup …`.

mod from_csv;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand};
use kopeck_client::{Client, TopUp, Uuid};

use crate::context::IdempotencyArgs;
use crate::examples;
use crate::failure::{Failure, field_of_item};
use crate::money;
use crate::names::{self, CardName};
use crate::output::Output;
use crate::pages::PageArgs;
use crate::requests::{ReferenceArgs, RequestFilterArgs, RequestKind, WaitArgs, changed};
use crate::table::{self, Column, number, text};

/// What can be done with top-ups.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum TopUpCommand {
    /// Top up cards, in one request.
    #[command(after_help = examples::TOP_UP)]
    Create(CreateArgs),
    /// Show the state of a request.
    Status {
        /// The request.
        #[arg(value_parser = names::uuid)]
        replenishment_id: Uuid,
        #[command(flatten)]
        wait: WaitArgs,
    },
    /// Show the result of each card.
    Result {
        /// The request.
        #[arg(value_parser = names::uuid)]
        replenishment_id: Uuid,
    },
    /// Cancel a request that is still NEW.
    Cancel {
        /// The request.
        #[arg(value_parser = names::uuid)]
        replenishment_id: Uuid,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// List requests, the newest first.
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
    /// A card and how much it gets, in roubles with kopecks.
    #[arg(value_name = "CARD=AMOUNT", required_unless_present = "from_csv")]
    cards: Vec<CardAmount>,
    /// Take them from a file with the columns `card` (idCard or customIdCard) or `customId` (of an employee, whose main card
    /// is topped up), and `amount`. With a faulty row nothing is sent.
    #[arg(long, value_name = "FILE", conflicts_with = "cards")]
    from_csv: Option<PathBuf>,
    #[command(flatten)]
    reference: ReferenceArgs,
    #[command(flatten)]
    wait: WaitArgs,
    #[command(flatten)]
    repeat: IdempotencyArgs,
}

/// A card and how much it gets, in kopecks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CardAmount {
    card: CardName,
    amount: i64,
}

impl FromStr for CardAmount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (card, amount) = text.split_once('=').ok_or("must be a card, an equals sign and an amount")?;
        Ok(Self { card: card.parse()?, amount: money::parse(amount)? })
    }
}

impl fmt::Display for CardAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.card, money::shown(self.amount))
    }
}

const COLUMNS: [Column; 6] = [
    text("replenishmentId", "/replenishmentId"),
    text("status", "/status"),
    number("cards", "/numberCards"),
    table::money("amount", "/amount"),
    text("created", "/createdAt"),
    text("reference", "/reference"),
];

/// Runs a command on top-ups.
pub(super) async fn run(client: &Client, command: TopUpCommand) -> Result<Output, Failure> {
    let top_ups = client.replenishments();
    match command {
        TopUpCommand::Create(args) => create(client, args).await,
        TopUpCommand::Status { replenishment_id, wait } => {
            RequestKind::TopUp.status(client, replenishment_id, wait).await
        }
        TopUpCommand::Result { replenishment_id } => {
            RequestKind::TopUp.result(client, replenishment_id, false).await
        }
        TopUpCommand::Cancel { replenishment_id, repeat } => {
            Ok(changed(repeat.send(top_ups.cancel(replenishment_id)).await?))
        }
        TopUpCommand::List { filter, page } => page.answer(&COLUMNS, top_ups.all(&filter.into())).await,
    }
}

async fn create(client: &Client, args: CreateArgs) -> Result<Output, Failure> {
    let (asked, top_ups) = match &args.from_csv {
        Some(path) => from_csv::read(client, path).await?,
        None => named(client, &args.cards).await?,
    };
    let argument = |field: &str| asked.get(field_of_item(field)?.0).cloned();
    let created = args.repeat.send(args.reference.name(client.replenishments().create(&top_ups))).await;
    let created = created.map_err(|failure| failure.naming(argument))?;
    RequestKind::TopUp.accepted(client, created.replenishment_id, args.wait).await
}

/// The top-ups of cards, and how each was typed.
async fn named(client: &Client, asked: &[CardAmount]) -> Result<(Vec<String>, Vec<TopUp>), Failure> {
    let cards: Vec<CardName> = asked.iter().map(|each| each.card.clone()).collect();
    let ids = names::cards(client, &cards).await?;
    let top_ups = ids.into_iter().zip(asked).map(|(id, each)| TopUp::new(id, each.amount)).collect();
    Ok((asked.iter().map(ToString::to_string).collect(), top_ups))
}
