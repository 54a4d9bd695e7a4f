//! `kopeck call report …`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use kopeck_client::{Client, FileFormat, ReportFilter, Uuid};

use super::statements::{FileForm, Lang, download};
use crate::export::check_spreadsheet;
use crate::failure::Failure;
use crate::names::CategoryName;
use crate::output::{Output, json_of};
use crate::table::{self, Column, money, number, text};

/// Commands for the report of a month.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ReportCommand {
    /// Show what moved on the cards of each employee.
    Show(ShowArgs),
    /// Close a month that is over: its report no longer changes.
    Close {
        /// The month, such as `2026-01`.
        month: String,
    },
}

/// Which report.
#[derive(Debug, Clone, Args)]
pub(crate) struct ShowArgs {
    /// The month, such as `2026-01`.
    month: String,
    /// Only employees of this category.
    #[arg(long)]
    category: Option<CategoryName>,
    /// Only whom runs of this programme gave something; `given` is only that.
    #[arg(long)]
    programme: Option<Uuid>,
    /// What to write.
    #[arg(long, value_enum, default_value_t)]
    format: FileForm,
    /// The language of files for people.
    #[arg(long, default_value_t = Lang::En, value_enum)]
    lang: Lang,
    /// Write a file here in place of standard output.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const ROW: [Column; 11] = [
    text("customId", "/customId"),
    text("surname", "/surname"),
    money("opening", "/opening"),
    money("given", "/given"),
    money("spent", "/spent"),
    money("refunded", "/refunded"),
    money("returned", "/returned"),
    money("correction", "/correction"),
    money("late", "/late"),
    money("closing", "/closing"),
    number("payments", "/payments"),
];
const CLOSED: [Column; 2] = [text("month", "/month"), text("sha256", "/sha256")];

/// Runs a command.
pub(super) async fn run(client: &Client, command: ReportCommand) -> Result<Output, Failure> {
    match command {
        ReportCommand::Show(args) => show(client, args).await,
        ReportCommand::Close { month } => {
            let json = json_of(&client.statements().close_report(&month).await?)?;
            let text = table::record(&json, &CLOSED);
            Ok(Output::new(json, text))
        }
    }
}

async fn show(client: &Client, args: ShowArgs) -> Result<Output, Failure> {
    let mut filter = ReportFilter { id_programme: args.programme, ..ReportFilter::default() };
    if let Some(name) = &args.category {
        filter.id_category = Some(name.resolve(client).await?);
    }
    let Some(format) = args.format.file() else {
        let json = json_of(&client.statements().report(&args.month, &filter).await?)?;
        let rows = json.get("data").and_then(|list| list.as_array()).cloned().unwrap_or_default();
        let totals = json.get("totals").cloned().unwrap_or_default();
        let text = table::list(&rows, &ROW) + &table::record(&totals, &ROW[2..]);
        return Ok(Output::new(json, text));
    };
    if format == FileFormat::Xlsx {
        check_spreadsheet(args.output.as_deref())?;
    }
    let language = args.lang.language();
    let file = client.statements().report_file(&args.month, &filter, format, &language).await?;
    download(file, args.output).await
}
