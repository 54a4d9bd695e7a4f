//! Which days to compare with the bank.

use clap::Args;
use kopeck_domain::calendar::parse_date;
use time::Date;

use super::{BankArgs, StoreArgs};

/// Options of `reconcile`.
#[derive(Debug, Args)]
pub struct ReconcileArgs {
    /// The location of the data.
    #[command(flatten)]
    pub store: StoreArgs,
    /// The bank connector.
    #[command(flatten)]
    pub bank: BankArgs,
    /// The first day, `DD.MM.YYYY` in the service's zone.
    #[arg(long, value_parser = day)]
    pub from: Date,
    /// The last day. Today is compared up to now.
    #[arg(long, value_parser = day)]
    pub to: Date,
    /// Print JSON and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// A day that every database here supports.
fn day(text: &str) -> Result<Date, String> {
    let day = parse_date(text).map_err(|invalid| invalid.to_string())?;
    if (1970..=2999).contains(&day.year()) {
        Ok(day)
    } else {
        Err("must be of the years 1970 to 2999".to_owned())
    }
}
