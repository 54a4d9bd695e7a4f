//! `kopeck call entries`, `kopeck call statement` and `kopeck call transactions …`.

use std::io::Write as _;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use kopeck_client::{
    Client, Date, EntryFilter, EntryType, FileFormat, Language, StatementFile, TransactionQuery,
    TransactionType,
};
use serde_json::json;

use crate::arguments::whole;
use crate::export::{ExportArgs, RowWriter, Target, check_spreadsheet};
use crate::failure::Failure;
use crate::names::{self, CardName, EmployeeName};
use crate::output::{Output, json_of};
use crate::pages::PageArgs;
use crate::table::{self, Column, money, number, text};
use crate::times;

/// Which entries of the balance to list.
#[derive(Debug, Clone, Args)]
pub(crate) struct EntriesArgs {
    /// Only records of this day and later, `DD.MM.YYYY`.
    #[arg(long, value_parser = times::date)]
    from: Option<Date>,
    /// Only records of this day and earlier, `DD.MM.YYYY`.
    #[arg(long, value_parser = times::date)]
    to: Option<Date>,
    /// Only those of this type, such as `DEBIT`.
    #[arg(long = "type")]
    entry_type: Option<EntryType>,
    #[command(flatten)]
    page: PageArgs,
}

/// The statement of a month.
#[derive(Debug, Clone, Args)]
pub(crate) struct StatementArgs {
    /// The month, such as `2026-01`.
    month: String,
    /// What to write.
    #[arg(long, value_enum, default_value_t)]
    format: Form,
    /// The language of files for people.
    #[arg(long, default_value_t = Lang::En, value_enum)]
    lang: Lang,
    /// Write to this file in place of standard output.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The form of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Form {
    /// Totals by type and by day, for people.
    #[default]
    Table,
    /// Totals by type and by day.
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

/// The form of a report, or of the result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum FileForm {
    /// A table, for people; JSON with `--json`.
    #[default]
    Table,
    /// The rows, for programs. Amounts of a report are kopecks.
    Csv,
    /// A spreadsheet. Amounts of a report are roubles.
    Xlsx,
    /// The rows as CSV that a spreadsheet program takes apart by itself, in roubles, for people.
    Excel,
}

impl FileForm {
    /// Reads one of these, where not all make sense.
    pub(super) fn among(forms: &[Self]) -> impl TypedValueParser<Value = Self> + use<> {
        let known = forms.iter().filter_map(ValueEnum::to_possible_value);
        PossibleValuesParser::new(known).try_map(|text| Self::from_str(&text, false))
    }

    /// The format of the file; none of a table.
    pub(super) const fn file(self) -> Option<FileFormat> {
        match self {
            Self::Table => None,
            Self::Csv => Some(FileFormat::Csv),
            Self::Xlsx => Some(FileFormat::Xlsx),
            Self::Excel => Some(FileFormat::ExcelCsv),
        }
    }
}

/// The language of a file for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Lang {
    /// English.
    En,
    /// Russian.
    Ru,
}

impl Lang {
    /// The language as the service names it.
    pub(super) const fn language(self) -> Language {
        match self {
            Self::En => Language::English,
            Self::Ru => Language::Russian,
        }
    }
}

/// Commands for the transactions of all cards.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum TransactionsCommand {
    /// List transactions in the order in which the service received them.
    List {
        #[command(flatten)]
        which: TransactionArgs,
        /// The most transactions, 1 to 1000.
        #[arg(long, default_value_t = 100, value_parser = whole(1, Some(1_000_u64)))]
        limit: u64,
    },
    /// Write transactions as a file, all that there are behind a number. Amounts are in kopecks.
    Export {
        #[command(flatten)]
        which: TransactionArgs,
        #[command(flatten)]
        file: ExportArgs,
    },
}

/// Which transactions.
#[derive(Debug, Clone, Args)]
pub(crate) struct TransactionArgs {
    /// The number after which to begin: `seq` of the last transaction you have; 0 for the first.
    #[arg(long, default_value_t = 0, value_parser = whole(0, None::<i64>))]
    after: i64,
    /// Only transactions of this day or later, `DD.MM.YYYY`.
    #[arg(long, value_parser = times::date)]
    from: Option<Date>,
    /// Only transactions of this day or earlier, `DD.MM.YYYY`.
    #[arg(long, value_parser = times::date)]
    to: Option<Date>,
    /// Only those of this kind, such as `PAYMENT`.
    #[arg(long = "type")]
    transaction_type: Option<TransactionType>,
    /// Only those of this card.
    #[arg(long)]
    card: Option<CardName>,
    /// Only those of the cards that this employee has.
    #[arg(long)]
    employee: Option<EmployeeName>,
}

const ENTRY: [Column; 9] = [
    number("seq", "/seq"),
    text("at", "/at"),
    text("type", "/type"),
    money("amount", "/amount"),
    money("balance", "/balance"),
    money("hold", "/hold"),
    money("available", "/available"),
    text("of", "/of/kind"),
    text("reference", "/of/reference"),
];
const TRANSACTION: [Column; 8] = [
    number("seq", "/seq"),
    text("date", "/dateExecutionAt"),
    text("time", "/timeExecutionAt"),
    text("type", "/type"),
    money("amount", "/amount"),
    text("customId", "/customId"),
    text("idCard", "/idCard"),
    text("place", "/place"),
];

/// Lists entries of the balance, and the balances at the ends of the period.
pub(super) async fn entries(client: &Client, args: EntriesArgs) -> Result<Output, Failure> {
    let filter = EntryFilter { from: args.from, to: args.to, entry_type: args.entry_type };
    let found = client.statements().entries(&filter, kopeck_client::Paging::page(1).per_page(1)).await?;
    let listed = args.page.answer(&ENTRY, client.statements().all_entries(&filter)).await?;
    let ends = json!({
        "opening": found.opening,
        "openingHold": found.opening_hold,
        "openingAvailable": found.opening_available,
        "closing": found.closing,
        "closingHold": found.closing_hold,
        "closingAvailable": found.closing_available,
    });
    let shown = |balance, hold, available| {
        let [balance, hold, available] = [balance, hold, available].map(crate::money::shown);
        format!("balance {balance}, hold {hold}, available {available}")
    };
    let between = format!(
        "opening {}\nclosing {}\n",
        shown(found.opening, found.opening_hold, found.opening_available),
        shown(found.closing, found.closing_hold, found.closing_available)
    );
    Ok(listed.with(&ends, &between))
}

/// Runs a command on the transactions of all cards.
pub(super) async fn transactions(client: &Client, command: TransactionsCommand) -> Result<Output, Failure> {
    match command {
        TransactionsCommand::List { which, limit } => {
            let query = TransactionQuery { limit: Some(limit), ..which.query(client).await? };
            let feed = client.statements().transactions(&query).await?;
            let rows = feed.data.iter().map(json_of).collect::<Result<Vec<_>, _>>()?;
            let text = format!("{}next: --after {}\n", table::list(&rows, &TRANSACTION), feed.next);
            Ok(Output::new(json_of(&feed)?, text))
        }
        TransactionsCommand::Export { which, file } => {
            let query = TransactionQuery { limit: Some(MOST), ..which.query(client).await? };
            export(client, query, file).await
        }
    }
}

/// The most transactions that the service gives at once.
const MOST: u64 = 1_000;
const COLUMNS: [Column; 12] = [
    text("seq", "/seq"),
    text("idCard", "/idCard"),
    text("idEmployee", "/idEmployee"),
    text("customId", "/customId"),
    text("id", "/id"),
    text("date", "/dateExecutionAt"),
    text("time", "/timeExecutionAt"),
    text("type", "/type"),
    money("amount", "/amount"),
    text("place", "/place"),
    text("mcc", "/mcc"),
    text("merchantId", "/merchantId"),
];

/// Writes transactions as they come. Kopecks are integers.
async fn export(client: &Client, query: TransactionQuery, file: ExportArgs) -> Result<Output, Failure> {
    let mut rows = RowWriter::open(file, &COLUMNS)?;
    let (mut after, mut count) = (query.after, 0_u64);
    let mut transactions = client.statements().all_transactions(&query);
    while let Some(one) = transactions.next().await? {
        rows.write(&json_of(&one)?)?;
        (after, count) = (one.seq, count + 1);
    }
    rows.close(&format!("transactions: {count}; the last has number {after}"))
}

const SUMMARY: [Column; 8] = [
    text("month", "/month"),
    table::flag("complete", "/complete"),
    money("opening", "/opening"),
    money("openingHold", "/openingHold"),
    money("openingAvailable", "/openingAvailable"),
    money("closing", "/closing"),
    money("closingHold", "/closingHold"),
    money("closingAvailable", "/closingAvailable"),
];
const TOTAL: [Column; 5] = [
    text("type", "/type"),
    number("entries", "/number"),
    money("balance", "/balanceChange"),
    money("hold", "/holdChange"),
    money("available", "/amount"),
];
const DAY: [Column; 6] = [
    text("date", "/date"),
    money("opening", "/opening"),
    money("closing", "/closing"),
    money("hold", "/closingHold"),
    money("available", "/closingAvailable"),
    money("amount", "/amount"),
];

/// Shows the statement of a month, or writes it as a file.
pub(super) async fn statement(client: &Client, args: StatementArgs) -> Result<Output, Failure> {
    let statements = client.statements();
    let format = match args.format {
        Form::Csv => FileFormat::Csv,
        Form::Xlsx => FileFormat::Xlsx,
        Form::Excel => FileFormat::ExcelCsv,
        Form::OneC => FileFormat::OneC,
        Form::Camt => FileFormat::Camt,
        Form::Table | Form::Json => {
            let json = json_of(&statements.month(&args.month).await?)?;
            let list =
                |name: &str| json.get(name).and_then(|list| list.as_array()).cloned().unwrap_or_default();
            let table = table::record(&json, &SUMMARY)
                + &table::list(&list("totals"), &TOTAL)
                + &table::list(&list("days"), &DAY);
            let text = if args.format == Form::Json { format!("{json}\n") } else { table };
            let Some(path) = args.output else { return Ok(Output::new(json, text)) };
            let mut target = Target::open(Some(path))?;
            target
                .write_all(text.as_bytes())
                .map_err(|error| Failure::local(format!("the file: {error}")))?;
            return target.close("written");
        }
    };
    if format == FileFormat::Xlsx {
        check_spreadsheet(args.output.as_deref())?;
    }
    let file = statements.file_in(&args.month, format, &args.lang.language()).await?;
    download(file, args.output).await
}

/// Writes a file of the service.
pub(super) async fn download(mut file: StatementFile, output: Option<PathBuf>) -> Result<Output, Failure> {
    let mut target = Target::open(output)?;
    while let Some(chunk) = file.chunk().await? {
        target.write_all(&chunk).map_err(|error| Failure::local(format!("the file: {error}")))?;
    }
    target.close("written")
}

impl TransactionArgs {
    /// The query, with the identifiers of card and employee.
    async fn query(self, client: &Client) -> Result<TransactionQuery, Failure> {
        let id_card = match &self.card {
            Some(card) => Some(names::card(client, card).await?),
            None => None,
        };
        let id_employee = match &self.employee {
            Some(employee) => Some(employee.resolve(client).await?),
            None => None,
        };
        Ok(TransactionQuery {
            after: self.after,
            limit: None,
            from: self.from,
            to: self.to,
            transaction_type: self.transaction_type,
            id_card,
            id_employee,
        })
    }
}
