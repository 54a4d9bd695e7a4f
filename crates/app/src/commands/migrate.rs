//! `kopeck migrate`.

use kopeck_adapter_store_diesel::migrate;

use crate::cli::StoreArgs;
use crate::compose::{Machine, Vault};

/// Applies what the database lacks and says what that was.
pub(super) fn run(args: &StoreArgs) -> anyhow::Result<()> {
    Vault::open(args, &*Machine::real().entropy)?;
    let applied = apply(&args.database_url)?;
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
    for name in &applied {
        log::info!(migration = name.as_str(); "migrated the database");
    }
    Ok(applied)
}
