//! The statement of a partner's month.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use kopeck_domain::calendar::CalendarMonth;
use kopeck_domain::ids::PartnerId;

use super::{StoreArgs, partner_id};

/// Whose statement, of which month, and in which form.
#[derive(Debug, Args)]
pub struct StatementArgs {
    /// The location of the data.
    #[command(flatten)]
    pub store: StoreArgs,
    /// The partner's identifier.
    #[arg(value_parser = partner_id)]
    pub partner: PartnerId,
    /// The month, such as `2026-01`.
    #[arg(long, value_parser = CalendarMonth::parse)]
    pub month: CalendarMonth,
    /// A table of totals, the same as JSON, the entries as CSV, or both as a spreadsheet.
    #[arg(long, value_enum, default_value_t)]
    pub format: StatementForm,
    /// Write to this file in place of standard output.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The form of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum StatementForm {
    /// Totals by type and by day, in roubles, for people.
    #[default]
    Table,
    /// Totals by type and by day, in kopecks.
    Json,
    /// The entries, in kopecks.
    Csv,
    /// A spreadsheet of entries and totals, in kopecks.
    Xlsx,
}
