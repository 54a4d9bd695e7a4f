//! Tables of the measurements.

mod document;
mod machine;
mod results;
mod rows;
mod tables;

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;

use results::Results;

/// The results, and where to write them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file with one measurement a line.
    #[arg(long)]
    results: PathBuf,
    /// The document whose marked parts are replaced; without it the table is printed.
    #[arg(long)]
    document: Option<PathBuf>,
    /// The commit that was measured.
    #[arg(long, default_value = "unknown")]
    commit: String,
    /// The version of PostgreSQL.
    #[arg(long, default_value = "unknown")]
    postgres: String,
}

/// Prints the tables, or updates the document.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let text = fs::read_to_string(&args.results).context("the results")?;
    let results = Results::parse(&text)?;
    let judged = rows::judge(&results);
    let Some(document) = &args.document else {
        println!("{}", tables::ratios(&judged));
        println!("{}", tables::details(&results));
        return Ok(());
    };
    let mut page = fs::read_to_string(document).context("the document")?;
    page = document::replace(&page, "machine", &machine::describe(&args.postgres, &args.commit)?)?;
    page = document::replace(&page, "ratios", &tables::ratios(&judged))?;
    fs::write(document, page)?;
    Ok(())
}
