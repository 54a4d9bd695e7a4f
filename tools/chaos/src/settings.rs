//! The settings of a run.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

/// Plays faults against real processes of the service, and checks that nothing was lost or doubled.
#[derive(Debug, Parser)]
#[command(name = "kopeck-chaos", version)]
pub(crate) struct Settings {
    /// Names the faults and their order, and what the partners call; by chance if absent. It is shown first.
    #[arg(long, default_value_t = kopeck_test_support::Random::any_seed())]
    pub(crate) seed: u64,
    /// How long faults and calls go on; waiting for the end and checking come on top.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=600))]
    pub(crate) minutes: u16,
    /// How many partners call.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=32))]
    pub(crate) partners: u8,
    /// Tasks that call for each partner at once.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=32))]
    pub(crate) callers: u8,
    /// Main cards of each partner, which are topped up.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(2..=2_000))]
    pub(crate) cards: u16,
    /// The bank carries out twice what it is sent twice. The service is configured for it, and a person settles stuck jobs.
    #[arg(long)]
    pub(crate) bank_doubles: bool,
    /// The `kopeck` binary.
    #[arg(long)]
    pub(crate) binary: PathBuf,
    /// An empty folder for databases and logs.
    #[arg(long)]
    pub(crate) folder: PathBuf,
    /// The socket of PostgreSQL, where the user `kopeck` may do everything with the database `postgres`. Without it one
    /// `serve` works on an embedded database, and no fault strikes workers or the database.
    #[arg(long, requires = "pg_ctl")]
    pub(crate) postgres: Option<PathBuf>,
    /// The words of the command that rules the cluster, to which `stop -m immediate` or `start` is added. It takes all
    /// that follows.
    #[arg(long, num_args = 1.., allow_hyphen_values = true)]
    pub(crate) pg_ctl: Vec<String>,
}

impl Settings {
    /// How long faults and calls go on.
    pub(crate) fn duration(&self) -> Duration {
        Duration::from_secs(u64::from(self.minutes) * 60)
    }
}
