//! Arguments of the commands of the audit log.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use kopeck_audit::{Head, Outcome};
use kopeck_domain::ids::PartnerId;

use super::{StoreArgs, examples, partner_id};

/// Commands for the audit log.
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// List the latest entries.
    #[command(after_help = examples::AUDIT_LIST)]
    List(AuditListArgs),
    /// Verify that nothing in the log was changed or removed; exit 1 and the first violation otherwise.
    #[command(after_help = examples::AUDIT_VERIFY)]
    Verify(AuditVerifyArgs),
    /// Remove old entries, and leave a signed mark of where each chain now begins.
    #[command(after_help = examples::AUDIT_PRUNE)]
    Prune(AuditPruneArgs),
}

/// Options of the list.
#[derive(Debug, Args)]
pub struct AuditListArgs {
    /// The location of the data. No key is needed.
    #[command(flatten)]
    pub store: StoreArgs,
    /// From this time on, as `DD.MM.YYYY`, `DD.MM.YYYY HH:MM` or `YYYY-MM-DDTHH:MM` in the zone of `--utc-offset`.
    #[arg(long)]
    pub since: Option<String>,
    /// Before this time, in the same form.
    #[arg(long)]
    pub until: Option<String>,
    /// Only entries of this partner.
    #[arg(long, value_parser = partner_id)]
    pub partner: Option<PartnerId>,
    /// Only entries of this operation or command, such as `employee.add`, `token.access`, `partner.create`.
    #[arg(long)]
    pub action: Option<String>,
    /// Only entries with this outcome: `begun`, `done`, `repeated`, `refused`, `failed`.
    #[arg(long, value_parser = outcome)]
    pub outcome: Option<Outcome>,
    /// Maximum number of entries.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub limit: u32,
    /// Print JSON and nothing else, one entry a line.
    #[arg(long)]
    pub json: bool,
}

/// Options of the pruning.
#[derive(Debug, Args)]
pub struct AuditPruneArgs {
    /// The location of the data.
    #[command(flatten)]
    pub store: StoreArgs,
    /// Entries that were written before this date, `DD.MM.YYYY` or `YYYY-MM-DD` in the zone of `--utc-offset`; or
    /// before this time, `DD.MM.YYYY HH:MM`.
    #[arg(long)]
    pub before: String,
    /// Unsigned entries, from before there were signatures, that are accepted.
    #[command(flatten)]
    pub unsigned: UnsignedArgs,
}

/// Options of the verification.
#[derive(Debug, Args)]
pub struct AuditVerifyArgs {
    /// The location of the data. Without the master key signatures are not checked.
    #[command(flatten)]
    pub store: StoreArgs,
    /// A chain head of an earlier time, as `CHAIN:NUMBER:HASH`; repeatable.
    #[arg(long = "head")]
    pub head: Vec<Head>,
    /// A file of heads, one at the end of each line, as `--audit-heads file:PATH` writes it; lines that begin with # are
    /// ignored.
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

fn outcome(text: &str) -> Result<Outcome, kopeck_domain::Invalid> {
    text.to_uppercase().parse()
}
