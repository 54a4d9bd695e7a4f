//! Options of `kopeck calendar …`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{StoreArgs, examples};

/// Commands for the calendar of holidays, by which the days of programmes move.
#[derive(Debug, Subcommand)]
pub enum CalendarCommand {
    /// Replace the calendar by the days of a CSV file. A faulty row refuses the whole file.
    #[command(after_help = examples::CALENDAR_IMPORT)]
    Import(CalendarImportArgs),
    /// List the days of the calendar.
    List(CalendarListArgs),
}

/// A new calendar.
#[derive(Debug, Args)]
pub struct CalendarImportArgs {
    /// The location of the data.
    #[command(flatten)]
    pub store: StoreArgs,
    /// A file in UTF-8 with the columns `date` (`DD.MM.YYYY`) and `kind`: `holiday` for a day on which nobody works, `working`
    /// for a Saturday or Sunday on which people do.
    pub file: PathBuf,
}

/// Options of the list.
#[derive(Debug, Args)]
pub struct CalendarListArgs {
    /// The location of the data.
    #[command(flatten)]
    pub store: StoreArgs,
    /// Print JSON and nothing else.
    #[arg(long)]
    pub json: bool,
}
