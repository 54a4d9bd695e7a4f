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

/// Grants `role` what a process that serves or works needs of the database behind `url`, and takes every other privilege
/// on its tables away. The URL is that of the tables' owner.
///
/// # Errors
/// [`OpenError`] if the database is not PostgreSQL, the role does not exist, or it owns the tables.
pub fn grant(url: &str, role: &str) -> Result<(), OpenError> {
    dialect::grant(&mut dialect::connect(url, Access::Write)?, role)
}
