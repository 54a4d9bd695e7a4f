//! `kopeck webhooks …`.

use std::sync::Arc;

use kopeck_domain::event::DisableReason;
use kopeck_domain::ids::WebhookId;
use kopeck_port_store::page::Page;
use kopeck_port_store::{Access, UnitOfWork, transact};
use kopeck_service::webhooks::{self, WebhookView};
use serde_json::{Value, json};

use super::audited::change;
use super::existing_application;
use crate::cli::{WebhookDisableArgs, WebhookListArgs, WebhooksCommand};
use crate::command_output::say;

/// Runs a `webhooks` command.
pub(super) fn run(command: WebhooksCommand) -> anyhow::Result<()> {
    match command {
        WebhooksCommand::List(args) => list(&args),
        WebhooksCommand::Disable(args) => disable(&args),
    }
}

fn list(args: &WebhookListArgs) -> anyhow::Result<()> {
    let (partner, zone) = (args.partner.id, args.partner.store.utc_offset);
    let page = Page::new(1, Page::MAX_SIZE)?;
    let read = move |unit: &mut dyn UnitOfWork| webhooks::list(unit, partner, page);
    let listed = transact(&*existing_application(&args.partner.store)?.store(), Access::Read, read)?;
    let moment = |at| zone.moment_text(at);
    if args.json {
        let shown: Vec<Value> = listed.items.iter().map(|view| as_json(view, &moment)).collect();
        say!("{}", serde_json::to_string_pretty(&shown)?)?;
        return Ok(());
    }
    if listed.items.is_empty() {
        say!("the partner has no webhook")?;
    }
    for WebhookView { webhook, pending } in &listed.items {
        let state = if webhook.enabled { "enabled" } else { "disabled" };
        let failing = webhook
            .failing_since
            .map_or_else(String::new, |since| format!(", failing since {}", moment(since)));
        let paused = webhook
            .paused_until
            .map_or_else(String::new, |until| format!(", next attempt not before {}", moment(until)));
        // Old URLs may contain characters that turn or hide a line.
        let url = webhook.url.as_str().escape_debug();
        say!("{}  {state}, {pending} pending{failing}{paused}  {url}", webhook.id)?;
    }
    Ok(())
}

fn as_json(view: &WebhookView, moment: &impl Fn(time::OffsetDateTime) -> String) -> Value {
    let webhook = &view.webhook;
    json!({
        "idWebhook": webhook.id.to_string(),
        "url": webhook.url.as_str(),
        "enabled": webhook.enabled,
        "pending": view.pending,
        "lastSuccessAt": webhook.last_success_at.map(moment),
        "lastFailureAt": webhook.last_failure_at.map(moment),
        "failingSince": webhook.failing_since.map(moment),
        "pausedUntil": webhook.paused_until.map(moment),
    })
}

fn disable(args: &WebhookDisableArgs) -> anyhow::Result<()> {
    let application = existing_application(&args.partner.store)?;
    let (env, partner, webhook) =
        (Arc::clone(&application.env), args.partner.id, WebhookId::new(args.webhook));
    change(&application, "webhooks.disable", Some(partner), move |unit, entry| {
        entry.subject = format!("webhook:{webhook}");
        webhooks::disable(unit, &env, partner, webhook, DisableReason::Operator)
    })?;
    say!("disabled {webhook}")?;
    Ok(())
}
