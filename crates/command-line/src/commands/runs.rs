//! `kopeck call runs …`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use kopeck_client::{
    Client, Date, NewRun, NewRunItem, Paging, PrimitiveDateTime, Run, RunFilter, RunItem, RunKind,
    RunOutcome, RunState, Runs, Uuid,
};

use super::shown;
use crate::context::IdempotencyArgs;
use crate::csv_file::CsvFile;
use crate::examples;
use crate::failure::Failure;
use crate::output::{Output, json_of};
use crate::pages::PageArgs;
use crate::table::{self, Column, money, number, text};
use crate::times;

/// Commands for runs.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum RunsCommand {
    /// Read a file of changes for many people, and show what would happen. Nothing happens before it is submitted.
    #[command(after_help = examples::RUNS_CREATE)]
    Create(CreateArgs),
    /// Show a run.
    Show {
        /// The run.
        run: Uuid,
    },
    /// List the items of a run, in their order.
    Items(ItemsArgs),
    /// Have a run carried out, as it is now.
    Submit {
        /// The run.
        run: Uuid,
        /// Pass over items with a fault.
        #[arg(long)]
        skip_faulty: bool,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// Agree to a run that another has submitted.
    Approve {
        /// The run.
        run: Uuid,
        /// The digest of the run as you have seen it.
        digest: String,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// Refuse to agree to a run that another has submitted.
    Refuse {
        /// The run.
        run: Uuid,
        /// Why, for whoever submitted it.
        #[arg(long)]
        reason: Option<String>,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// Cancel a run that has not begun.
    Cancel {
        /// The run.
        run: Uuid,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// Show what became of each item of a run.
    Result {
        /// The run.
        run: Uuid,
    },
    /// List runs, newest first.
    List(ListArgs),
}

/// A run to create.
#[derive(Debug, Clone, Args)]
pub(crate) struct CreateArgs {
    /// A CSV file: a first row of names, such as `customId` and `amount` (kopecks) or `rubles`.
    file: PathBuf,
    /// What it does: `TOP_UP`, `WITHDRAW`, `VIRTUAL_ORDER` or `EMPLOYEES`.
    #[arg(long)]
    kind: String,
    /// Your own name for it; no other run of its kind has it.
    #[arg(long)]
    reference: Option<String>,
    /// When it is carried out, `DD.MM.YYYY HH:MM`; at once, if absent.
    #[arg(long, value_parser = times::moment)]
    at: Option<PrimitiveDateTime>,
    /// Create categories that do not exist.
    #[arg(long)]
    create_categories: bool,
    /// Submit it at once, if nothing in it has a fault.
    #[arg(long)]
    submit: bool,
    #[command(flatten)]
    repeat: IdempotencyArgs,
}

/// Which items to list.
#[derive(Debug, Clone, Args)]
pub(crate) struct ItemsArgs {
    /// The run.
    run: Uuid,
    /// Only those with a fault, or without.
    #[arg(long)]
    faulty: Option<bool>,
    /// Only those with this outcome: `DONE`, `REFUSED` or `SKIPPED`.
    #[arg(long)]
    outcome: Option<String>,
    #[command(flatten)]
    page: PageArgs,
}

/// Which runs to list.
#[derive(Debug, Clone, Args)]
pub(crate) struct ListArgs {
    /// Only those of this kind.
    #[arg(long)]
    kind: Option<String>,
    /// Only those in this state.
    #[arg(long)]
    status: Option<String>,
    /// Only those with exactly this reference.
    #[arg(long)]
    reference: Option<String>,
    /// Only those that this programme made.
    #[arg(long)]
    programme: Option<Uuid>,
    /// Only those created on this day or later.
    #[arg(long, value_parser = times::date)]
    from: Option<Date>,
    /// Only those created on this day or earlier.
    #[arg(long, value_parser = times::date)]
    to: Option<Date>,
    #[command(flatten)]
    page: PageArgs,
}

pub(super) const RUN: [Column; 9] = [
    text("idRun", "/idRun"),
    text("kind", "/kind"),
    text("status", "/status"),
    text("reference", "/reference"),
    number("items", "/number"),
    number("faulty", "/faulty"),
    money("amount", "/amount"),
    money("available", "/available"),
    money("available after", "/availableAfter"),
];

const ITEMS: [Column; 8] = [
    number("line", "/line"),
    text("customId", "/customId"),
    text("idCard", "/idCard"),
    money("amount", "/amount"),
    text("field", "/fault/field"),
    text("fault", "/fault/detail"),
    text("outcome", "/outcome"),
    text("reason", "/reason"),
];

/// The columns of a file, as the API has them.
const COLUMNS: [&str; 16] = [
    "customId",
    "idEmployee",
    "idCard",
    "customIdCard",
    "amount",
    "rubles",
    "typeCard",
    "numberCards",
    "surname",
    "name",
    "patronymic",
    "phone",
    "email",
    "status",
    "category",
    "idCategory",
];

/// Faulty items that a preview shows.
const SHOWN: u64 = 20;

pub(super) async fn run(client: &Client, command: RunsCommand) -> Result<Output, Failure> {
    let runs = client.runs();
    match command {
        RunsCommand::Create(args) => create(runs, args).await,
        RunsCommand::Show { run } => shown(&runs.get(run).await?, &RUN),
        RunsCommand::Items(ItemsArgs { run, faulty, outcome, page }) => {
            let outcome = outcome.map(|outcome| RunOutcome::from(outcome.as_str()));
            page.answer(&ITEMS, runs.items(run, faulty, outcome)).await
        }
        RunsCommand::Submit { run, skip_faulty, repeat } => {
            let digest = runs.get(run).await?.digest;
            shown(&repeat.send(runs.submit(run, &digest, skip_faulty)).await?, &RUN)
        }
        RunsCommand::Approve { run, digest, repeat } => {
            shown(&repeat.send(runs.approve(run, &digest)).await?, &RUN)
        }
        RunsCommand::Refuse { run, reason, repeat } => {
            shown(&repeat.send(runs.refuse(run, reason.as_deref())).await?, &RUN)
        }
        RunsCommand::Cancel { run, repeat } => shown(&repeat.send(runs.cancel(run)).await?, &RUN),
        RunsCommand::Result { run } => {
            let items = json_of(&runs.result(run).await?)?;
            let table = table::list(items.as_array().map_or(&[], Vec::as_slice), &ITEMS);
            Ok(Output::new(items, table))
        }
        RunsCommand::List(args) => {
            let filter = RunFilter {
                kind: args.kind.map(|kind| RunKind::from(kind.as_str())),
                state: args.status.map(|state| RunState::from(state.as_str())),
                reference: args.reference,
                id_programme: args.programme,
                from: args.from,
                to: args.to,
            };
            args.page.answer(&RUN, runs.all(&filter)).await
        }
    }
}

/// Creates a run, and shows its preview.
async fn create(runs: Runs<'_>, args: CreateArgs) -> Result<Output, Failure> {
    let new = NewRun {
        reference: args.reference,
        at: args.at,
        create_categories: args.create_categories,
        ..NewRun::new(RunKind::from(args.kind.as_str()), items(&args.file)?)
    };
    let mut made: Run = args.repeat.send(runs.create(&new)).await?;
    let mut faulty: Vec<RunItem> = Vec::new();
    if made.faulty > 0 {
        let paging = Paging::default().per_page(SHOWN);
        faulty = runs.items(made.id_run, Some(true), None).page(paging).await?.data;
    } else if args.submit {
        made = runs.submit(made.id_run, &made.digest, false).await?;
    }
    let json = json_of(&made)?;
    let mut preview = table::record(&json, &RUN);
    if !faulty.is_empty() {
        let faulty = json_of(&faulty)?;
        preview.push_str("\n\n");
        preview.push_str(&table::list(faulty.as_array().map_or(&[], Vec::as_slice), &ITEMS));
    }
    Ok(Output::new(json, preview))
}

/// The rows of a file. The service says what is wrong with them.
fn items(path: &Path) -> Result<Vec<NewRunItem>, Failure> {
    let file = CsvFile::read(path, &COLUMNS)?;
    if !file.faults.is_empty() {
        let message = format!("{}: nothing was sent, because of rows that cannot be read:", path.display());
        return Err(Failure::rows(message, &file.faults));
    }
    let present: Vec<&str> = COLUMNS.into_iter().filter(|column| file.has(column)).collect();
    let item = |row: &crate::csv_file::CsvRow| {
        NewRunItem::of_texts(
            present.iter().map(|column| ((*column).to_owned(), row.get(column).map(ToOwned::to_owned))),
        )
    };
    Ok(file.rows.iter().map(item).collect())
}
