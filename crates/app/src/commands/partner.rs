//! `kopeck partner …`.

mod contract_end;
mod credentials;
mod show;
mod transfers;

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use anyhow::Context;
use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_domain::partner::{Partner, PartnerStatus};
use kopeck_port_store::{Access, BalanceSheet, UnitOfWork, transact};
use kopeck_sealing::{KeyId, SealingKey};
use kopeck_service::balance;
use kopeck_service::partners::{
    self, DepositOrigin, FormerKey, KeyRotation, NewPartner, NewSealingKey, PartnerError, PartnerSecrets,
};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::audited::{authority, change};
use super::{application, confirm, existing_application, password};
use crate::cli::{
    CreateArgs, PartnerArgs, PartnerCommand, PartnerListArgs, PolicyArgs, RenameArgs, RotateKeyArgs,
    SuspendArgs, ThresholdArgs,
};
use crate::command_output::{aligned, note, print, say};
use crate::compose::Application;

/// Runs a `partner` command.
pub(super) fn run(command: PartnerCommand) -> anyhow::Result<()> {
    match command {
        PartnerCommand::Create(args) => create(args),
        PartnerCommand::List(args) => list(&args),
        PartnerCommand::Show(args) => show::run(&args),
        PartnerCommand::Suspend(args) => suspend(&args),
        PartnerCommand::Resume(args) => set_status(&args, PartnerStatus::Active),
        PartnerCommand::Rename(args) => rename(args),
        PartnerCommand::Close(args) => contract_end::close(&args),
        PartnerCommand::Delete(args) => contract_end::delete(&args),
        PartnerCommand::Deposit(args) => transfers::deposit(args),
        PartnerCommand::ReverseDeposit(args) => transfers::reverse_deposit(args),
        PartnerCommand::Withdraw(args) => transfers::withdraw(args),
        PartnerCommand::SetThreshold(args) => set_threshold(&args),
        PartnerCommand::SetApproval(args) => set_approval(&args),
        PartnerCommand::SetPolicy(args) => set_policy(&args),
        PartnerCommand::RotateKeys(args) => rotate_keys(&args),
        PartnerCommand::RotateApiKey(args) => rotate_api_key(&args),
        PartnerCommand::Credential(command) => credentials::run(command),
        PartnerCommand::SetPassword(args) => set_password(&args),
        PartnerCommand::EndSessions(args) => end_sessions(&args),
    }
}

/// Creates a partner with an optional deposit. `keep` runs in the same unit of work; if it fails, nothing is stored.
pub(super) fn store_partner<T: Send + 'static>(
    application: &Application,
    new: NewPartner,
    deposit: Option<Kopecks>,
    keep: impl Fn(&mut dyn UnitOfWork, Partner, PartnerSecrets) -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    let prepared = application.partners.prepare(new)?;
    let env = Arc::clone(&application.env);
    let partners = application.partners.clone();
    change(application, "partner.create", None, move |unit, entry| -> anyhow::Result<T> {
        let (partner, secrets) = partners.create(unit, &prepared)?;
        entry.partner = Some(partner.id);
        if let Some(amount) = deposit {
            partners::deposit(unit, &env, partner.id, amount, &DepositOrigin::Opening)?;
        }
        keep(unit, partner, secrets)
    })
}

/// The text of a sealing key as partners get it.
pub(super) fn sealing_key_text(key: &NewSealingKey) -> anyhow::Result<String> {
    let secret: [u8; 32] = key.secret.expose_secret().try_into().context("a sealing key has 32 bytes")?;
    Ok(SealingKey::new(KeyId::from_bytes(key.id), secret).to_text().to_string())
}

fn create(args: CreateArgs) -> anyhow::Result<()> {
    confirm::amount(
        args.confirm,
        args.deposit.unwrap_or(Kopecks::ZERO),
        "Create a partner with a deposit of",
    )?;
    let application = application(&args.store)?;
    let password = if args.password_stdin { Some(password::read()?) } else { args.password };
    let new = NewPartner { name: args.name, login: args.login, password, sealing: args.sealing };
    let (partner, secrets) =
        store_partner(&application, new, args.deposit, |_, partner, secrets| Ok((partner, secrets)))?;
    let shown = json!({
        "partnerId": partner.id.to_string(),
        "apiKey": secrets.api_key.expose_secret(),
        "login": partner.login,
        "password": secrets.password.expose_secret(),
        "sealingKey": sealing_key_text(&secrets.sealing_key)?,
    });
    if args.json {
        say!("{shown}")?;
    } else {
        say!("Keep these now: the secrets are not shown again.\n")?;
        say!("{}", serde_json::to_string_pretty(&shown)?)?;
    }
    Ok(())
}

fn list(args: &PartnerListArgs) -> anyhow::Result<()> {
    let store = existing_application(&args.store)?.store();
    let rows = transact(&*store, Access::Read, |unit| -> Result<_, PartnerError> {
        let mut rows = Vec::new();
        for partner in partners::list(unit)? {
            let sheet = balance::get(unit, partner.id)?;
            rows.push((partner, sheet));
        }
        Ok(rows)
    })?;
    if args.json {
        let zone = args.store.utc_offset;
        let shown: Vec<Value> = rows
            .iter()
            .map(|(partner, sheet)| as_json(partner, sheet, zone))
            .collect::<anyhow::Result<_>>()?;
        return say!("{}", serde_json::to_string_pretty(&shown)?);
    }
    let head = ["partner", "status", "sealing", "login", "available", "on hold", "name"].map(str::to_owned);
    let row =
        |(Partner { id, name, login, status, sealing, created_at: _ }, sheet): (Partner, BalanceSheet)| {
            let (available, held) = (sheet.balances.available.to_string(), sheet.balances.held.to_string());
            let (status, sealing) = (status.as_str().to_owned(), sealing.as_str().to_owned());
            [id.to_string(), status, sealing, login, available, held, name]
        };
    let lines: Vec<_> = std::iter::once(head).chain(rows.into_iter().map(row)).collect();
    print(format_args!("{}", aligned(&lines)))
}

/// Money is kopecks, as in the API.
fn as_json(partner: &Partner, sheet: &BalanceSheet, zone: Zone) -> anyhow::Result<Value> {
    let Partner { id, name, login, status, sealing, created_at } = partner;
    Ok(json!({
        "partnerId": id.to_string(),
        "name": name,
        "login": login,
        "status": status.as_str(),
        "sealing": sealing.as_str(),
        "createdAt": zone.moment_text(*created_at),
        "balance": sheet.balances.balance()?.get(),
        "hold": sheet.balances.held.get(),
        "available": sheet.balances.available.get(),
        "threshold": sheet.threshold.get(),
    }))
}

fn suspend(args: &SuspendArgs) -> anyhow::Result<()> {
    confirm_partner(&args.partner, args.yes, "Suspend", "Its sessions end, and its logins are refused.")?;
    set_status(&args.partner, PartnerStatus::Suspended)
}

/// At a terminal, has a person confirm by `y` what is to be done with the partner, unless `yes` says so.
fn confirm_partner(partner: &PartnerArgs, yes: bool, verb: &str, effect: &str) -> anyhow::Result<()> {
    if yes || !io::stdin().is_terminal() {
        return Ok(());
    }
    let (application, id) = (existing_application(&partner.store)?, partner.id);
    let Partner { name, .. } =
        transact(&*application.store(), Access::Read, move |unit| partners::find(unit, id))?;
    confirm::ask(format_args!("{verb} {name:?}? {effect}"))
}

fn rename(args: RenameArgs) -> anyhow::Result<()> {
    let RenameArgs { partner: PartnerArgs { store, id }, name } = args;
    let application = existing_application(&store)?;
    let shown = name.clone();
    change(&application, "partner.rename", Some(id), move |unit, _| partners::rename(unit, id, &name))?;
    say!("partner {id} is {shown:?} now")
}

fn set_status(args: &PartnerArgs, status: PartnerStatus) -> anyhow::Result<()> {
    let id = args.id;
    let action = match status {
        PartnerStatus::Active => "partner.resume",
        PartnerStatus::Suspended => "partner.suspend",
    };
    let application = existing_application(&args.store)?;
    change(&application, action, Some(id), move |unit, _| partners::set_status(unit, id, status))?;
    say!("partner {id} is {status}")
}

fn set_threshold(args: &ThresholdArgs) -> anyhow::Result<()> {
    confirm::amount(args.confirm, args.amount, "Set the threshold to")?;
    let application = existing_application(&args.partner.store)?;
    let (id, threshold, env) = (args.partner.id, args.amount, Arc::clone(&application.env));
    change(&application, "partner.set_threshold", Some(id), move |unit, entry| {
        entry.subject = format!("threshold:{}", threshold.get());
        partners::set_threshold(unit, &env, id, threshold)
    })?;
    if threshold == Kopecks::ZERO {
        return say!("partner {id} gets no event of a low balance");
    }
    say!("partner {id} gets an event when less than {threshold} can be spent")
}

fn set_approval(args: &ThresholdArgs) -> anyhow::Result<()> {
    confirm::amount(args.confirm, args.amount, "Require an approval above")?;
    let application = existing_application(&args.partner.store)?;
    let (id, above) = (args.partner.id, args.amount);
    change(&application, "partner.set_approval", Some(id), move |unit, entry| {
        entry.subject = format!("approval:{}", above.get());
        partners::set_approval(unit, id, above)
    })?;
    if above == Kopecks::ZERO {
        return say!("nothing of partner {id} needs an approval");
    }
    say!("what moves more than {above} of partner {id} needs an approval")
}

fn set_policy(args: &PolicyArgs) -> anyhow::Result<()> {
    let application = existing_application(&args.partner.store)?;
    let (id, policy) = (args.partner.id, args.policy);
    change(&application, "partner.set_policy", Some(id), move |unit, entry| {
        entry.subject = format!("sealing:{policy}");
        partners::set_sealing(unit, id, policy)
    })?;
    say!("sealing is {policy} for partner {id}")
}

fn rotate_keys(args: &RotateKeyArgs) -> anyhow::Result<()> {
    let application = existing_application(&args.partner.store)?;
    let (id, former, partners) = (args.partner.id, former_key(args), application.partners.clone());
    let KeyRotation { key, former_until } =
        change(&application, "partner.rotate_keys", Some(id), move |unit, _| {
            partners.rotate_keys(unit, id, former)
        })?;
    show_rotated(args, ("sealing key", "sealingKey"), &sealing_key_text(&key)?, former_until)
}

fn rotate_api_key(args: &RotateKeyArgs) -> anyhow::Result<()> {
    let application = existing_application(&args.partner.store)?;
    let (id, former, partners) = (args.partner.id, former_key(args), application.partners.clone());
    let KeyRotation { key, former_until } =
        change(&application, "partner.rotate_api_key", Some(id), move |unit, _| {
            partners.rotate_api_key(unit, id, former)
        })?;
    show_rotated(args, ("API key", "apiKey"), key.expose_secret(), former_until)
}

fn former_key(args: &RotateKeyArgs) -> FormerKey {
    if args.at_once { FormerKey::EndsAtOnce } else { FormerKey::Overlaps }
}

/// Shows the new key, and when the former one ends. Without `--json` that goes to standard error, because the new key is all
/// that a script wants to read. `what` is the kind of key, for people and for programs.
fn show_rotated(
    args: &RotateKeyArgs,
    what: (&str, &str),
    key: &str,
    former_until: Option<OffsetDateTime>,
) -> anyhow::Result<()> {
    let former_until = former_until.map(|until| args.partner.store.utc_offset.moment_text(until));
    if args.json {
        return say!("{}", json!({what.1: key, "formerAcceptedUntil": former_until}));
    }
    say!("{key}")?;
    match former_until {
        Some(until) => note(format_args!("The former {} is accepted until {until}.", what.0)),
        None => note(format_args!("The former {} is not accepted any more.", what.0)),
    }
    Ok(())
}

fn set_password(args: &PartnerArgs) -> anyhow::Result<()> {
    let (application, id) = (existing_application(&args.store)?, args.id);
    let partner = transact(&*application.store(), Access::Read, move |unit| partners::find(unit, id))?;
    let hash = application.partners.hash_password(&partner, &password::read()?)?;
    let ended = change(&application, "partner.set_password", Some(id), move |unit, _| {
        partners::set_password(unit, id, &hash)
    })?;
    say!("partner {id} has a new password; sessions ended: {ended}")
}

fn end_sessions(args: &PartnerArgs) -> anyhow::Result<()> {
    let (application, id) = (existing_application(&args.store)?, args.id);
    let ended = change(&application, "partner.end_sessions", Some(id), move |unit, _| {
        partners::end_sessions(unit, id)
    })?;
    say!("sessions of partner {id} ended: {ended}")
}
