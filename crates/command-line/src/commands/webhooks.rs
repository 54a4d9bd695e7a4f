//! `kopeck call webhooks …`.

mod listen;

use clap::{Args, Subcommand};
use kopeck_client::{
    Client, DeliveryStatus, EventType, NewWebhook, Patch, RedeliveryOf, Uuid, WebhookUpdate,
};

use super::shown;
use crate::arguments::whole;
use crate::context::IdempotencyArgs;
use crate::failure::Failure;
use crate::output::{Output, json_of};
use crate::pages::PageArgs;
use crate::table::{Column, flag, number, text};

/// Commands for webhooks.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum WebhooksCommand {
    /// Create a webhook, and print the secret that signs its deliveries.
    Create {
        /// The URL to which events are posted.
        url: String,
        #[command(flatten)]
        fields: FieldArgs,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// List webhooks, the first created first.
    List {
        #[command(flatten)]
        page: PageArgs,
    },
    /// Show a webhook.
    Get {
        /// The webhook.
        webhook: Uuid,
    },
    /// Change a webhook.
    Update {
        /// The webhook.
        webhook: Uuid,
        /// The URL to which events are posted.
        #[arg(long)]
        url: Option<String>,
        /// All types of events again.
        #[arg(long, conflicts_with = "types")]
        all_types: bool,
        /// Whether events are delivered.
        #[arg(long)]
        enabled: Option<bool>,
        #[command(flatten)]
        fields: FieldArgs,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// Delete a webhook with its deliveries.
    Delete {
        /// The webhook.
        webhook: Uuid,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// Replace the secret of a webhook, and print the new one. For 24 hours the former one signs too.
    RotateSecret {
        /// The webhook.
        webhook: Uuid,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// Send a test event to a webhook.
    Ping {
        /// The webhook.
        webhook: Uuid,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// List the deliveries of a webhook, newest first.
    Deliveries {
        /// The webhook.
        webhook: Uuid,
        /// Only those of this status: `PENDING`, `DELIVERED` or `FAILED`.
        #[arg(long)]
        status: Option<String>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Post events to an address on this machine, signed as a webhook's are, until interrupted. For development: it needs no
    /// webhook.
    Listen(listen::ListenArgs),
    /// Deliver events once more.
    Redeliver {
        /// The webhook.
        webhook: Uuid,
        #[command(flatten)]
        which: WhichArgs,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
}

/// Fields of a webhook.
#[derive(Debug, Clone, Args)]
pub(crate) struct FieldArgs {
    /// Only these types, with commas between them, such as `order.status,card.issued`.
    #[arg(long, value_delimiter = ',')]
    types: Option<Vec<String>>,
    /// Your own words, up to 256 characters.
    #[arg(long)]
    description: Option<String>,
    /// Whether the data of events are encrypted.
    #[arg(long)]
    sealed: Option<bool>,
}

impl FieldArgs {
    fn types(&self) -> Option<Vec<EventType>> {
        let types = self.types.as_ref()?;
        Some(types.iter().map(|name| EventType::from(name.as_str())).collect())
    }
}

/// Which events to deliver once more.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct WhichArgs {
    /// This event.
    #[arg(long)]
    event: Option<Uuid>,
    /// Undelivered events after this number of the feed.
    #[arg(long, value_parser = whole(0, None::<i64>))]
    after: Option<i64>,
}

const COLUMNS: [Column; 6] = [
    text("idWebhook", "/idWebhook"),
    text("url", "/url"),
    flag("enabled", "/enabled"),
    flag("sealed", "/sealed"),
    number("pending", "/pending"),
    text("failing since", "/failingSince"),
];

const DELIVERIES: [Column; 6] = [
    number("seq", "/seq"),
    text("type", "/type"),
    text("eventId", "/eventId"),
    text("status", "/status"),
    number("attempts", "/attempts"),
    text("last error", "/lastError"),
];

pub(super) async fn run(client: &Client, command: WebhooksCommand, json: bool) -> Result<Output, Failure> {
    let webhooks = client.webhooks();
    match command {
        WebhooksCommand::Create { url, fields, repeat } => {
            let new = NewWebhook {
                url,
                types: fields.types(),
                description: fields.description.unwrap_or_default(),
                sealed: fields.sealed,
            };
            let created = repeat.send(webhooks.create(&new)).await?;
            shown(&created, &[text("idWebhook", "/idWebhook"), text("secret", "/secret")])
        }
        WebhooksCommand::List { page } => page.answer(&COLUMNS, webhooks.all()).await,
        WebhooksCommand::Get { webhook } => shown(&webhooks.get(webhook).await?, &COLUMNS),
        WebhooksCommand::Update { webhook, url, all_types, enabled, fields, repeat } => {
            let types = match fields.types() {
                Some(types) => Patch::Set(types),
                None if all_types => Patch::Clear,
                None => Patch::Keep,
            };
            let FieldArgs { description, sealed, .. } = fields;
            let update = WebhookUpdate { url, types, description, enabled, sealed };
            shown(&repeat.send(webhooks.update(webhook, &update)).await?, &COLUMNS)
        }
        WebhooksCommand::Delete { webhook, repeat } => {
            shown(&repeat.send(webhooks.delete(webhook)).await?, &COLUMNS)
        }
        WebhooksCommand::RotateSecret { webhook, repeat } => {
            shown(&repeat.send(webhooks.rotate_secret(webhook)).await?, &[text("secret", "/secret")])
        }
        WebhooksCommand::Ping { webhook, repeat } => {
            shown(&repeat.send(webhooks.ping(webhook)).await?, &[text("eventId", "/eventId")])
        }
        WebhooksCommand::Deliveries { webhook, status, page } => {
            let status = status.map(|status| DeliveryStatus::from(status.as_str()));
            page.answer(&DELIVERIES, webhooks.deliveries(webhook, status)).await
        }
        WebhooksCommand::Listen(args) => listen::run(client, args, json).await,
        WebhooksCommand::Redeliver { webhook, which, repeat } => {
            let which = which.event.map(RedeliveryOf::Event).or(which.after.map(RedeliveryOf::After));
            let which = which.ok_or_else(|| Failure::local("name an event, or a number of the feed"))?;
            let queued = repeat.send(webhooks.redeliver(webhook, which)).await?;
            Ok(Output::new(json_of(&queued)?, format!("{} queued", queued.deliveries)))
        }
    }
}
