//! `kopeck migrate`.

use std::sync::Arc;

use kopeck_adapter_security::KeyRing;
use kopeck_adapter_store_diesel::{grant, migrate};
use kopeck_adapter_system::DataFolder;
use kopeck_audit::Entry;

use super::audited;
use crate::cli::{MigrateArgs, StoreArgs};
use crate::command_output::say;
use crate::compose::{Application, Storage, SystemAdapters};

/// Applies and lists the missing migrations.
pub(super) fn run(args: &MigrateArgs) -> anyhow::Result<()> {
    let MigrateArgs { store, service_role, new_database } = args;
    let storage = Storage::open(store, &*SystemAdapters::real().entropy, *new_database)?;
    let applied = apply(store, &storage.folder, &storage.keys.ring()?)?;
    if applied.is_empty() {
        say!("the database is up to date")?;
    }
    for name in applied {
        say!("applied {name}")?;
    }
    if let Some(role) = service_role {
        grant(store.database_url(), role)?;
        say!("the role {role} has the privileges of a service")?;
    }
    Ok(())
}

/// Applies the missing migrations.
pub(super) fn apply(
    args: &StoreArgs,
    folder: &DataFolder,
    keys: &Arc<KeyRing>,
) -> anyhow::Result<Vec<String>> {
    let applied = migrate(args.database_url())?;
    folder.database_is_made()?;
    if !applied.is_empty() {
        note(args, keys, &applied)?;
    }
    for name in &applied {
        log::info!(migration = name.as_str(); "migrated the database");
    }
    Ok(applied)
}

/// Adds an entry to the audit log, whose table may be new.
fn note(args: &StoreArgs, keys: &Arc<KeyRing>, applied: &[String]) -> anyhow::Result<()> {
    let adapters = SystemAdapters::real();
    let subject: Vec<String> = applied.iter().map(|name| format!("migration:{name}")).collect();
    let entry =
        Entry { subject: subject.join(" "), ..audited::entry(&*adapters.clock, "database.migrate", None) };
    // Refuses a wrong master key before it signs anything.
    let application =
        Application::with_parts(args.database_url(), keys, &adapters, args.settings(), super::parts(args))?;
    Ok(audited::append(&*application.store, entry)?)
}
