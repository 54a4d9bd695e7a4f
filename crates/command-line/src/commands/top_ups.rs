//! `kopeck call topup …`.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, Subcommand};
use kopeck_client::{Client, TopUp, Uuid};

use crate::context::IdempotencyArgs;
use crate::csv_file::{CsvFile, RowFault};
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
    /// Take them from a file with the columns `card` (idCard or customIdCard) and `amount`. With a faulty row nothing is
    /// sent.
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
    let asked = match &args.from_csv {
        Some(path) => read(path)?,
        None => args.cards,
    };
    let cards: Vec<CardName> = asked.iter().map(|each| each.card.clone()).collect();
    let ids = names::cards(client, &cards).await?;
    let top_ups: Vec<TopUp> =
        ids.into_iter().zip(&asked).map(|(id, each)| TopUp::new(id, each.amount)).collect();
    let argument = |field: &str| asked.get(field_of_item(field)?.0).map(ToString::to_string);
    let created = args.repeat.send(args.reference.name(client.replenishments().create(&top_ups))).await;
    let created = created.map_err(|failure| failure.naming(argument))?;
    RequestKind::TopUp.accepted(client, created.replenishment_id, args.wait).await
}

/// The cards of a file. It is money, so all rows have to be good.
fn read(path: &Path) -> Result<Vec<CardAmount>, Failure> {
    let file = CsvFile::read(path, &["card", "amount"])?;
    for column in ["card", "amount"] {
        if !file.has(column) {
            return Err(Failure::usage(format!("{}: there is no column {column}", path.display())));
        }
    }
    let (cards, faults) = parse(file);
    if !faults.is_empty() {
        return Err(Failure::rows(
            format!("{}: nothing was sent, because of faulty rows:", path.display()),
            &faults,
        ));
    }
    if cards.is_empty() {
        return Err(Failure::usage(format!("{}: there are no rows", path.display())));
    }
    Ok(cards)
}

fn parse(file: CsvFile) -> (Vec<CardAmount>, Vec<RowFault>) {
    let (mut cards, mut seen, mut faults) = (Vec::new(), HashSet::new(), file.faults);
    for row in file.rows {
        let text = row.get("card").unwrap_or_default();
        let card = text.parse::<CardName>().map_err(|why| row.fault(text, "card", why));
        let amount = money::parse(row.get("amount").unwrap_or_default());
        let amount = amount.map_err(|why| row.fault(text, "amount", why));
        match (card, amount) {
            (Ok(card), Ok(_)) if !seen.insert(card.clone()) => {
                faults.push(row.fault(text, "card", "stands in the file twice"));
            }
            (Ok(card), Ok(amount)) => cards.push(CardAmount { card, amount }),
            (card, amount) => faults.extend(card.err().into_iter().chain(amount.err())),
        }
    }
    faults.sort_by_key(|fault| fault.line);
    (cards, faults)
}
