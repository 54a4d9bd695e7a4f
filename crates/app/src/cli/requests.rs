//! Options of `kopeck requests …`.

use clap::{Args, Subcommand};
use kopeck_domain::Kopecks;
use kopeck_domain::ids::CardId;
use uuid::Uuid;

use super::amount::{ConfirmArgs, roubles};
use super::{StoreArgs, examples};

/// Commands for requests that no worker can finish.
#[derive(Debug, Subcommand)]
pub enum RequestsCommand {
    /// List instructions whose outcome is unknown and that cannot be retried safely.
    Stuck(StuckArgs),
    /// Record the final outcome that the bank reports.
    #[command(after_help = examples::SETTLE)]
    Settle(SettleArgs),
}

/// Options of the list.
#[derive(Debug, Args)]
pub struct StuckArgs {
    /// The location of the data.
    #[command(flatten)]
    pub store: StoreArgs,
    /// Print JSON and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// The outcome to record.
#[derive(Debug, Args)]
pub struct SettleArgs {
    /// The location of the data.
    #[command(flatten)]
    pub store: StoreArgs,
    /// The identifier of the order, replenishment, limit change, closing or withdrawal.
    pub id: Uuid,
    /// The outcome at the bank.
    #[arg(long = "as", value_enum)]
    pub outcome: OutcomeArg,
    /// Only this card of the request; all that it waits for, if absent.
    #[arg(long, value_parser = card_id)]
    pub card: Option<CardId>,
    /// The amount returned from the card of an applied closing or withdrawal, in roubles with both digits of kopecks.
    #[arg(long, value_name = "ROUBLES", value_parser = roubles)]
    pub returned: Option<Kopecks>,
    /// Whether to ask about a large amount.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}

/// The outcome of an instruction at the bank.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum OutcomeArg {
    /// It was carried out.
    Applied,
    /// It was not, and never will be.
    Refused,
}

fn card_id(text: &str) -> Result<CardId, String> {
    Uuid::try_parse(text).map(CardId::new).map_err(|_| "must be a uuid".to_owned())
}
