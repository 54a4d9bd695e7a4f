//! Options of `kopeck webhooks …`.

use clap::{Args, Subcommand};
use uuid::Uuid;

use super::PartnerArgs;

/// Commands for the webhooks of a partner.
#[derive(Debug, Subcommand)]
pub enum WebhooksCommand {
    /// List a partner's webhooks, and how their deliveries go.
    List(WebhookListArgs),
    /// Disable a webhook and cancel its pending deliveries. The partner's feed has an event of it.
    Disable(WebhookDisableArgs),
}

/// Options of the list.
#[derive(Debug, Args)]
pub struct WebhookListArgs {
    /// The partner.
    #[command(flatten)]
    pub partner: PartnerArgs,
    /// Print JSON and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// A webhook to disable.
#[derive(Debug, Args)]
pub struct WebhookDisableArgs {
    /// The partner.
    #[command(flatten)]
    pub partner: PartnerArgs,
    /// The webhook's identifier.
    pub webhook: Uuid,
}
