//! The commands.

mod audit;
pub(crate) mod audited;
mod bank_check;
mod bank_simulator;
mod check;
mod confirm;
mod employee;
mod first_start;
mod master_key;
mod migrate;
mod month_file;
mod partner;
mod password;
mod reconcile;
mod report;
mod requests;
mod serve;
mod shutdown;
mod statement;
mod user;
mod webhooks;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap_complete::Shell;
use kopeck_adapter_store_diesel::AuditChain;
use kopeck_adapter_system::{HeadForwarder, start_log_of_command, start_log_of_service};

use crate::cli::{self, Cli, Command, StoreArgs};
use crate::command_output::{note, print};
use crate::compose::{Application, Parts, Storage, SystemAdapters};

/// Runs the command.
///
/// # Errors
/// The reason why the command failed, for the operator.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let exposed = cli::exposed_secrets(std::env::args_os());
    // A partner's commands are no part of the service and have no log.
    if matches!(cli.command, Command::Call(_) | Command::Completion { .. }) {
        exposed.iter().for_each(|each| note(format_args!("warning: {}", exposure(each))));
    } else {
        let serves =
            matches!(cli.command, Command::Serve(_) | Command::Worker(_) | Command::BankSimulator(_));
        if serves {
            start_log_of_service(cli.log_format.into()).context("the system gives no thread")?;
        } else {
            start_log_of_command(cli.log_format.into());
        }
        warn_about_unknown_variables();
        exposed.iter().for_each(|each| log::warn!("{}", exposure(each)));
    }
    match cli.command {
        Command::Serve(args) => serve::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Worker(args) => serve::work(&args).map(|()| ExitCode::SUCCESS),
        Command::Partner(command) => partner::run(command).map(|()| ExitCode::SUCCESS),
        Command::User(command) => user::run(command).map(|()| ExitCode::SUCCESS),
        Command::Requests(command) => requests::run(command).map(|()| ExitCode::SUCCESS),
        Command::Employee(command) => employee::run(command).map(|()| ExitCode::SUCCESS),
        Command::Webhooks(command) => webhooks::run(command).map(|()| ExitCode::SUCCESS),
        Command::MasterKey(command) => master_key::run(command).map(|()| ExitCode::SUCCESS),
        Command::Audit(command) => audit::run(&command),
        Command::BankSimulator(args) => bank_simulator::run(&args).map(|()| ExitCode::SUCCESS),
        Command::BankCheck(args) => Ok(bank_check::run(&args)),
        Command::Migrate(args) => migrate::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Check(args) => check::run(&args),
        Command::Reconcile(args) => Ok(reconcile::run(&args)),
        Command::Report(args) => report::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Statement(args) => statement::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Call(args) => Ok(kopeck_command_line::run(args)),
        Command::Completion { shell } => completion(shell).map(|()| ExitCode::SUCCESS),
    }
}

/// Prints the completion script of a shell.
fn completion(shell: Shell) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli::command(), "kopeck", &mut script);
    print(format_args!("{}", String::from_utf8(script)?))
}

/// Warns of misspelt settings, which would leave their defaults in force.
fn warn_about_unknown_variables() {
    let names = std::env::vars_os().map(|(name, _)| name);
    for cli::UnknownVariable { name, meant } in cli::unknown_variables(names) {
        let meant = meant.map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
        log::warn!("the environment variable {name} is not a setting{meant}");
    }
}

fn exposure(secret: &cli::ExposedSecret) -> String {
    let cli::ExposedSecret { option, instead } = secret;
    format!(
        "{option} is on the command line, where every user of this machine can read it in the list of processes: use \
         {instead} instead"
    )
}

/// The application for commands that may create or migrate the database.
fn application(args: &StoreArgs) -> anyhow::Result<Application> {
    let adapters = SystemAdapters::real();
    let storage = Storage::open(args, &*adapters.entropy, false)?;
    let (adapters, _) = adapters.with_clock_of(&storage.folder)?;
    let keys = storage.keys.ring()?;
    migrate::apply(args, &storage.folder, &keys)?;
    Application::with_parts(args.database_url(), &keys, &adapters, args.settings(), parts(args))
}

/// The application for commands that need an existing database: they neither create nor migrate one.
fn existing_application(args: &StoreArgs) -> anyhow::Result<Application> {
    let adapters = SystemAdapters::real();
    let storage = Storage::open_existing(args)?;
    let (adapters, _) = adapters.with_clock_of(&storage.folder)?;
    let keys = storage.keys.ring()?;
    Application::with_parts(args.database_url(), &keys, &adapters, args.settings(), parts(args))
}

/// Commands share a chain of the audit log, so that none of them can be cut out as a whole.
fn parts(args: &StoreArgs) -> Parts {
    let heads =
        HeadForwarder::new(SystemAdapters::real().wall, args.audit_heads.clone(), log::Level::Debug, drop);
    Parts { audit_heads: Some(Arc::new(heads)), audit_chain: AuditChain::OfCommands, ..Parts::default() }
}
