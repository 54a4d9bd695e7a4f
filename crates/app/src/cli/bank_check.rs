//! Options of `kopeck bank-check`.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::Args;
use time::Duration;

use super::{BankConnectionArgs, duration_above_zero};

/// Options of `bank-check`.
#[derive(Debug, Clone, Args)]
pub struct BankCheckArgs {
    /// `https://…` of the connector. It is no setting of the environment, so that the bank of a running service is never
    /// checked by accident.
    #[arg(value_name = "URL", required_unless_present = "list", requires = "bank_credentials")]
    pub bank_url: Option<String>,
    /// The way to it.
    #[command(flatten)]
    pub connection: BankConnectionArgs,
    /// Confirms that the account behind the URL is one for tests. Without it the command says what it would do.
    #[arg(long)]
    pub test_account: bool,
    /// List the rules and check none.
    #[arg(long)]
    pub list: bool,
    /// Check these rules alone: numbers and ranges, such as `11,30-35`.
    #[arg(long, value_delimiter = ',', value_parser = numbers)]
    pub only: Vec<RangeInclusive<u16>>,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
    /// Write the report as `JUnit` XML to this file too.
    #[arg(long, value_name = "FILE", conflicts_with = "storm")]
    pub junit: Option<PathBuf>,
    /// In place of the rules, send random instructions through random faults for this long, then compare the books.
    #[arg(long, value_name = "DURATION", value_parser = duration_above_zero, conflicts_with = "only")]
    pub storm: Option<Duration>,
    /// The seed of a storm: the same one chooses the same instructions and faults.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The share of transmissions that a storm cuts, of a hundred.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(0..=50))]
    pub cuts: u32,
    /// How long an instruction may be pending.
    #[arg(long, default_value = "60s", value_parser = duration_above_zero)]
    pub patience: Duration,
}

/// Reads a number, or the first and the last one of a range.
fn numbers(text: &str) -> Result<RangeInclusive<u16>, String> {
    let number = |text: &str| text.trim().parse::<u16>().map_err(|_| "must be numbers of rules, see --list");
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = number(first)?..=number(last)?;
    if kopeck_bank_check::RULES.iter().any(|rule| range.contains(&rule.number)) {
        Ok(range)
    } else {
        Err("has no rule, see --list".to_owned())
    }
}
