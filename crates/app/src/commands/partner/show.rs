//! `kopeck partner show`.

use std::sync::Arc;

use kopeck_domain::calendar::Zone;
use kopeck_domain::credential::Credential;
use kopeck_port_store::{Access, transact};
use kopeck_sealing::KeyId;
use kopeck_service::partners::{self, PartnerOverview, SealingKeyOverview};
use kopeck_service::users::UserOverview;
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::credentials::as_json as credential_as_json;
use super::{as_json, existing_application};
use crate::cli::ShowArgs;
use crate::command_output::{aligned, print, say};
use crate::commands::user;

/// Shows one partner.
pub(super) fn run(args: &ShowArgs) -> anyhow::Result<()> {
    let application = existing_application(&args.partner.store)?;
    let (id, env) = (args.partner.id, Arc::clone(&application.env));
    let overview =
        transact(&*application.store(), Access::Read, move |unit| partners::overview(unit, &env, id))?;
    let zone = args.partner.store.utc_offset;
    if args.json {
        return say!("{}", serde_json::to_string_pretty(&whole_as_json(&overview, zone)?)?);
    }
    print(format_args!("{}", aligned(&rows(&overview, zone)?)))
}

fn whole_as_json(overview: &PartnerOverview, zone: Zone) -> anyhow::Result<Value> {
    let PartnerOverview {
        partner,
        sheet,
        former_api_key_until,
        sealing_keys,
        credentials,
        sessions,
        users,
        open_requests,
    } = overview;
    let until = |at: &Option<OffsetDateTime>| at.map(|at| zone.moment_text(at));
    let key = |key: &SealingKeyOverview| {
        json!({
            "keyId": KeyId::from_bytes(key.id).to_string(),
            "createdAt": zone.moment_text(key.created_at),
            "acceptedUntil": until(&key.accepted_until),
            "firstUsedAt": until(&key.first_used_at),
        })
    };
    let more = json!({
        "approvalAbove": sheet.approval_above.get(),
        "formerApiKeyAcceptedUntil": until(former_api_key_until),
        "sealingKeys": sealing_keys.iter().map(key).collect::<Vec<_>>(),
        "credentials": credentials.iter().map(|one| credential_as_json(one, zone)).collect::<Vec<_>>(),
        "sessions": sessions,
        "users": users.iter().map(|each| user::as_json(each, zone)).collect::<Vec<_>>(),
        "openRequests": open_requests,
    });
    let mut shown = as_json(partner, sheet, zone)?;
    if let (Value::Object(shown), Value::Object(more)) = (&mut shown, more) {
        shown.extend(more);
    }
    Ok(shown)
}

fn rows(overview: &PartnerOverview, zone: Zone) -> anyhow::Result<Vec<[String; 2]>> {
    let PartnerOverview {
        partner,
        sheet,
        former_api_key_until,
        sealing_keys,
        credentials,
        sessions,
        users,
        open_requests,
    } = overview;
    let balances = &sheet.balances;
    let mut rows = vec![
        ("partner", partner.id.to_string()),
        ("name", partner.name.clone()),
        ("login", partner.login.clone()),
        ("status", partner.status.to_string()),
        ("sealing", partner.sealing.to_string()),
        ("created", zone.moment_text(partner.created_at)),
        ("balance", balances.balance()?.to_string()),
        ("on hold", balances.held.to_string()),
        ("available", balances.available.to_string()),
        ("threshold", sheet.threshold.to_string()),
        ("approval above", sheet.approval_above.to_string()),
        ("API key", "active".to_owned()),
    ];
    rows.extend(former_api_key_until.map(|until| ("former API key", accepted_until(until, zone))));
    rows.extend(sealing_keys.iter().map(|key| {
        let end = key.accepted_until.map_or_else(|| "active".to_owned(), |until| accepted_until(until, zone));
        let (id, issued) = (KeyId::from_bytes(key.id), zone.moment_text(key.created_at));
        let used = key
            .first_used_at
            .map_or_else(|| "not used yet".to_owned(), |at| format!("used since {}", zone.moment_text(at)));
        ("sealing key", format!("{id}, issued {issued}, {end}, {used}"))
    }));
    rows.extend(credentials.iter().map(|Credential { id, name, scopes, addresses, .. }| {
        let from = addresses.as_ref().map_or_else(String::new, |blocks| format!(", from {blocks}"));
        ("credential", format!("{id} {name}: {scopes}{from}"))
    }));
    rows.push(("sessions", sessions.to_string()));
    rows.extend(users.iter().map(|UserOverview { user, has_second_factor, .. }| {
        let factor = if *has_second_factor { "" } else { ", no second factor yet" };
        ("user", format!("{}, {}, {}{factor}", user.login.as_str(), user.role, user.status))
    }));
    rows.push(("open requests", open_requests.to_string()));
    Ok(rows.into_iter().map(|(name, value)| [name.to_owned(), value]).collect())
}

fn accepted_until(until: OffsetDateTime, zone: Zone) -> String {
    format!("accepted until {}", zone.moment_text(until))
}
