//! `kopeck call runs …`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use kopeck_client::{
    Client, Date, FileFormat, NewRun, PrimitiveDateTime, Run, RunFilter, RunItem, RunKind, RunOutcome,
    RunState, Runs, Uuid,
};
use serde_json::{Value, json};

use super::shown;
use super::statements::{FileForm, download};
use crate::context::IdempotencyArgs;
use crate::examples;
use crate::exit::Exit;
use crate::export::check_spreadsheet;
use crate::failure::Failure;
use crate::output::{Output, json_of};
use crate::pages::{LARGEST_PAGE, PageArgs};
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
    /// Show what became of each item of a run, or write it as a file.
    Result(ResultArgs),
    /// List runs, newest first.
    List(ListArgs),
}

/// A run to create.
#[derive(Debug, Clone, Args)]
pub(crate) struct CreateArgs {
    /// CSV or XLSX with a first row of names, such as `customId` and `amount` (kopecks) or `rubles`.
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
    /// Submit it at once. If something in it has a fault, it stays a draft, and the exit code is 11.
    #[arg(long)]
    submit: bool,
    #[command(flatten)]
    repeat: IdempotencyArgs,
}

/// Which result, and how.
#[derive(Debug, Clone, Args)]
pub(crate) struct ResultArgs {
    /// The run.
    run: Uuid,
    /// What to write: a file has the columns of the one that the run was made of, then `outcome` and `reason`.
    #[arg(long, default_value = "table", value_parser = FileForm::among(&[FileForm::Table, FileForm::Csv, FileForm::Xlsx]))]
    format: FileForm,
    /// Write a file here in place of standard output.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
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

const FAULTS: [Column; 6] = [
    number("line", "/line"),
    text("customId", "/customId"),
    money("amount", "/amount"),
    text("field", "/fault/field"),
    text("code", "/fault/code"),
    text("fault", "/fault/detail"),
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

/// The items that a preview refuses, by their reason.
const REFUSALS: [Column; 3] =
    [text("fault", "/fault"), number("items", "/items"), money("amount", "/amount")];

/// Faulty items that a preview shows.
const SHOWN: usize = 20;

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
        RunsCommand::Result(args) => result(runs, args).await,
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
    let file =
        fs::read(&args.file).map_err(|error| Failure::usage(format!("{}: {error}", args.file.display())))?;
    let new = NewRun {
        reference: args.reference,
        at: args.at,
        create_categories: args.create_categories,
        ..NewRun::of_file(RunKind::from(args.kind.as_str()), file)
    };
    let mut made: Run = args.repeat.send(runs.create(&new)).await?;
    if made.faulty == 0 {
        if args.submit {
            made = runs.submit(made.id_run, &made.digest, false).await?;
        }
        return shown(&made, &RUN);
    }
    let faulty = runs.items(made.id_run, Some(true), None).per_page(LARGEST_PAGE).collect().await?;
    let output = Output::new(json_of(&made)?, preview(&made, &faulty)?);
    // The caller wanted more than a preview.
    Ok(if args.submit { output.ending(Exit::FaultyRows) } else { output })
}

/// The totals of a run, and what it refuses: by reason, then item by item.
fn preview(made: &Run, faulty: &[RunItem]) -> Result<String, Failure> {
    let mut reasons: BTreeMap<&str, (u64, i64)> = BTreeMap::new();
    for item in faulty {
        let code = item.fault.as_ref().map_or("", |fault| fault.code.as_str());
        let (items, amount) = reasons.entry(code).or_default();
        (*items, *amount) = (*items + 1, amount.saturating_add(item.amount.unwrap_or(0)));
    }
    let reason = |(fault, (items, amount))| json!({"fault": fault, "items": items, "amount": amount});
    let reasons: Vec<Value> = reasons.into_iter().map(reason).collect();
    let first = faulty.iter().take(SHOWN).map(json_of).collect::<Result<Vec<_>, _>>()?;
    let mut text = table::record(&json_of(made)?, &RUN);
    text.push_str(&table::list(&reasons, &REFUSALS));
    text.push_str(&table::list(&first, &FAULTS));
    if faulty.len() > SHOWN {
        let rest = faulty.len() - SHOWN;
        text.push_str(&format!("{rest} more: kopeck call runs items {} --faulty true --all\n", made.id_run));
    }
    Ok(text)
}

/// Shows what became of each item, or writes it as a file.
async fn result(runs: Runs<'_>, args: ResultArgs) -> Result<Output, Failure> {
    let Some(format) = args.format.file() else {
        let items = json_of(&runs.result(args.run).await?)?;
        let table = table::list(items.as_array().map_or(&[], Vec::as_slice), &ITEMS);
        return Ok(Output::new(items, table));
    };
    if format == FileFormat::Xlsx {
        check_spreadsheet(args.output.as_deref())?;
    }
    download(runs.result_file(args.run, format).await?, args.output).await
}
