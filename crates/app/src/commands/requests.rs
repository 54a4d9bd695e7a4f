//! `kopeck requests …`.

use std::sync::Arc;

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_port_store::{Access, Subject, transact};
use kopeck_service::stuck::{self, StuckInstruction, StuckOutcome, StuckRequest};
use serde_json::{Value, json};

use super::audited::change;
use super::{confirm, existing_application};
use crate::cli::{OutcomeArg, RequestsCommand, SettleArgs, StuckArgs};
use crate::command_output::say;

/// Runs a `requests` command.
pub(super) fn run(command: RequestsCommand) -> anyhow::Result<()> {
    match command {
        RequestsCommand::Stuck(args) => list(&args),
        RequestsCommand::Settle(args) => settle(args),
    }
}

fn list(args: &StuckArgs) -> anyhow::Result<()> {
    let stuck = transact(&*existing_application(&args.store)?.store(), Access::Read, stuck::list)?;
    let zone = args.store.utc_offset;
    if args.json {
        let shown: Vec<Value> = stuck.iter().map(|request| as_json(request, zone)).collect();
        say!("{}", serde_json::to_string_pretty(&shown)?)?;
        return Ok(());
    }
    if stuck.is_empty() {
        say!("no request waits for a person")?;
    }
    for request in &stuck {
        let (kind, id) = name(request.subject);
        say!("{kind} {id}, partner {}, since {}", request.partner, zone.moment_text(request.since))?;
        for StuckInstruction { key, card, held } in &request.instructions {
            let card = card.map_or_else(String::new, |(id, number)| format!(", card {id} number {number}"));
            let held = held.map_or_else(String::new, |held| format!(", {held} held"));
            say!("  bank key {}{card}{held}", key.as_str())?;
        }
    }
    Ok(())
}

fn settle(args: SettleArgs) -> anyhow::Result<()> {
    confirm::amount(args.confirm, args.returned.unwrap_or(Kopecks::ZERO), "Book as returned")?;
    let application = existing_application(&args.store)?;
    let outcome = match (args.outcome, args.returned) {
        (OutcomeArg::Applied, None) => StuckOutcome::Applied,
        (OutcomeArg::Applied, Some(amount)) => StuckOutcome::Returned(amount),
        (OutcomeArg::Refused, None) => StuckOutcome::Refused,
        (OutcomeArg::Refused, Some(_)) => anyhow::bail!("no money comes back by what the bank refused"),
    };
    let (env, request, card) = (Arc::clone(&application.env), args.id, args.card);
    let settled = change(&application, "requests.settle", None, move |unit, entry| {
        entry.subject = format!("request:{request}");
        stuck::settle(unit, &env, request, outcome, card)
    })?;
    say!("settled instructions: {settled}")?;
    Ok(())
}

fn name(subject: Subject) -> (&'static str, String) {
    match subject {
        Subject::Order(id) => ("order", id.to_string()),
        Subject::Replenishment(id) => ("replenishment", id.to_string()),
        Subject::LimitChange(id) => ("limit change", id.to_string()),
        Subject::Closing(id) => ("closing", id.to_string()),
        Subject::Withdrawal(id) => ("withdrawal", id.to_string()),
        Subject::Run(id) => ("run", id.to_string()),
    }
}

fn as_json(request: &StuckRequest, zone: Zone) -> Value {
    let (kind, id) = name(request.subject);
    let instruction = |StuckInstruction { key, card, held }: &StuckInstruction| {
        json!({
            "bankKey": key.as_str(),
            "idCard": card.map(|(id, _)| id.to_string()),
            "customIdCard": card.map(|(_, number)| number.to_string()),
            "held": held.map(|held| held.get()),
        })
    };
    json!({
        "kind": kind,
        "id": id,
        "partnerId": request.partner.to_string(),
        "since": zone.moment_text(request.since),
        "instructions": request.instructions.iter().map(instruction).collect::<Vec<_>>(),
    })
}
