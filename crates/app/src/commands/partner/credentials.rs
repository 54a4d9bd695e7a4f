//! `kopeck partner credential …`.

use std::sync::Arc;

use kopeck_domain::calendar::Zone;
use kopeck_domain::credential::Credential;
use kopeck_port_store::{Access, transact};
use kopeck_service::partners::{self, CredentialDraft, NewCredential};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use super::{authority, change, existing_application, sealing_key_text};
use crate::cli::{CredentialCommand, CredentialCreateArgs, CredentialRevokeArgs, ShowArgs};
use crate::command_output::{aligned, print, say};

/// Runs a `partner credential` command.
pub(super) fn run(command: CredentialCommand) -> anyhow::Result<()> {
    match command {
        CredentialCommand::Create(args) => create(args),
        CredentialCommand::List(args) => list(&args),
        CredentialCommand::Revoke(args) => revoke(&args),
    }
}

fn create(args: CredentialCreateArgs) -> anyhow::Result<()> {
    let CredentialCreateArgs { partner, scopes, addresses, name, json } = args;
    let (application, id) = (existing_application(&partner.store)?, partner.id);
    let draft = application.partners.prepare_credential(id, NewCredential { name, scopes, addresses })?;
    let CredentialDraft { record, secrets } = draft;
    let (stored, authority) = (record.clone(), authority());
    change(&application, "partner.credential.create", Some(id), move |unit, entry| {
        entry.subject = format!("credential:{}", stored.credential.id);
        partners::create_credential(unit, &authority, id, &stored)
    })?;
    let credential = &record.credential;
    let shown = json!({
        "credentialId": credential.id.to_string(),
        "name": credential.name,
        "scopes": scope_words(credential),
        "addresses": credential.addresses.as_ref().map(ToString::to_string),
        "apiKey": secrets.api_key.expose_secret(),
        "login": record.login,
        "password": secrets.password.expose_secret(),
        "sealingKey": sealing_key_text(&secrets.sealing_key)?,
    });
    if json {
        return say!("{shown}");
    }
    say!("Keep these now: the secrets are not shown again.\n")?;
    say!("{}", serde_json::to_string_pretty(&shown)?)
}

fn list(args: &ShowArgs) -> anyhow::Result<()> {
    let (application, id) = (existing_application(&args.partner.store)?, args.partner.id);
    let credentials =
        transact(&*application.store(), Access::Read, move |unit| partners::credentials(unit, id))?;
    let zone = args.partner.store.utc_offset;
    if args.json {
        let shown: Vec<Value> = credentials.iter().map(|credential| as_json(credential, zone)).collect();
        return say!("{}", serde_json::to_string_pretty(&shown)?);
    }
    let head = ["credential", "created", "revoked", "addresses", "scopes", "name"].map(str::to_owned);
    let row = |Credential { id, name, scopes, addresses, created_at, revoked_at }: Credential| {
        let revoked = revoked_at.map_or_else(|| "-".to_owned(), |at| zone.moment_text(at));
        let addresses = addresses.map_or_else(|| "any".to_owned(), |blocks| blocks.to_string());
        [id.to_string(), zone.moment_text(created_at), revoked, addresses, scopes.to_string(), name]
    };
    let lines: Vec<_> = std::iter::once(head).chain(credentials.into_iter().map(row)).collect();
    print(format_args!("{}", aligned(&lines)))
}

fn revoke(args: &CredentialRevokeArgs) -> anyhow::Result<()> {
    let CredentialRevokeArgs { partner, credential, json } = args;
    let (application, id, credential) = (existing_application(&partner.store)?, partner.id, *credential);
    let (env, authority) = (Arc::clone(&application.env), authority());
    let ended = change(&application, "partner.credential.revoke", Some(id), move |unit, entry| {
        entry.subject = format!("credential:{credential}");
        partners::revoke_credential(unit, &env, &authority, id, credential)
    })?;
    if *json {
        return say!("{}", json!({"credentialId": credential.to_string(), "sessionsEnded": ended}));
    }
    say!("credential {credential} is revoked; sessions ended: {ended}")
}

/// A credential as JSON, without secrets.
pub(super) fn as_json(credential: &Credential, zone: Zone) -> Value {
    json!({
        "credentialId": credential.id.to_string(),
        "name": credential.name,
        "scopes": scope_words(credential),
        "addresses": credential.addresses.as_ref().map(ToString::to_string),
        "createdAt": zone.moment_text(credential.created_at),
        "revokedAt": credential.revoked_at.map(|at| zone.moment_text(at)),
    })
}

fn scope_words(credential: &Credential) -> Vec<&'static str> {
    credential.scopes.iter().map(|scope| scope.as_str()).collect()
}
