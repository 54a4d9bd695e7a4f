//! The arguments of the command line.

use clap::{Args, Subcommand};

use super::card_batches::BatchCommand;
use super::card_batches::closings::ClosingArgs;
use super::card_batches::limits::LimitArgs;
use super::card_batches::top_ups::TopUpArgs;
use super::card_batches::withdrawals::WithdrawalArgs;
use super::cards::CardsCommand;
use super::categories::CategoriesCommand;
use super::employees::EmployeesCommand;
use super::events::EventsCommand;
use super::login::LoginArgs;
use super::orders::OrdersCommand;
use super::profiles::ProfilesCommand;
use super::programmes::ProgrammesCommand;
use super::reports::ReportCommand;
use super::request_log::RequestsArgs;
use super::runs::RunsCommand;
use super::sandbox::SandboxCommand;
use super::sealing::{OpenArgs, SealArgs};
use super::sessions::{PasswordCommand, SessionsCommand};
use super::settings::SettingsCommand;
use super::statements::{EntriesArgs, StatementArgs, TransactionsCommand};
use super::webhooks::WebhooksCommand;
use crate::examples;
use crate::profile;

/// Send requests as a partner.
///
/// Amounts are typed and shown as roubles, always with both digits of kopecks: `1500.00`. In JSON they are kopecks, as in
/// the API.
///
/// Name an employee by idEmployee or customId, a category by idCategory or name, a card by idCard or customIdCard.
///
/// Exit codes: 0 done; 1 error on this side; 2 invalid command line or file; 3 refused values or insufficient balance;
/// 4 not found; 5 credentials not accepted; 6 state conflict; 7 throttled; 8 service unavailable; 9 negative outcome
/// (declined, cancelled, done in part, would not pay); 10 not finished in time; 11 invalid rows in a file; 130
/// interrupted.
#[derive(Debug, Clone, Args)]
pub struct CallArgs {
    /// The profile to use; the current one if absent.
    #[arg(long, global = true, env = "KOPECK_PROFILE", value_parser = profile::parse_name)]
    pub(crate) profile: Option<String>,
    /// Print one JSON document and nothing else; errors are JSON too, on standard error.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: CallCommand,
}

/// The commands.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum CallCommand {
    /// Check credentials and store them as a profile.
    #[command(after_help = examples::LOGIN)]
    Login(LoginArgs),
    /// Profiles: list, choose, remove.
    #[command(subcommand)]
    Profiles(ProfilesCommand),
    /// Sessions of your login: list, end.
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// The password of your login: change.
    #[command(subcommand)]
    Password(PasswordCommand),
    /// Your own requests of the last 14 days: list, follow.
    Requests(RequestsArgs),
    /// Employees: list, read, add, update, import from a file.
    #[command(subcommand)]
    Employees(EmployeesCommand),
    /// Categories of employees: list, create, rename, delete.
    #[command(subcommand)]
    Categories(CategoriesCommand),
    /// The feed of events: list, follow.
    #[command(subcommand)]
    Events(EventsCommand),
    /// Webhooks: create, list, read, change, delete, rotate secrets, test, deliveries.
    #[command(subcommand)]
    Webhooks(WebhooksCommand),
    /// Orders of cards: plastic, virtual, and their results.
    #[command(subcommand)]
    Orders(OrdersCommand),
    /// Cards: read, link, switch, list, export.
    #[command(subcommand)]
    Cards(CardsCommand),
    /// Top-ups of cards: create, and their results.
    #[command(subcommand)]
    Topup(BatchCommand<TopUpArgs>),
    /// Limits of cards: set, and their results.
    #[command(subcommand)]
    Limits(BatchCommand<LimitArgs>),
    /// Closings of cards: create, and their results.
    #[command(subcommand)]
    Closings(BatchCommand<ClosingArgs>),
    /// Withdrawals, money back from cards: create, and their results.
    #[command(subcommand)]
    Withdrawals(BatchCommand<WithdrawalArgs>),
    /// Runs: changes for many people, shown before anything happens.
    #[command(subcommand)]
    Runs(RunsCommand),
    /// Settings: what happens to the cards of employees who leave.
    #[command(subcommand)]
    Settings(SettingsCommand),
    /// Programmes: rules that pay in each week, month, quarter or year.
    #[command(subcommand)]
    Programmes(ProgrammesCommand),
    /// The partner's balance.
    Balance,
    /// The entries of the partner's balance, the oldest first.
    Entries(EntriesArgs),
    /// The statement of a month: totals, or entries as a file.
    #[command(after_help = examples::STATEMENT)]
    Statement(StatementArgs),
    /// What moved on the cards of each employee in a month: show, close.
    #[command(subcommand, after_help = examples::REPORT)]
    Report(ReportCommand),
    /// The transactions of all cards: list, export.
    #[command(subcommand)]
    Transactions(TransactionsCommand),
    /// Operations of a sandbox: deposit, purchase, move the clock, inject faults at the bank.
    #[command(subcommand)]
    Sandbox(SandboxCommand),
    /// Seal standard input, to debug sealing in another language.
    Seal(SealArgs),
    /// Open a sealed value from standard input, likewise.
    Open(OpenArgs),
}
