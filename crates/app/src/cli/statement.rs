//! The statement of a partner's month, and the report of what moved on the cards of its employees.

use std::path::PathBuf;
use std::str::FromStr as _;

use clap::{Args, ValueEnum};
use kopeck_adapter_http::Language;
use kopeck_domain::calendar::CalendarMonth;
use kopeck_domain::ids::PartnerId;

use super::{StoreArgs, partner_id};

/// Whose month, and where it is written.
#[derive(Debug, Args)]
pub struct MonthArgs {
    /// The location of the data.
    #[command(flatten)]
    pub store: StoreArgs,
    /// The partner's identifier.
    #[arg(value_parser = partner_id)]
    pub partner: PartnerId,
    /// The month, such as `2026-01`.
    #[arg(long, value_parser = CalendarMonth::parse)]
    pub month: CalendarMonth,
    /// The language of files for people.
    #[arg(long, default_value_t = Language::English, value_parser = Language::from_str)]
    pub lang: Language,
    /// Write to this file in place of standard output.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Options of `statement`.
#[derive(Debug, Args)]
pub struct StatementArgs {
    /// Whose month.
    #[command(flatten)]
    pub of: MonthArgs,
    /// What to write.
    #[arg(long, value_enum, default_value_t)]
    pub format: StatementForm,
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
    /// A spreadsheet of entries and totals, in roubles, for people.
    Xlsx,
    /// The entries as CSV that a spreadsheet program takes apart by itself, in roubles, for people.
    Excel,
    /// 1CClientBankExchange, which programs of 1C import.
    #[value(name = "1c")]
    OneC,
    /// ISO 20022 camt.053.001.08.
    Camt,
}

/// Options of `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Whose month.
    #[command(flatten)]
    pub of: MonthArgs,
    /// What to write.
    #[arg(long, value_enum, default_value_t)]
    pub format: ReportForm,
}

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ReportForm {
    /// A line for each employee and the total, in roubles, for people.
    #[default]
    Table,
    /// The response of the API, in kopecks.
    Json,
    /// A line for each employee, in kopecks.
    Csv,
    /// A spreadsheet, in roubles, for people.
    Xlsx,
    /// CSV that a spreadsheet program takes apart by itself, in roubles, for people.
    Excel,
}
