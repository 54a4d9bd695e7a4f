//! `kopeck call programmes …`.

mod chart;
mod terms;

use clap::{Args, Subcommand};
use kopeck_client::{Client, Date, ProgrammeForecast, Uuid};

use self::terms::TermsArgs;
use super::runs::RUN;
use super::shown;
use crate::context::IdempotencyArgs;
use crate::examples;
use crate::failure::Failure;
use crate::output::{Output, json_of};
use crate::pages::PageArgs;
use crate::table::{self, Column, money, number, text};
use crate::times;

/// Commands for programmes.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ProgrammesCommand {
    /// Make a rule that pays in each week, month, quarter or year.
    #[command(after_help = examples::PROGRAMMES_CREATE)]
    Create {
        #[command(flatten)]
        terms: Box<TermsArgs>,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// Show a programme.
    Show {
        /// The programme.
        programme: Uuid,
    },
    /// List programmes, oldest first.
    List {
        #[command(flatten)]
        page: PageArgs,
    },
    /// Give a programme other terms, in the place of all that it has.
    Change {
        /// The programme.
        programme: Uuid,
        #[command(flatten)]
        terms: Box<TermsArgs>,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// Have a programme make no run until it is resumed.
    Pause(OneProgramme),
    /// Have a paused programme make its runs again.
    Resume(OneProgramme),
    /// Agree to a programme that another has created, or to the change of it that waits.
    Approve(OneProgramme),
    /// Refuse to agree to a programme, or to the change of it that waits.
    Refuse(OneProgramme),
    /// Delete a programme. Its runs stay.
    Delete(OneProgramme),
    /// List the runs of a programme, newest first.
    Runs {
        /// The programme.
        programme: Uuid,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Show what all programmes will do, if nothing else changes until then: as a table, and what is left as a chart.
    #[command(after_help = examples::PROGRAMMES_FORECAST)]
    Forecast {
        /// The last day.
        #[arg(long, value_parser = times::date)]
        until: Date,
    },
    /// Show what all programmes would do if these terms were in force. Nothing is changed.
    #[command(after_help = examples::PROGRAMMES_PREVIEW)]
    Preview {
        #[command(flatten)]
        terms: Box<TermsArgs>,
        /// The programme whose terms these are to replace; otherwise they are those of a new one.
        #[arg(long)]
        instead_of: Option<Uuid>,
        /// The last day of the forecast; 92 days ahead by default.
        #[arg(long, value_parser = times::date)]
        forecast_until: Option<Date>,
    },
}

/// A programme to change.
#[derive(Debug, Clone, Args)]
pub(crate) struct OneProgramme {
    /// The programme.
    programme: Uuid,
    #[command(flatten)]
    repeat: IdempotencyArgs,
}

const PROGRAMME: [Column; 13] = [
    text("idProgramme", "/idProgramme"),
    text("name", "/name"),
    text("status", "/status"),
    text("next run", "/nextAt"),
    text("every", "/every"),
    number("day", "/day"),
    text("time", "/time"),
    text("shift", "/shift"),
    money("fixed", "/amount/fixed"),
    money("cap", "/amount/cap"),
    money("up to", "/amount/upTo"),
    money("down to", "/amount/downTo"),
    text("on shortage", "/onShortage"),
];

const FORECAST: [Column; 7] = [
    text("date", "/date"),
    text("idProgramme", "/idProgramme"),
    text("period", "/period"),
    number("people", "/people"),
    money("needed", "/needed"),
    money("available after", "/availableAfter"),
    money("short", "/short"),
];

pub(super) async fn run(client: &Client, command: ProgrammesCommand) -> Result<Output, Failure> {
    let programmes = client.programmes();
    match command {
        ProgrammesCommand::Create { terms, repeat } => {
            shown(&repeat.send(programmes.create(&terms.read()?)).await?, &PROGRAMME)
        }
        ProgrammesCommand::Show { programme } => shown(&programmes.get(programme).await?, &PROGRAMME),
        ProgrammesCommand::List { page } => page.answer(&PROGRAMME, programmes.all()).await,
        ProgrammesCommand::Change { programme, terms, repeat } => {
            shown(&repeat.send(programmes.change(programme, &terms.read()?)).await?, &PROGRAMME)
        }
        ProgrammesCommand::Pause(OneProgramme { programme, repeat }) => {
            shown(&repeat.send(programmes.pause(programme)).await?, &PROGRAMME)
        }
        ProgrammesCommand::Resume(OneProgramme { programme, repeat }) => {
            shown(&repeat.send(programmes.resume(programme)).await?, &PROGRAMME)
        }
        ProgrammesCommand::Approve(OneProgramme { programme, repeat }) => {
            shown(&repeat.send(programmes.approve(programme)).await?, &PROGRAMME)
        }
        ProgrammesCommand::Refuse(OneProgramme { programme, repeat }) => {
            shown(&repeat.send(programmes.refuse(programme)).await?, &PROGRAMME)
        }
        ProgrammesCommand::Delete(OneProgramme { programme, repeat }) => {
            shown(&repeat.send(programmes.delete(programme)).await?, &PROGRAMME)
        }
        ProgrammesCommand::Runs { programme, page } => page.answer(&RUN, programmes.runs(programme)).await,
        ProgrammesCommand::Forecast { until } => forecast(&programmes.forecast(until).await?),
        ProgrammesCommand::Preview { terms, instead_of, forecast_until } => {
            forecast(&programmes.preview(&terms.read()?, instead_of, forecast_until).await?)
        }
    }
}

fn forecast(rows: &[ProgrammeForecast]) -> Result<Output, Failure> {
    let json = json_of(&rows)?;
    let table = table::list(json.as_array().map_or(&[], Vec::as_slice), &FORECAST);
    let text = if rows.is_empty() { table } else { format!("{table}\n\n{}", chart::of(rows)) };
    Ok(Output::new(json, text))
}
