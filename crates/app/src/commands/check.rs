//! `kopeck check`.

use std::process::ExitCode;
use std::sync::Arc;

use kopeck_adapter_security::KeyRing;
use kopeck_audit::Entry;
use kopeck_port_store::Outage;
use kopeck_port_store::{Access, transact};
use kopeck_service::partners::{self, PartnerError};
use kopeck_service::reconciliation;

use super::{audited, existing_application};
use crate::cli::{CheckArgs, StoreArgs};
use crate::command_output::say;
use crate::compose::{Application, Storage, SystemAdapters};

/// Reconciles every partner, each in one snapshot.
pub(super) fn run(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let CheckArgs { store: args, accept_history } = args;
    if *accept_history {
        let storage = Storage::open_existing(args)?;
        let (adapters, _) = SystemAdapters::real().with_clock_of(&storage.folder)?;
        match self::accept_history(args, &storage.keys.ring()?, &adapters)? {
            Some(missing) => say!("accepted: {missing} is missing")?,
            None => say!("accepted: no process has noted that commits are missing")?,
        }
    }
    let application = existing_application(args)?;
    let store = application.store();
    let partners =
        transact(&*store, Access::Read, |unit| -> Result<_, PartnerError> { partners::list(unit) })?;
    let mut found = 0_usize;
    if application.store.outage() == Some(Outage::Rewound) {
        found += 1;
        say!(
            "the database was rewound: commits are missing, and changes are refused until you run this command with \
             --accept-history"
        )?;
    }
    for partner in &partners {
        let id = partner.id;
        for discrepancy in transact(&*store, Access::Read, move |unit| reconciliation::check(unit, id))? {
            found += 1;
            say!("partner {id}: {discrepancy}")?;
        }
    }
    if found == 0 {
        say!("no discrepancies, partners: {}", partners.len())?;
        Ok(ExitCode::SUCCESS)
    } else {
        say!("discrepancies: {found}")?;
        Ok(ExitCode::FAILURE)
    }
}

/// Accepts the history of the database as it is, with an entry in the audit log. Returns what was missing.
pub(super) fn accept_history(
    args: &StoreArgs,
    keys: &Arc<KeyRing>,
    adapters: &SystemAdapters,
) -> anyhow::Result<Option<String>> {
    let url = args.database_url();
    let open = || Application::with_parts(url, keys, adapters, args.settings(), super::parts(args));
    // Refuses a wrong master key.
    drop(open()?);
    let missing = kopeck_adapter_store_diesel::accept_history(url, &*adapters.clock)?;
    let subject = missing.clone().unwrap_or_default();
    let entry = Entry { subject, ..audited::entry(&*adapters.clock, "database.accept_history", None) };
    audited::append(&*open()?.store, entry)?;
    Ok(missing)
}
