//! Settings of the connection to the bank, and of the simulator as a separate server.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use kopeck_adapter_bank_http::PublicKeyPin;
use kopeck_domain::calendar::Zone;
use kopeck_port_bank::{Capabilities, Capability};
use secrecy::SecretString;
use time::Duration;

use super::{duration_above_zero, secret, zone};

/// The bank connector.
#[derive(Debug, Clone, Args)]
pub struct BankArgs {
    /// `https://…` of the bank connector; if absent, a simulator in the process replaces the bank.
    #[arg(long, env = "KOPECK_BANK_URL", requires = "bank_credentials")]
    pub bank_url: Option<String>,
    /// The way to it.
    #[command(flatten)]
    pub connection: BankConnectionArgs,
    /// Whether the bank supports idempotent retries: one effect per key (`true`, `false`).
    #[arg(long, env = "KOPECK_BANK_REPEAT_SAFE", default_value_t = true, action = clap::ArgAction::Set)]
    pub bank_repeat_safe: bool,
}

/// Credentials of the connection to a bank; the command has an argument `bank_url`.
#[derive(Debug, Clone, Args)]
pub struct BankConnectionArgs {
    /// The secret that bank and service share.
    #[arg(long, env = "KOPECK_BANK_SECRET", hide_env_values = true, group = "bank_credentials", value_parser = secret, allow_hyphen_values = true)]
    pub bank_secret: Option<SecretString>,
    /// A file with that secret, readable only by its owner, such as one that a vault's agent writes.
    #[arg(long, env = "KOPECK_BANK_SECRET_FILE", group = "bank_credentials")]
    pub bank_secret_file: Option<PathBuf>,
    /// PEM file of the certificate authorities that may issue the bank's certificate, in place of the system's.
    #[arg(long, env = "KOPECK_BANK_CA", requires = "bank_url")]
    pub bank_ca: Option<PathBuf>,
    /// PEM file of the client certificate chain, for mutual TLS.
    #[arg(long, env = "KOPECK_BANK_CLIENT_CERT", requires = "bank_url", requires = "bank_client_key")]
    pub bank_client_cert: Option<PathBuf>,
    /// PEM file of its private key.
    #[arg(long, env = "KOPECK_BANK_CLIENT_KEY", requires = "bank_client_cert")]
    pub bank_client_key: Option<PathBuf>,
    /// `sha256/BASE64` of a public key that the bank's certificate must have; several are separated by commas.
    #[arg(long, env = "KOPECK_BANK_PIN", requires = "bank_url", value_delimiter = ',')]
    pub bank_pin: Vec<PublicKeyPin>,
    /// Whether plain HTTP to a bank on another machine is allowed (`true`, `false`).
    #[arg(long, env = "KOPECK_BANK_ALLOW_HTTP", default_value_t = false, action = clap::ArgAction::Set)]
    pub bank_allow_http: bool,
    /// Timeout of a request to the bank.
    #[arg(long, env = "KOPECK_BANK_TIMEOUT", default_value = "10s", value_parser = duration_above_zero)]
    pub bank_timeout: Duration,
}

/// Options of the simulator.
#[derive(Debug, Clone, Args)]
pub struct BankSimulatorArgs {
    /// Address and port to listen on; port 0 takes a free one.
    #[arg(long, env = "KOPECK_BANK_LISTEN", default_value = "127.0.0.1:8090")]
    pub listen: SocketAddr,
    /// The folder of the bank's database and of its clock.
    #[arg(long, env = "KOPECK_BANK_DATA_DIR", default_value = "kopeck-bank-data")]
    pub data_dir: PathBuf,
    /// The secret that every request has to carry.
    #[arg(long, env = "KOPECK_BANK_SECRET", hide_env_values = true, value_parser = secret, allow_hyphen_values = true)]
    pub secret: SecretString,
    /// PEM file of the certificate chain to serve by HTTPS with.
    #[arg(long, env = "KOPECK_BANK_TLS_CERT", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// PEM file of its private key.
    #[arg(long, env = "KOPECK_BANK_TLS_KEY", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// PEM file of the authorities of client certificates; then a client certificate is required.
    #[arg(long, env = "KOPECK_BANK_TLS_CLIENT_CA", requires = "tls_cert")]
    pub tls_client_ca: Option<PathBuf>,
    /// What the simulator cannot do, separated by commas, to play a poor bank: daily-limits, weekly-limits, monthly-limits,
    /// quarterly-limits, weekdays, hours, merchant-categories, withdrawals, closings, feed, registry, repeat-safe.
    #[arg(long, env = "KOPECK_BANK_WITHOUT", value_delimiter = ',', value_parser = capability)]
    pub without: Vec<Capability>,
    /// The most instructions or keys of a request that the simulator takes.
    #[arg(long, env = "KOPECK_BANK_LARGEST_BATCH", default_value_t = Capabilities::LARGEST_BATCH, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub largest_batch: u32,
    /// The time zone of the bank, as an offset from UTC.
    #[arg(long, env = "KOPECK_UTC_OFFSET", default_value = "+03:00", value_parser = zone, allow_hyphen_values = true)]
    pub utc_offset: Zone,
}

fn capability(name: &str) -> Result<Capability, String> {
    Capability::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Capability::ALL.into_iter().map(Capability::name).collect();
        format!("must be one of {}", names.join(", "))
    })
}
