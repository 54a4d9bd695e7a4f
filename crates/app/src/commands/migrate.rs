//! `kopeck migrate`.

use kopeck_adapter_store_diesel::migrate;

use crate::cli::StoreArgs;
use crate::folder::DataFolder;

/// Applies what the database lacks and says what that was.
pub(super) fn run(args: &StoreArgs) -> anyhow::Result<()> {
    DataFolder::of(&args.database_url)?;
    let applied = migrate(&args.database_url)?;
    if applied.is_empty() {
        println!("the database is up to date");
    }
    for name in applied {
        println!("applied {name}");
    }
    Ok(())
}
