//! `kopeck call topup …`.

use std::path::PathBuf;

use clap::Args;
use kopeck_client::{Client, Replenishment, Replenishments, TopUp};

use super::{CardValue, ForCard, NewBatch, from_csv, item_of, items};
use crate::examples;
use crate::failure::Failure;
use crate::money::Amount;
use crate::output::Output;
use crate::requests::NewRequestArgs;
use crate::table::{Column, flag, money, number, text};

/// Which cards, and how much.
#[derive(Debug, Clone, Args)]
pub(crate) struct TopUpArgs {
    /// A card and how much it gets, in roubles with kopecks.
    #[arg(value_name = "CARD=AMOUNT", required_unless_present = "from_csv")]
    cards: Vec<ForCard<Amount>>,
    /// Take them from a file with the columns `card` (idCard or customIdCard) or `customId` (of an employee, whose main card
    /// is topped up), and `amount`. With a faulty row nothing is sent.
    #[arg(long, value_name = "FILE", conflicts_with = "cards")]
    from_csv: Option<PathBuf>,
    #[command(flatten)]
    request: NewRequestArgs,
}

impl CardValue for Amount {
    const NOUN: &'static str = "an amount";
}

impl NewBatch for TopUpArgs {
    type Record = Replenishment;

    const ABOUT: &'static str = "Top up cards, in one request";
    const EXAMPLES: &'static str = examples::TOP_UP;
    const NOUN: &'static str = "request";
    const ID: &'static str = "REPLENISHMENT_ID";
    const COLUMNS: &'static [Column] = &[
        text("replenishmentId", "/replenishmentId"),
        text("status", "/status"),
        number("cards", "/numberCards"),
        money("amount", "/amount"),
        text("created", "/createdAt"),
        text("reference", "/reference"),
    ];
    const RESULT: &'static [Column] = &[
        text("idCard", "/idCard"),
        flag("topped up", "/resultReplenishment"),
        money("amount", "/amountReplenishment"),
        text("reason", "/errorReplenishment"),
    ];

    fn of(client: &Client) -> Replenishments<'_> {
        client.replenishments()
    }

    async fn create(self, client: &Client) -> Result<Output, Failure> {
        let Self { cards, from_csv, request } = self;
        let (typed, top_ups) = match from_csv {
            Some(path) => from_csv::read(client, &path).await?,
            None => named(&cards),
        };
        let created = client.replenishments().create(&top_ups);
        let argument = |field: &str| item_of(field, &typed);
        request.send::<Self, _>(client, created, |created| created.replenishment_id, argument).await
    }
}

/// The top-ups of cards, and how each was typed.
pub(super) fn named(typed: &[ForCard<Amount>]) -> (Vec<String>, Vec<TopUp>) {
    let top_ups = items(typed, |card, amount| TopUp::new(card, amount.0));
    (typed.iter().map(ToString::to_string).collect(), top_ups)
}
