//! The location of the data, and how it is kept.

use std::path::PathBuf;

use clap::Args;
use kopeck_adapter_store_diesel::StoreKind;
use kopeck_adapter_system::HeadDestination;
use kopeck_domain::calendar::Zone;
use kopeck_service::Settings;
use secrecy::SecretString;

use super::{secret, zone};

/// The location of the data.
#[derive(Debug, Clone, Args)]
pub struct StoreArgs {
    /// `sqlite://PATH` of the database; the bank simulator's file and the master key lie beside it. Or
    /// `postgres://USER:PASSWORD@HOST/DATABASE`. `sqlite://kopeck-data/kopeck.sqlite` if absent.
    #[arg(long, env = "KOPECK_DATABASE_URL", hide_env_values = true)]
    pub database_url: Option<String>,
    /// Whether a database on another machine may be used that is not verified by TLS (`true`, `false`).
    #[arg(long, env = "KOPECK_DATABASE_ALLOW_UNVERIFIED", default_value_t = false, action = clap::ArgAction::Set)]
    pub database_allow_unverified: bool,
    /// The folder of the bank simulator's file, where the database is on a server; `kopeck-data` if absent.
    #[arg(long, env = "KOPECK_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
    /// The time zone of every date, as an offset from UTC.
    #[arg(long, env = "KOPECK_UTC_OFFSET", default_value = "+03:00", value_parser = zone, allow_hyphen_values = true)]
    pub utc_offset: Zone,
    /// 32 bytes as base64url. With SQLite the first start generates one, in a file that only its
    /// owner may read; with PostgreSQL it is required.
    #[arg(long, env = "KOPECK_MASTER_KEY", hide_env_values = true, value_parser = secret, allow_hyphen_values = true)]
    pub master_key: Option<SecretString>,
    /// More master keys, separated by commas, that are accepted and not used: for a rotation.
    #[arg(long, env = "KOPECK_MASTER_KEYS_ACCEPTED", hide_env_values = true, value_parser = secret, allow_hyphen_values = true)]
    pub master_keys_accepted: Option<SecretString>,
    /// A file of master keys, one a line, in place of the one in the data folder: the first is used, the others are
    /// accepted. A changed file is reloaded within a second.
    #[arg(long, env = "KOPECK_MASTER_KEY_FILE")]
    pub master_key_file: Option<PathBuf>,
    /// The target of chain heads of the audit log, every minute and at the end: `file:PATH`, `syslog`, or
    /// `syslog:PATH` of its socket. Without it they are in the process log only.
    #[arg(long, env = "KOPECK_AUDIT_HEADS")]
    pub audit_heads: Option<HeadDestination>,
}

impl StoreArgs {
    /// The database URL, or the default one.
    #[must_use]
    pub fn database_url(&self) -> &str {
        self.database_url.as_deref().unwrap_or("sqlite://kopeck-data/kopeck.sqlite")
    }

    /// The settings of commands without an API: those of the rules that they need, defaults for the rest.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings { zone: self.utc_offset, ..Settings::DEFAULT }
    }
}

/// A kind of store.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
pub enum StoreKindArg {
    /// Requests that wait share a transaction.
    #[default]
    Batched,
    /// Each request has a separate transaction.
    Plain,
}

impl From<StoreKindArg> for StoreKind {
    fn from(kind: StoreKindArg) -> Self {
        match kind {
            StoreKindArg::Batched => Self::Batched,
            StoreKindArg::Plain => Self::Plain,
        }
    }
}
