//! Settings of the way to the bank, and of the simulator as a server of its own.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use kopeck_domain::calendar::Zone;
use secrecy::SecretString;
use time::Duration;

use super::{duration_above_zero, secret, zone};

/// Which bank, and the way to it.
#[derive(Debug, Clone, Args)]
pub struct BankArgs {
    /// `https://…` of the bank's front; absent, a simulator within the process stands for the bank.
    #[arg(long, env = "KOPECK_BANK_URL", requires = "bank_secret")]
    pub bank_url: Option<String>,
    /// The secret that bank and service share.
    #[arg(long, env = "KOPECK_BANK_SECRET", hide_env_values = true, value_parser = secret)]
    pub bank_secret: Option<SecretString>,
    /// How long a call to the bank may take.
    #[arg(long, env = "KOPECK_BANK_TIMEOUT", default_value = "10s", value_parser = duration_above_zero)]
    pub bank_timeout: Duration,
    /// Whether the bank does an instruction once however often it is sent under its key (`true`, `false`).
    #[arg(long, env = "KOPECK_BANK_REPEAT_SAFE", default_value_t = true, action = clap::ArgAction::Set)]
    pub bank_repeat_safe: bool,
}

/// How to serve the simulator.
#[derive(Debug, Clone, Args)]
pub struct BankSimulatorArgs {
    /// Address and port to listen on; port 0 takes a free one.
    #[arg(long, env = "KOPECK_BANK_LISTEN", default_value = "127.0.0.1:8090")]
    pub listen: SocketAddr,
    /// The folder of the bank's books and of its clock.
    #[arg(long, env = "KOPECK_BANK_DATA_DIR", default_value = "kopeck-bank-data")]
    pub data_dir: PathBuf,
    /// What every caller has to show.
    #[arg(long, env = "KOPECK_BANK_SECRET", hide_env_values = true, value_parser = secret)]
    pub secret: SecretString,
    /// The time zone of the bank, as an offset from UTC.
    #[arg(long, env = "KOPECK_UTC_OFFSET", default_value = "+03:00", value_parser = zone, allow_hyphen_values = true)]
    pub utc_offset: Zone,
}
