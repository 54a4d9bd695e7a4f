//! `kopeck partner …`.

use anyhow::Context;
use kopeck_domain::Kopecks;
use kopeck_domain::audit::Outcome;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::ledger::DepositReference;
use kopeck_domain::partner::{Partner, PartnerStatus};
use kopeck_port_store::{Access, transact};
use kopeck_sealing::{KeyId, SealingKey};
use kopeck_service::partners::{
    self, Deposited, FormerKey, NewPartner, NewSealingKey, PartnerError, PartnerSecrets, Rotated,
};
use secrecy::ExposeSecret;
use serde_json::json;
use std::sync::Arc;
use time::OffsetDateTime;

use super::audited::change;
use super::{core, existing_core, password};
use crate::cli::{CreateArgs, DepositArgs, PartnerArgs, PartnerCommand, RotateKeyArgs, StoreArgs};
use crate::compose::Core;

/// Does what is asked with partners.
pub(super) fn run(command: PartnerCommand) -> anyhow::Result<()> {
    match command {
        PartnerCommand::Create(args) => create(args),
        PartnerCommand::List(args) => list(&args),
        PartnerCommand::Suspend(args) => set_status(&args, PartnerStatus::Suspended),
        PartnerCommand::Resume(args) => set_status(&args, PartnerStatus::Active),
        PartnerCommand::Deposit(args) => deposit(args),
        PartnerCommand::RotateKeys(args) => rotate_keys(&args),
        PartnerCommand::RotateApiKey(args) => rotate_api_key(&args),
        PartnerCommand::SetPassword(args) => set_password(&args),
        PartnerCommand::EndSessions(args) => end_sessions(&args),
    }
}

/// Makes and stores a partner, with `deposit` kopecks if there are any. Returns what `keep` makes of it before the commit;
/// if `keep` fails, nothing is stored.
pub(super) fn store_partner<T: Send + 'static>(
    core: &Core,
    new: NewPartner,
    deposit: Option<Kopecks>,
    keep: impl Fn(Partner, PartnerSecrets) -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    let prepared = core.partners.prepare(new)?;
    let reference = DepositReference::parse("opening")?;
    let env = Arc::clone(&core.env);
    let desk = core.partners.clone();
    change(core, "partner.create", None, move |unit, entry| -> anyhow::Result<T> {
        let (partner, secrets) = desk.create(unit, &prepared)?;
        entry.partner = Some(partner.id);
        if let Some(amount) = deposit {
            partners::deposit(unit, &env, partner.id, amount, &reference)?;
        }
        keep(partner, secrets)
    })
}

/// The text of a sealing key as partners get it.
pub(super) fn sealing_key_text(key: &NewSealingKey) -> anyhow::Result<String> {
    let secret: [u8; 32] = key.secret.expose_secret().try_into().context("a sealing key has 32 bytes")?;
    Ok(SealingKey::new(KeyId::from_bytes(key.id), secret).to_text().to_string())
}

fn create(args: CreateArgs) -> anyhow::Result<()> {
    let core = core(&args.store)?;
    let password = if args.password_stdin { Some(password::read()?) } else { args.password };
    let new = NewPartner { name: args.name, login: args.login, password, sealing: args.sealing };
    let deposit = args.deposit.map(Kopecks::new);
    let (partner, secrets) = store_partner(&core, new, deposit, |partner, secrets| Ok((partner, secrets)))?;
    let shown = json!({
        "partnerId": partner.id.to_string(),
        "apiKey": secrets.api_key.expose_secret(),
        "login": partner.login,
        "password": secrets.password.expose_secret(),
        "sealingKey": sealing_key_text(&secrets.sealing_key)?,
    });
    if args.json {
        println!("{shown}");
    } else {
        println!("Keep these now: the secrets are not shown again.\n");
        println!("{}", serde_json::to_string_pretty(&shown)?);
    }
    Ok(())
}

fn list(args: &StoreArgs) -> anyhow::Result<()> {
    let partners =
        transact(&*existing_core(args)?.store(), Access::Read, |unit| -> Result<_, PartnerError> {
            partners::list(unit)
        })?;
    println!("{:36}  {:9}  {:8}  {:20}  name", "partner", "status", "sealing", "login");
    for Partner { id, name, login, status, sealing, created_at: _ } in partners {
        println!("{id}  {:9}  {:8}  {login:20}  {name}", status.as_str(), sealing.as_str());
    }
    Ok(())
}

fn set_status(args: &PartnerArgs, status: PartnerStatus) -> anyhow::Result<()> {
    let id = args.id;
    let action = match status {
        PartnerStatus::Active => "partner.resume",
        PartnerStatus::Suspended => "partner.suspend",
    };
    let core = existing_core(&args.store)?;
    change(&core, action, Some(id), move |unit, _| partners::set_status(unit, id, status))?;
    println!("partner {id} is {status}");
    Ok(())
}

fn deposit(args: DepositArgs) -> anyhow::Result<()> {
    let core = existing_core(&args.store)?;
    let DepositArgs { store: _, id, kopecks, reference } = args;
    let outcome = book_deposit(&core, id, Kopecks::new(kopecks), reference.clone())?;
    match outcome {
        Deposited::Now => println!("deposited {} on partner {id}", Kopecks::new(kopecks)),
        Deposited::Before => {
            println!("reference {} had deposited this before: nothing changed", reference.as_str())
        }
    }
    Ok(())
}

fn book_deposit(
    core: &Core,
    id: PartnerId,
    amount: Kopecks,
    reference: DepositReference,
) -> Result<Deposited, PartnerError> {
    let env = Arc::clone(&core.env);
    change(core, "partner.deposit", Some(id), move |unit, entry| {
        let deposited = partners::deposit(unit, &env, id, amount, &reference)?;
        if deposited == Deposited::Before {
            entry.outcome = Outcome::Repeated;
        }
        Ok(deposited)
    })
}

fn rotate_keys(args: &RotateKeyArgs) -> anyhow::Result<()> {
    let core = existing_core(&args.partner.store)?;
    let (id, former, desk) = (args.partner.id, former_key(args), core.partners.clone());
    let Rotated { key, former_until } =
        change(&core, "partner.rotate_keys", Some(id), move |unit, _| desk.rotate_keys(unit, id, former))?;
    println!("{}", sealing_key_text(&key)?);
    tell_end(args, "sealing key", former_until);
    Ok(())
}

fn rotate_api_key(args: &RotateKeyArgs) -> anyhow::Result<()> {
    let core = existing_core(&args.partner.store)?;
    let (id, former, desk) = (args.partner.id, former_key(args), core.partners.clone());
    let Rotated { key, former_until } = change(&core, "partner.rotate_api_key", Some(id), move |unit, _| {
        desk.rotate_api_key(unit, id, former)
    })?;
    println!("{}", key.expose_secret());
    tell_end(args, "API key", former_until);
    Ok(())
}

fn former_key(args: &RotateKeyArgs) -> FormerKey {
    if args.at_once { FormerKey::EndsAtOnce } else { FormerKey::Overlaps }
}

/// Says when the former key ends: to standard error, because the new key is all that a script wants to read.
fn tell_end(args: &RotateKeyArgs, what: &str, until: Option<OffsetDateTime>) {
    match until {
        Some(until) => {
            let until = args.partner.store.utc_offset.moment_text(until);
            eprintln!("The former {what} is accepted until {until}.");
        }
        None => eprintln!("The former {what} is not accepted any more."),
    }
}

fn set_password(args: &PartnerArgs) -> anyhow::Result<()> {
    let (core, id) = (existing_core(&args.store)?, args.id);
    let partner = transact(&*core.store(), Access::Read, move |unit| partners::find(unit, id))?;
    let hash = core.partners.hash_password(&partner, &password::read()?)?;
    let ended = change(&core, "partner.set_password", Some(id), move |unit, _| {
        partners::set_password(unit, id, &hash)
    })?;
    println!("partner {id} has a new password; ended {ended} sessions");
    Ok(())
}

fn end_sessions(args: &PartnerArgs) -> anyhow::Result<()> {
    let (core, id) = (existing_core(&args.store)?, args.id);
    let ended =
        change(&core, "partner.end_sessions", Some(id), move |unit, _| partners::end_sessions(unit, id))?;
    println!("ended {ended} sessions of partner {id}");
    Ok(())
}
