//! `kopeck call topup …`, `limits …`, `closings …` and `withdrawals …`.

pub(crate) mod closings;
mod from_csv;
pub(crate) mod limits;
pub(crate) mod top_ups;
pub(crate) mod withdrawals;

use std::fmt;
use std::str::FromStr;

use clap::{Args, Subcommand};
use kopeck_client::{CardBatchKind, CardRef, Client, Requests, Uuid};
use serde::Serialize;
use serde_json::Value;

use crate::context::IdempotencyArgs;
use crate::failure::{Failure, field_of_item};
use crate::names::{self, CardName};
use crate::output::Output;
use crate::pages::PageArgs;
use crate::requests::{self, RequestCommand, RequestFilterArgs, WaitArgs, changed, listed};
use crate::table::Column;

/// Commands for a kind of card batch; `C` is a new one, as it is typed.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum BatchCommand<C: NewBatch> {
    #[command(name = C::COMMAND, about = C::ABOUT, after_help = C::EXAMPLES)]
    Create(C),
    #[command(about = format!("Show the state of a {}", C::NOUN))]
    Status {
        #[arg(value_name = C::ID, help = format!("The {}", C::NOUN), value_parser = names::uuid)]
        id: Uuid,
        #[command(flatten)]
        wait: WaitArgs,
    },
    /// Show the result of each card.
    Result {
        #[arg(value_name = C::ID, help = format!("The {}", C::NOUN), value_parser = names::uuid)]
        id: Uuid,
    },
    #[command(about = format!("Cancel a {} that is still NEW{}", C::NOUN, C::NOT_CANCELLED))]
    Cancel {
        #[arg(value_name = C::ID, help = format!("The {}", C::NOUN), value_parser = names::uuid)]
        id: Uuid,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    #[command(about = format!("List {}s, the newest first", C::NOUN))]
    List {
        #[command(flatten)]
        filter: RequestFilterArgs,
        #[command(flatten)]
        page: PageArgs,
    },
}

/// A kind of card batch: a new one, as it is typed.
pub(crate) trait NewBatch: Args {
    type Record: CardBatchKind<CardResult: Serialize> + Serialize;

    const COMMAND: &'static str = "create";
    const ABOUT: &'static str;
    const EXAMPLES: &'static str;
    const NOUN: &'static str;
    /// The placeholder of its identifier.
    const ID: &'static str;
    /// Which of them cannot be cancelled.
    const NOT_CANCELLED: &'static str = "";
    /// The columns of a list.
    const COLUMNS: &'static [Column];
    /// The columns of a result.
    const RESULT: &'static [Column];

    fn of(client: &Client) -> Requests<'_, Self::Record>;

    async fn create(self, client: &Client) -> Result<Output, Failure>;
}

impl<C: NewBatch> RequestCommand for C {
    type Record = C::Record;

    fn of(client: &Client) -> Requests<'_, C::Record> {
        C::of(client)
    }

    async fn outcome(client: &Client, id: Uuid, _: bool) -> Result<(Value, String), Failure> {
        listed(&C::of(client).result(id).await?, C::RESULT)
    }
}

/// Runs a command on card batches.
pub(super) async fn run<C: NewBatch>(client: &Client, command: BatchCommand<C>) -> Result<Output, Failure> {
    match command {
        BatchCommand::Create(args) => args.create(client).await,
        BatchCommand::Status { id, wait } => requests::status::<C>(client, id, wait).await,
        BatchCommand::Result { id } => requests::result::<C>(client, id, false).await,
        BatchCommand::Cancel { id, repeat } => {
            Ok(changed(repeat.send(<C as NewBatch>::of(client).cancel(id)).await?))
        }
        BatchCommand::List { filter, page } => {
            page.answer(C::COLUMNS, <C as NewBatch>::of(client).all(&filter.into())).await
        }
    }
}

/// A card and what is to happen to it, typed as `CARD=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForCard<V> {
    card: CardName,
    value: V,
}

/// The argument of a card.
pub(crate) trait CardValue: FromStr<Err = String> + fmt::Display {
    /// With its article.
    const NOUN: &'static str;
}

impl<V: CardValue> FromStr for ForCard<V> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (card, value) =
            text.split_once('=').ok_or_else(|| format!("must be a card, an equals sign and {}", V::NOUN))?;
        let value = value.parse()?;
        Ok(Self { card: card.parse()?, value })
    }
}

impl<V: CardValue> fmt::Display for ForCard<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.card, self.value)
    }
}

/// The items of a batch, in the order in which they were typed.
fn items<V, T>(typed: &[ForCard<V>], item: impl Fn(CardRef, &V) -> T) -> Vec<T> {
    typed.iter().map(|each| item(each.card.clone().into(), &each.value)).collect()
}

/// The item that a field of the request came from, as it was typed.
fn item_of(field: &str, typed: &[impl fmt::Display]) -> Option<String> {
    typed.get(field_of_item(field)?.0).map(ToString::to_string)
}
