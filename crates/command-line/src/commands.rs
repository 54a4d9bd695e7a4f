//! Runs the commands.

pub(crate) mod args;
pub(crate) mod card_batches;
pub(crate) mod cards;
pub(crate) mod categories;
pub(crate) mod employees;
pub(crate) mod events;
pub(crate) mod login;
pub(crate) mod orders;
pub(crate) mod profiles;
pub(crate) mod programmes;
pub(crate) mod reports;
pub(crate) mod request_log;
pub(crate) mod runs;
pub(crate) mod sandbox;
pub(crate) mod sealing;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod statements;
pub(crate) mod webhooks;

use args::{CallArgs, CallCommand};
use kopeck_client::Client;

use crate::context::Session;
use crate::failure::Failure;
use crate::output::{Output, json_of};
use crate::table::{self, Column, money, text};

const BALANCE: [Column; 4] = [
    money("balance", "/balance"),
    money("hold", "/hold"),
    money("available", "/available"),
    text("updated", "/updatedAt"),
];

/// Runs a command.
pub(crate) async fn run(args: CallArgs) -> Result<Output, Failure> {
    let profile = args.profile.as_deref();
    match args.command {
        CallCommand::Login(args) => login::run(args, profile).await,
        CallCommand::Profiles(command) => profiles::run(&command),
        CallCommand::Password(command) => sessions::change_password(command, profile).await,
        CallCommand::Seal(args) => sealing::seal(&args, profile),
        CallCommand::Open(args) => sealing::open(&args, profile),
        command => {
            let session = Session::open(profile)?;
            let answer = call(&session.client, command, args.json).await;
            session.close().await;
            answer
        }
    }
}

/// Runs a command that needs the service.
async fn call(client: &Client, command: CallCommand, json: bool) -> Result<Output, Failure> {
    match command {
        CallCommand::Employees(command) => employees::run(client, command).await,
        CallCommand::Categories(command) => categories::run(client, command).await,
        CallCommand::Events(command) => events::run(client, command, json).await,
        CallCommand::Webhooks(command) => webhooks::run(client, command, json).await,
        CallCommand::Orders(command) => orders::run(client, command).await,
        CallCommand::Cards(command) => cards::run(client, command).await,
        CallCommand::Topup(command) => card_batches::run(client, command).await,
        CallCommand::Limits(command) => card_batches::run(client, command).await,
        CallCommand::Closings(command) => card_batches::run(client, command).await,
        CallCommand::Withdrawals(command) => card_batches::run(client, command).await,
        CallCommand::Programmes(command) => programmes::run(client, command).await,
        CallCommand::Runs(command) => runs::run(client, command).await,
        CallCommand::Sandbox(command) => sandbox::run(client, command).await,
        CallCommand::Sessions(command) => sessions::run(client, command).await,
        CallCommand::Settings(command) => settings::run(client, command).await,
        CallCommand::Requests(args) => request_log::run(client, args, json).await,
        CallCommand::Balance => balance(&client.balance().await?),
        CallCommand::Entries(args) => statements::entries(client, args).await,
        CallCommand::Statement(args) => statements::statement(client, args).await,
        CallCommand::Report(command) => reports::run(client, command).await,
        CallCommand::Transactions(command) => statements::transactions(client, command).await,
        CallCommand::Login(_)
        | CallCommand::Profiles(_)
        | CallCommand::Password(_)
        | CallCommand::Seal(_)
        | CallCommand::Open(_) => Err(Failure::local("this command needs no client of its own")),
    }
}

/// Shows the partner's balance.
fn balance(balance: &kopeck_client::Balance) -> Result<Output, Failure> {
    shown(balance, &BALANCE)
}

/// Shows one record.
fn shown(record: &impl serde::Serialize, columns: &[Column]) -> Result<Output, Failure> {
    let json = json_of(record)?;
    let text = table::record(&json, columns);
    Ok(Output::new(json, text))
}
