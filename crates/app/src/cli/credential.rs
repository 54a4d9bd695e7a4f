//! Commands for scoped credentials.

use clap::{Args, Subcommand};
use kopeck_domain::access::Scopes;
use kopeck_domain::address_blocks::AddressBlocks;
use kopeck_domain::ids::CredentialId;
use kopeck_domain::partner::parse_name;
use uuid::Uuid;

use super::examples;
use super::partner::{PartnerArgs, ShowArgs};

/// Commands for scoped credentials.
#[derive(Debug, Subcommand)]
pub enum CredentialCommand {
    /// Create a credential that may do a part of what the partner may, and show its secrets, only this once.
    #[command(after_help = examples::CREDENTIAL_CREATE)]
    Create(CredentialCreateArgs),
    /// List a partner's credentials, also revoked ones.
    #[command(after_help = examples::CREDENTIAL_LIST)]
    List(ShowArgs),
    /// Revoke a credential for good and end its sessions.
    #[command(after_help = examples::CREDENTIAL_REVOKE)]
    Revoke(CredentialRevokeArgs),
}

/// A new credential.
#[derive(Debug, Args)]
pub struct CredentialCreateArgs {
    /// The partner.
    #[command(flatten)]
    pub partner: PartnerArgs,
    /// What it may do, with commas between: `employees:read,replenishments:write`. `write` holds `read`.
    #[arg(long, value_name = "SCOPE,…")]
    pub scopes: Scopes,
    /// The networks from which alone it is accepted, with commas between: `192.0.2.0/24,2001:db8::/32`. Without it, from
    /// anywhere.
    #[arg(long, value_name = "CIDR,…", value_parser = addresses)]
    pub addresses: Option<AddressBlocks>,
    /// Its name, for people; its login if absent.
    #[arg(long, value_parser = parse_name)]
    pub name: Option<String>,
    /// Print JSON and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// A credential to revoke.
#[derive(Debug, Args)]
pub struct CredentialRevokeArgs {
    /// The partner.
    #[command(flatten)]
    pub partner: PartnerArgs,
    /// The identifier of the credential.
    #[arg(value_parser = credential_id)]
    pub credential: CredentialId,
    /// Print JSON and nothing else.
    #[arg(long)]
    pub json: bool,
}

fn addresses(text: &str) -> Result<AddressBlocks, String> {
    let blocks: AddressBlocks = text.parse().map_err(|error| format!("{error}"))?;
    if blocks.is_empty() { Err("names no address block".to_owned()) } else { Ok(blocks) }
}

fn credential_id(text: &str) -> Result<CredentialId, String> {
    text.parse::<Uuid>().map(CredentialId::new).map_err(|_| "must be a uuid".to_owned())
}
