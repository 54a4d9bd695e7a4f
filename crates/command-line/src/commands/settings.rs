//! `kopeck call settings …`.

use clap::{Args, Subcommand};
use kopeck_client::{Client, LeaverSettings};

use super::shown;
use crate::context::IdempotencyArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::table::{Column, flag, number};

/// Commands for settings.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum SettingsCommand {
    /// Show the settings.
    Show,
    /// Set what happens to the cards of employees who leave; without an option, nothing.
    Leavers(LeaversArgs),
}

/// What happens to the cards of employees who leave.
#[derive(Debug, Clone, Args)]
pub(crate) struct LeaversArgs {
    /// Freeze them at once.
    #[arg(long)]
    freeze: bool,
    /// Take back what is left on them after so many days.
    #[arg(long, value_name = "DAYS")]
    take_back_after: Option<u16>,
    /// Close them then.
    #[arg(long, requires = "take_back_after")]
    close: bool,
    #[command(flatten)]
    repeat: IdempotencyArgs,
}

const COLUMNS: [Column; 3] = [
    flag("freeze", "/leavers/freeze"),
    number("take back after days", "/leavers/takeBackAfterDays"),
    flag("close", "/leavers/close"),
];

pub(super) async fn run(client: &Client, command: SettingsCommand) -> Result<Output, Failure> {
    let settings = client.settings();
    match command {
        SettingsCommand::Show => shown(&settings.get().await?, &COLUMNS),
        SettingsCommand::Leavers(LeaversArgs { freeze, take_back_after, close, repeat }) => {
            let take_back_after_days = take_back_after.map(i64::from);
            let leavers = LeaverSettings { freeze, take_back_after_days, close };
            shown(&repeat.send(settings.update(&leavers)).await?, &COLUMNS)
        }
    }
}
