//! `kopeck call sandbox …`.

use clap::{Args, Subcommand};
use kopeck_client::{BankBehaviour, Client, Done, PrimitiveDateTime, Purchase, Uuid, Write};
use serde_json::{Value, json};

use super::balance;
use crate::arguments::whole;
use crate::context::IdempotencyArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::money;
use crate::names::{self, CardName};
use crate::output::Output;
use crate::table::{self, Column, flag, number, text};
use crate::times;

/// Commands for a sandbox.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum SandboxCommand {
    /// Let money arrive on the partner's balance.
    Deposit {
        /// How much, such as `1000.00`.
        #[arg(value_parser = money::parse)]
        amount: i64,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// Buy something with a card. Exit code 9 if it does not pay.
    Purchase(PurchaseArgs),
    /// Give money of a purchase back.
    Refund {
        /// The card.
        card: CardName,
        /// The purchase, as the list of transactions names it.
        #[arg(value_parser = whole(0, None::<i64>))]
        transaction_id: i64,
        /// How much, such as `120.00`.
        #[arg(value_parser = money::parse)]
        amount: i64,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// Let the bank activate a card.
    Activate(CardArgs),
    /// Block a card at the bank.
    Block(CardArgs),
    /// End the block of a card at the bank.
    Unblock(CardArgs),
    /// Let a card expire.
    Expire(CardArgs),
    /// Set the bank faults from now on, for all partners of the sandbox; none without options.
    Bank(BankArgs),
    /// Move the service's clock forward, for all partners of the sandbox.
    AdvanceClock {
        /// By how much: `90s`, `15m`, `24h`.
        #[arg(value_parser = times::duration)]
        by: std::time::Duration,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
}

/// One card.
#[derive(Debug, Clone, Args)]
pub(crate) struct CardArgs {
    /// The card.
    card: CardName,
    #[command(flatten)]
    repeat: IdempotencyArgs,
}

/// A purchase.
#[derive(Debug, Clone, Args)]
pub(crate) struct PurchaseArgs {
    /// The card.
    card: CardName,
    /// The price, such as `120.00`.
    #[arg(value_parser = money::parse)]
    amount: i64,
    /// The merchant's outlet.
    #[arg(long)]
    place: Option<String>,
    /// The merchant's category code.
    #[arg(long)]
    mcc: Option<String>,
    /// The merchant.
    #[arg(long)]
    merchant: Option<String>,
    /// When, `DD.MM.YYYY HH:MM` in the service's zone; now if absent.
    #[arg(long, value_parser = times::moment)]
    at: Option<PrimitiveDateTime>,
    #[command(flatten)]
    repeat: IdempotencyArgs,
}

/// The bank faults.
#[derive(Debug, Clone, Args)]
pub(crate) struct BankArgs {
    /// The latency of each response in milliseconds.
    #[arg(long, default_value_t = 0, value_parser = whole(0, None::<u64>))]
    latency_ms: u64,
    /// The share of requests that fail without an effect, 0 to 1.
    #[arg(long, default_value_t = 0.0)]
    error_rate: f64,
    /// The share of requests that get lost without an effect and without a response, 0 to 1.
    #[arg(long, default_value_t = 0.0)]
    lose_request_rate: f64,
    /// The share of requests with an effect and no response, 0 to 1.
    #[arg(long, default_value_t = 0.0)]
    lose_answer_rate: f64,
    /// The share of retries with a second effect, 0 to 1.
    #[arg(long, default_value_t = 0.0)]
    duplicate_rate: f64,
    /// It leaves purchases and refunds out of its feed.
    #[arg(long)]
    silent_feed: bool,
    /// It cannot be reached at all.
    #[arg(long)]
    down: bool,
    #[command(flatten)]
    repeat: IdempotencyArgs,
}

const PURCHASE: [Column; 3] =
    [flag("paid", "/approved"), text("reason", "/reason"), number("transactionId", "/transactionId")];
const REFUND: [Column; 1] = [number("transactionId", "/transactionId")];

pub(super) async fn run(client: &Client, command: SandboxCommand) -> Result<Output, Failure> {
    let sandbox = client.sandbox();
    match command {
        SandboxCommand::Deposit { amount, repeat } => balance(&repeat.send(sandbox.deposit(amount)).await?),
        SandboxCommand::Purchase(args) => purchase(client, args).await,
        SandboxCommand::Refund { card, transaction_id, amount, repeat } => {
            let card = names::card(client, &card).await?;
            let refund = repeat.send(sandbox.refund(card, transaction_id, amount)).await?;
            Ok(record(json!({ "transactionId": refund.transaction_id }), &REFUND))
        }
        SandboxCommand::Activate(args) => args.send(client, |id| sandbox.activate(id, None)).await,
        SandboxCommand::Block(args) => args.send(client, |id| sandbox.block(id)).await,
        SandboxCommand::Unblock(args) => args.send(client, |id| sandbox.unblock(id)).await,
        SandboxCommand::Expire(args) => args.send(client, |id| sandbox.expire(id)).await,
        SandboxCommand::Bank(args) => {
            let behaviour = args.behaviour();
            args.repeat.send(sandbox.bank(&behaviour)).await.map(|_| done())
        }
        SandboxCommand::AdvanceClock { by, repeat } => {
            repeat.send(sandbox.advance_clock(by.as_secs())).await.map(|_| done())
        }
    }
}

async fn purchase(client: &Client, args: PurchaseArgs) -> Result<Output, Failure> {
    let card = names::card(client, &args.card).await?;
    let PurchaseArgs { amount, place, mcc, merchant: merchant_id, at, repeat, .. } = args;
    let purchase = Purchase { amount, place, mcc, merchant_id, at };
    let result = repeat.send(client.sandbox().purchase(card, &purchase)).await?;
    let exit = if result.approved { Exit::Done } else { Exit::OtherwiseThanAsked };
    let json =
        json!({"approved": result.approved, "reason": result.reason, "transactionId": result.transaction_id});
    Ok(record(json, &PURCHASE).ending(exit))
}

impl CardArgs {
    async fn send(
        self,
        client: &Client,
        change: impl FnOnce(Uuid) -> Write<Done>,
    ) -> Result<Output, Failure> {
        let card = names::card(client, &self.card).await?;
        self.repeat.send(change(card)).await.map(|_| done())
    }
}

impl BankArgs {
    const fn behaviour(&self) -> BankBehaviour {
        BankBehaviour {
            latency_ms: self.latency_ms,
            error_rate: self.error_rate,
            lose_request_rate: self.lose_request_rate,
            lose_answer_rate: self.lose_answer_rate,
            duplicate_rate: self.duplicate_rate,
            silent_feed: self.silent_feed,
            down: self.down,
        }
    }
}

fn record(json: Value, columns: &[Column]) -> Output {
    let text = table::record(&json, columns);
    Output::new(json, text)
}

fn done() -> Output {
    Output::new(json!({ "done": true }), "done\n")
}
