//! `kopeck audit …`.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, ensure};
use kopeck_adapter_security::AuditKeys;
use kopeck_adapter_store_diesel::{PooledStore, StoreConfig};
use kopeck_adapter_system::{DataFolder, Timestamp};
use kopeck_audit::{Actor, Entry, Head, Record};
use kopeck_domain::calendar::{Zone, date_text, parse_date};
use kopeck_port_store::{Access, AuditFilter, AuditSigner, transact};
use kopeck_service::audit::{VerificationReport, VerifyError, prune, verify};
use serde_json::{Value, json};
use time::{Date, OffsetDateTime, UtcOffset};

use super::audited::audited_in_two_steps;
use super::existing_application;
use crate::cli::{AuditCommand, AuditListArgs, AuditPruneArgs, AuditVerifyArgs, StoreArgs};
use crate::command_output::{aligned, note, print, say};
use crate::compose::SystemAdapters;
use crate::connections::check_database;
use crate::keys::{MasterKeys, of_folder};

/// Runs an `audit` command.
pub(super) fn run(command: &AuditCommand) -> anyhow::Result<ExitCode> {
    match command {
        AuditCommand::List(args) => list(args).map(|()| ExitCode::SUCCESS),
        AuditCommand::Verify(args) => check(args),
        AuditCommand::Prune(args) => remove(args).map(|()| ExitCode::SUCCESS),
    }
}

/// Checks signatures if there is a master key, which an auditor need not have.
fn signer(args: &StoreArgs) -> anyhow::Result<Option<Arc<dyn AuditSigner>>> {
    let folder = DataFolder::existing(args.database_url(), args.data_dir.as_deref())?;
    let keys = match MasterKeys::from_settings(args)? {
        Some(keys) => keys,
        None => match of_folder(&folder) {
            Ok(file) if file.exists() => MasterKeys::File(file),
            _ => return Ok(None),
        },
    };
    Ok(Some(Arc::new(AuditKeys::new(keys.ring()?))))
}

/// The database alone.
fn store(args: &StoreArgs) -> anyhow::Result<PooledStore> {
    check_database(args)?;
    DataFolder::existing(args.database_url(), args.data_dir.as_deref())?;
    let config = StoreConfig::new(args.database_url(), Arc::clone(&SystemAdapters::real().clock));
    Ok(PooledStore::open(config)?)
}

fn list(args: &AuditListArgs) -> anyhow::Result<()> {
    let zone = args.store.utc_offset;
    let moment = |text: &Option<String>| text.as_deref().map(|text| parse_moment(text, zone)).transpose();
    let filter = AuditFilter {
        since: moment(&args.since).context("--since")?,
        until: moment(&args.until).context("--until")?,
        partner: args.partner,
        action: args.action.clone(),
        outcome: args.outcome,
    };
    let limit = args.limit;
    let records =
        transact(&store(&args.store)?, Access::Read, move |unit| unit.audit().list(&filter, limit))?;
    let mut text = String::new();
    if args.json {
        records.iter().try_for_each(|record| writeln!(text, "{}", as_json(record)))?;
    } else {
        let rows: Vec<_> = records.iter().map(|record| as_row(&record.entry, zone)).collect();
        text = aligned(&rows);
    }
    print(format_args!("{text}"))
}

fn check(args: &AuditVerifyArgs) -> anyhow::Result<ExitCode> {
    let mut noted = args.head.clone();
    if let Some(file) = &args.heads {
        let text =
            std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        noted.extend(heads_in(&text).with_context(|| file.display().to_string())?);
    }
    let signer = signer(&args.store)?;
    match verify(&store(&args.store)?, signer.as_deref(), &noted, args.unsigned.accept_unsigned) {
        Ok(verified) if args.require_signatures && signer.is_none() => {
            say!("the signatures cannot be checked: {}", in_words(&verified, false))?;
            Ok(ExitCode::FAILURE)
        }
        Ok(verified) if args.print_heads => {
            if signer.is_none() {
                note(format_args!("{}", in_words(&verified, false)));
            }
            verified.heads.iter().try_for_each(|head| say!("{head}"))?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(verified) => {
            say!("the audit log is whole, {}", in_words(&verified, signer.is_some()))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(VerifyError::Broken(violation)) => {
            say!("the audit log is broken: {violation}")?;
            Ok(ExitCode::FAILURE)
        }
        Err(VerifyError::Store(error)) => Err(error.into()),
    }
}

/// How much there is, and what could not be checked.
fn in_words(verified: &VerificationReport, has_key: bool) -> String {
    let VerificationReport { entries, unsigned, pruned, heads } = verified;
    let mut words = format!("entries: {entries}, chains: {}", heads.len());
    for (what, count) in [("removed by pruning", pruned), ("without a signature", unsigned)] {
        if *count > 0 {
            words += &format!(", {what}: {count}");
        }
    }
    if !has_key {
        words += "; signatures were not checked: there is no master key";
    }
    words
}

fn remove(args: &AuditPruneArgs) -> anyhow::Result<()> {
    let before = parse_moment(&args.before, args.store.utc_offset).context("--before")?;
    ensure!(before <= SystemAdapters::real().wall.now(), "--before: lies in the future");
    let application = existing_application(&args.store)?;
    let subject = format!("before:{}", zoned_text(before, Zone::new(UtcOffset::UTC)));
    let removed = audited_in_two_steps(&application, "audit.prune", subject, |subject| {
        // Changes could not be detected afterwards.
        verify(&*application.store, Some(&*application.signer), &[], args.unsigned.accept_unsigned)
            .context("nothing was removed")?;
        let removed = prune(&*application.store, &application.signer, before)?;
        *subject += &format!(" entries:{removed}");
        Ok(removed)
    })?;
    say!("entries removed: {removed}")?;
    Ok(())
}

fn heads_in(text: &str) -> anyhow::Result<Vec<Head>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| Ok(line.rsplit(' ').next().unwrap_or(line).parse()?)).collect()
}

fn parse_moment(text: &str, zone: Zone) -> anyhow::Result<OffsetDateTime> {
    if let Some(day) = parse_date(text).ok().or_else(|| rfc3339_date(text)) {
        return Ok(zone.start_of(day));
    }
    // The time as in the list, up to the minute.
    let shown = text.split_once('T').and_then(|(day, time)| Some((rfc3339_date(day)?, time)));
    match shown {
        Some((day, time)) => Ok(zone.parse_moment(&format!("{} {time}", date_text(day)))?),
        None => Ok(zone.parse_moment(text)?),
    }
}

/// Reads `YYYY-MM-DD`.
fn rfc3339_date(text: &str) -> Option<Date> {
    let mut parts = text.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    parse_date(&format!("{day}.{month}.{year}")).ok()
}

/// The time in the zone in which `--since` is read, in the form of RFC 3339.
fn zoned_text(at: OffsetDateTime, zone: Zone) -> String {
    format!("{:.6}", Timestamp(at.to_offset(zone.offset())))
}

/// The actor, as one word or two.
fn who(entry: &Entry) -> String {
    let partner = || entry.partner.map_or_else(|| "-".to_owned(), |partner| partner.to_string());
    match &entry.actor {
        Actor::Partner(_) => partner(),
        Actor::Unknown if entry.partner.is_some() => format!("?{}", partner()),
        Actor::Unknown => "?".to_owned(),
        Actor::Credential(id, _) => format!("{}/credential:{id}", partner()),
        Actor::User(id) => format!("user:{id}"),
        Actor::Operator(user) => user.clone(),
        Actor::Service => "service".to_owned(),
    }
}

/// The columns of a line: time, outcome, action, actor, source, status, error code, subject.
fn as_row(entry: &Entry, zone: Zone) -> [String; 8] {
    let Entry { at, source, action, subject, outcome, status, code, .. } = entry;
    let status = status.map_or_else(|| "-".to_owned(), |status| status.to_string());
    let code = code.as_deref().unwrap_or("-").to_owned();
    let subject = match (&entry.actor, entry.partner) {
        (Actor::Operator(_), Some(partner)) if subject.is_empty() => format!("partner:{partner}"),
        (Actor::Operator(_), Some(partner)) => format!("partner:{partner} {subject}"),
        _ => subject.clone(),
    };
    let (at, outcome) = (zoned_text(*at, zone), outcome.as_str().to_owned());
    [at, outcome, action.to_string(), who(entry), source.clone(), status, code, subject]
}

/// Our own id of a request, and the caller's if it sent one.
fn request_ids(ids: &str) -> (&str, Option<&str>) {
    ids.split_once(' ').map_or((ids, None), |(own, caller)| (own, Some(caller)))
}

fn as_json(Record { entry, head, signature }: &Record) -> Value {
    let (actor_id, pair, operator) = match &entry.actor {
        Actor::Unknown | Actor::Service => (None, None, None),
        Actor::Partner(pair) => (None, *pair, None),
        Actor::Credential(id, pair) => (Some(id.to_string()), *pair, None),
        Actor::User(id) => (Some(id.to_string()), None, None),
        Actor::Operator(user) => (None, None, Some(user)),
    };
    let ids = entry.request_id.as_deref().map(request_ids);
    json!({
        "chain": head.chain,
        "number": head.number,
        "hash": head.hash.to_string(),
        "isSigned": signature.is_some(),
        "at": zoned_text(entry.at, Zone::new(UtcOffset::UTC)),
        "actor": entry.actor.kind(),
        "actorId": actor_id,
        "credential": pair.map(|pair| pair.to_string()),
        "operator": operator,
        "partnerId": entry.partner.map(|partner| partner.to_string()),
        "source": entry.source,
        "action": entry.action,
        "subject": entry.subject,
        "requestId": ids.map(|(own, _)| own),
        "callerRequestId": ids.and_then(|(_, caller)| caller),
        "keyDigest": entry.key.map(|key| key.to_string()),
        "sealed": entry.sealed,
        "outcome": entry.outcome.as_str(),
        "status": entry.status,
        "code": entry.code,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::{datetime, offset};

    #[test]
    fn timestamps_are_shown_and_parsed_in_the_zone() {
        let zone = Zone::new(offset!(+3));
        let day = parse_moment("02.03.2026", zone).unwrap();
        assert_eq!(day, datetime!(2026-03-01 21:00 UTC));
        assert_eq!(parse_moment("2026-03-02", zone).unwrap(), day);
        assert_eq!(parse_moment("02.03.2026 00:01", zone).unwrap(), datetime!(2026-03-01 21:01 UTC));
        assert_eq!(parse_moment("2026-03-02T00:01", zone).unwrap(), datetime!(2026-03-01 21:01 UTC));
        assert_eq!(zoned_text(datetime!(2026-03-01 21:01 UTC), zone), "2026-03-02T00:01:00.000000+03:00");
        let west = Zone::new(offset!(-3:30));
        assert_eq!(zoned_text(datetime!(2026-03-01 21:01 UTC), west), "2026-03-01T17:31:00.000000-03:30");
        for wrong in [
            "2026-03-02T",
            "2026-03-02T24:00",
            "T00:01",
            "yesterday",
            "2026-3-2",
            "2026-03",
            "2026-02-30",
            "02-03-2026",
            "2026-03-02-01",
        ] {
            assert!(parse_moment(wrong, zone).is_err(), "{wrong}");
        }
        assert_eq!(
            zoned_text(datetime!(2026-03-02 00:00:01.000_5 +3), Zone::new(UtcOffset::UTC)),
            "2026-03-01T21:00:01.000500Z"
        );
    }

    #[test]
    fn heads_stand_one_a_line() {
        let head = format!("1:7:{}", "0a".repeat(32));
        let heads = heads_in(&format!("# of March\n\n {head} \n2026-03-02T00:00:00.000Z {head}\n")).unwrap();
        assert_eq!(heads.iter().map(ToString::to_string).collect::<Vec<_>>(), [head.clone(), head]);
        assert!(heads_in("1:7:nonsense").is_err());
    }
}
