//! `kopeck migrate`.

use kopeck_adapter_store_diesel::{DieselStore, StoreConfig, migrate};
use kopeck_domain::audit::Entry;

use super::audited;
use crate::cli::StoreArgs;
use crate::compose::{Machine, Vault};

/// Applies what the database lacks and says what that was.
pub(super) fn run(args: &StoreArgs) -> anyhow::Result<()> {
    Vault::open(args, &*Machine::real().entropy)?;
    let applied = apply(args.database_url())?;
    if applied.is_empty() {
        println!("the database is up to date");
    }
    for name in applied {
        println!("applied {name}");
    }
    Ok(())
}

/// Applies what the database lacks.
pub(super) fn apply(url: &str) -> anyhow::Result<Vec<String>> {
    let applied = migrate(url)?;
    if !applied.is_empty() {
        note(url, &applied)?;
    }
    for name in &applied {
        log::info!(migration = name.as_str(); "migrated the database");
    }
    Ok(applied)
}

/// Tells the audit log, which is there only now.
fn note(url: &str, applied: &[String]) -> anyhow::Result<()> {
    let clock = Machine::real().clock;
    let subject: Vec<String> = applied.iter().map(|name| format!("migration:{name}")).collect();
    let entry = Entry { subject: subject.join(" "), ..audited::entry(&*clock, "database.migrate", None) };
    let store = DieselStore::open(StoreConfig::new(url, clock))?;
    Ok(audited::append(&store, entry)?)
}
