//! What a measurement found: one JSON object a line.

use std::collections::BTreeMap;
use std::io::Write as _;

use clap::Args;
use serde::{Deserialize, Serialize};

/// A measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The row of the report, such as `read-pg`.
    pub(crate) row: String,
    /// Which of the row's measurements: `ours`, or a yardstick's name.
    pub(crate) side: String,
    /// The figures by name, with their unit at the end of it.
    #[serde(flatten)]
    pub(crate) figures: BTreeMap<String, f64>,
}

/// What a measurement is called in the report.
#[derive(Debug, Clone, Args)]
pub(crate) struct Label {
    /// The row of the report.
    #[arg(long)]
    row: String,
    /// Which of the row's measurements.
    #[arg(long, default_value = "ours", overrides_with = "side")]
    side: String,
}

impl Label {
    /// A record of `figures`.
    pub(crate) fn record(&self, figures: BTreeMap<String, f64>) -> Record {
        Record { row: self.row.clone(), side: self.side.clone(), figures }
    }
}

impl Record {
    /// Prints the line.
    ///
    /// # Errors
    /// If the output is closed.
    pub(crate) fn print(&self) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        serde_json::to_writer(&mut out, self)?;
        writeln!(out)?;
        Ok(())
    }
}
