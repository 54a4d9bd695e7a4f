//! What can be asked of the audit log.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use kopeck_audit::{Head, Outcome};
use kopeck_domain::ids::PartnerId;

use super::{StoreArgs, examples, partner_id};

/// What can be asked of the audit log.
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// List the latest entries.
    #[command(after_help = examples::AUDIT_LIST)]
    List(AuditListArgs),
    /// Check that nothing in the log was changed or removed; exit 1 and the first such place if something was.
    #[command(after_help = examples::AUDIT_VERIFY)]
    Verify(AuditVerifyArgs),
    /// Remove old entries, and leave a signed mark of where each chain now begins.
    #[command(after_help = examples::AUDIT_PRUNE)]
    Prune(AuditPruneArgs),
}

/// What to list.
#[derive(Debug, Args)]
pub struct AuditListArgs {
    /// Where the data is. No key is needed.
    #[command(flatten)]
    pub store: StoreArgs,
    /// From this moment on, as `DD.MM.YYYY`, `DD.MM.YYYY HH:MM` or `YYYY-MM-DDTHH:MM` in the zone of `--utc-offset`.
    #[arg(long)]
    pub since: Option<String>,
    /// Before this moment, likewise.
    #[arg(long)]
    pub until: Option<String>,
    /// What concerns this partner.
    #[arg(long, value_parser = partner_id)]
    pub partner: Option<PartnerId>,
    /// Of this operation or command, such as `employee.add`, `token.access`, `partner.create`.
    #[arg(long)]
    pub action: Option<String>,
    /// What came to this: `begun`, `done`, `repeated`, `refused`, `failed`.
    #[arg(long, value_parser = outcome)]
    pub outcome: Option<Outcome>,
    /// How many at most.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub limit: u32,
    /// Print JSON and nothing else, one entry a line.
    #[arg(long)]
    pub json: bool,
}

/// What to remove.
#[derive(Debug, Args)]
pub struct AuditPruneArgs {
    /// Where the data is.
    #[command(flatten)]
    pub store: StoreArgs,
    /// Entries that were written before this date, `DD.MM.YYYY` or `YYYY-MM-DD` in the zone of `--utc-offset`; or
    /// before this moment, `DD.MM.YYYY HH:MM`.
    #[arg(long)]
    pub before: String,
    /// Unsigned entries, from before there were signatures, that are accepted.
    #[command(flatten)]
    pub unsigned: UnsignedArgs,
}

/// What to check.
#[derive(Debug, Args)]
pub struct AuditVerifyArgs {
    /// Where the data is. Without the master key signatures are not checked.
    #[command(flatten)]
    pub store: StoreArgs,
    /// How far a chain went at some time, as `CHAIN:NUMBER:HASH`; can be given several times.
    #[arg(long = "head")]
    pub head: Vec<Head>,
    /// A file of heads, one at the end of each line, as `--audit-heads file:PATH` writes it; lines that begin with # are
    /// passed over.
    #[arg(long)]
    pub heads: Option<PathBuf>,
    /// Print only the chain heads, to be kept elsewhere.
    #[arg(long)]
    pub print_heads: bool,
    /// Fail if there is no master key to check signatures with.
    #[arg(long)]
    pub require_signatures: bool,
    /// Unsigned entries, from before there were signatures, that are accepted.
    #[command(flatten)]
    pub unsigned: UnsignedArgs,
}

/// Entries that were written before there were signatures.
#[derive(Debug, Clone, Copy, Args)]
pub struct UnsignedArgs {
    /// How many entries may be without a signature: their exact number right after the upgrade that began to sign, and
    /// never more. An intruder with write access to the database can remove signatures.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub accept_unsigned: u64,
}

fn outcome(text: &str) -> Result<Outcome, kopeck_domain::draft::Invalid> {
    text.to_uppercase().parse()
}
