//! Migrations, compiled into the binary.

use kopeck_port_store::Access;

use crate::dialect;
use crate::error::OpenError;

/// Applies the migrations that the database behind `url` lacks, and names them in their order.
///
/// # Errors
/// [`OpenError`] if the database cannot be opened or a migration fails; what was applied before it stays.
pub fn migrate(url: &str) -> Result<Vec<String>, OpenError> {
    dialect::migrate(&mut dialect::connect(url, Access::Write)?)
}
