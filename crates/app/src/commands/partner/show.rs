//! `kopeck partner show`.

use std::sync::Arc;

use kopeck_domain::calendar::Zone;
use kopeck_port_store::{Access, transact};
use kopeck_sealing::KeyId;
use kopeck_service::partners::{self, PartnerOverview, SealingKeyOverview};
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::{as_json, existing_application};
use crate::cli::ShowArgs;
use crate::command_output::{aligned, print, say};

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
    let PartnerOverview { partner, sheet, former_api_key_until, sealing_keys, sessions, open_requests } =
        overview;
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
        "formerApiKeyAcceptedUntil": until(former_api_key_until),
        "sealingKeys": sealing_keys.iter().map(key).collect::<Vec<_>>(),
        "sessions": sessions,
        "openRequests": open_requests,
    });
    let mut shown = as_json(partner, sheet, zone)?;
    if let (Value::Object(shown), Value::Object(more)) = (&mut shown, more) {
        shown.extend(more);
    }
    Ok(shown)
}

fn rows(overview: &PartnerOverview, zone: Zone) -> anyhow::Result<Vec<[String; 2]>> {
    let PartnerOverview { partner, sheet, former_api_key_until, sealing_keys, sessions, open_requests } =
        overview;
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
    rows.push(("sessions", sessions.to_string()));
    rows.push(("open requests", open_requests.to_string()));
    Ok(rows.into_iter().map(|(name, value)| [name.to_owned(), value]).collect())
}

fn accepted_until(until: OffsetDateTime, zone: Zone) -> String {
    format!("accepted until {}", zone.moment_text(until))
}
