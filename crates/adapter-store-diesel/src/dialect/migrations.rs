//! Migrations, compiled into the binary, and the privileges of the role that serves.

use std::path::Path;

use diesel::backend::Backend;
use diesel::migration::MigrationSource;
use diesel::pg::{Pg, PgConnection};
use diesel::sqlite::{Sqlite, SqliteConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use kopeck_port_store::Access;

use crate::connection::{AnyConnection, postgres, sqlite};
use crate::error::OpenError;

const SQLITE_MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");
const POSTGRES_MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

/// Applies the migrations that the database behind `url` lacks, and names them in their order.
///
/// # Errors
/// [`OpenError`] if the database cannot be opened or a migration fails; what was applied before it stays.
pub fn migrate(url: &str) -> Result<Vec<String>, OpenError> {
    migrate_on(&mut AnyConnection::open(url, Access::Write)?)
}

/// Grants `role` what a process that serves or works needs of the database behind `url`, and takes every other privilege
/// on its tables away. The URL is that of the tables' owner.
///
/// # Errors
/// [`OpenError`] if the database is not PostgreSQL, the role does not exist, or it owns the tables.
pub fn grant(url: &str, role: &str) -> Result<(), OpenError> {
    match AnyConnection::open(url, Access::Write)? {
        AnyConnection::Sqlite(_) => Err(OpenError::NoRoles),
        AnyConnection::Postgres(mut pg) => {
            postgres::grant(&mut pg, role).map_err(|error| OpenError::Grant(error.to_string()))
        }
    }
}

/// Applies the migrations that the database lacks, and names them. Of several processes that do so at once one does
/// it, and the others wait and find it done.
pub(crate) fn migrate_on(connection: &mut AnyConnection) -> Result<Vec<String>, OpenError> {
    match connection {
        AnyConnection::Sqlite(sqlite) => sqlite::migrating(sqlite, |sqlite| {
            refuse_foreign(&sqlite::tables(sqlite)?)?;
            let missing = missing_on_sqlite(sqlite)?;
            sqlite.run_pending_migrations(SQLITE_MIGRATIONS).map_err(OpenError::migrate)?;
            Ok(missing)
        }),
        AnyConnection::Postgres(pg) => {
            let encoding = postgres::encoding(pg)?;
            if encoding != "UTF8" {
                return Err(OpenError::Encoding(encoding));
            }
            refuse_foreign(&postgres::tables(pg)?)?;
            // Asked first without the lock, so that nothing but reading is needed if there is nothing to do.
            let missing = missing_on_postgres(pg)?;
            if missing.is_empty() {
                return Ok(missing);
            }
            if !postgres::may_migrate(pg)? {
                return Err(OpenError::MayNotMigrate(missing));
            }
            postgres::begin_migrating(pg)?;
            let missing = missing_on_postgres(pg)?;
            pg.run_pending_migrations(POSTGRES_MIGRATIONS).map_err(OpenError::migrate)?;
            postgres::end_migrating(pg)?;
            Ok(missing)
        }
    }
}

/// Refuses a file that is not empty and not a database of ours, before anything in it is changed. A file that is not there is
/// none.
///
/// # Errors
/// [`OpenError`] if it is another program's database, or no database.
pub fn check_file(path: &Path) -> Result<(), OpenError> {
    if !std::fs::metadata(path).is_ok_and(|file| file.len() > 0) {
        return Ok(());
    }
    let mut sqlite = sqlite::establish_existing(&format!("sqlite://{}", path.display()))?;
    let tables = sqlite::tables(&mut sqlite).map_err(OpenError::connect)?;
    refuse_foreign(&tables)
}

/// The table by which a database of ours is recognised: it has been there since the first migration.
const OURS: &str = "audit_chains";
/// Made before the first migration, also by other programs.
const OF_MIGRATIONS: &str = "__diesel_schema_migrations";

fn refuse_foreign(tables: &[String]) -> Result<(), OpenError> {
    let others: Vec<&str> = tables.iter().map(String::as_str).filter(|name| *name != OF_MIGRATIONS).collect();
    if others.is_empty() || others.contains(&OURS) {
        return Ok(());
    }
    let (shown, more) = others.split_at(others.len().min(3));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    Err(OpenError::Foreign(format!("{}{more}", shown.join(", "))))
}

/// Names the migrations that the database lacks. One that has migrations which are not compiled in is refused.
pub(crate) fn missing_migrations(connection: &mut AnyConnection) -> Result<Vec<String>, OpenError> {
    match connection {
        AnyConnection::Sqlite(sqlite) => missing_on_sqlite(sqlite),
        AnyConnection::Postgres(pg) => missing_on_postgres(pg),
    }
}

fn missing_on_sqlite(sqlite: &mut SqliteConnection) -> Result<Vec<String>, OpenError> {
    let applied = sqlite.applied_migrations().map_err(OpenError::migrate)?;
    let applied: Vec<String> = applied.iter().map(ToString::to_string).collect();
    missing::<Sqlite>(&applied, &SQLITE_MIGRATIONS)
}

fn missing_on_postgres(pg: &mut PgConnection) -> Result<Vec<String>, OpenError> {
    missing::<Pg>(&postgres::applied_migrations(pg)?, &POSTGRES_MIGRATIONS)
}

/// The names of the migrations in `source` whose versions are not `applied`. Applied versions that it does not have are
/// refused: those before its first one are of builds before 0.1.0.
fn missing<DB: Backend>(
    applied: &[String],
    source: &impl MigrationSource<DB>,
) -> Result<Vec<String>, OpenError> {
    let known: Vec<(String, String)> = source
        .migrations()
        .map_err(OpenError::migrate)?
        .iter()
        .map(|migration| (migration.name().version().to_string(), migration.name().to_string()))
        .collect();
    let versions = || known.iter().map(|(version, _)| version);
    if let Some(older) = applied.iter().filter(|one| versions().all(|version| version > *one)).max() {
        return Err(OpenError::Unreleased(older.clone()));
    }
    let newest = versions().max();
    if let Some(newer) = applied.iter().filter(|one| versions().all(|version| version != *one)).max() {
        let (database, binary) = (newer.clone(), newest.cloned().unwrap_or_default());
        return Err(OpenError::NewerSchema { database, binary });
    }
    let missing = known.into_iter().filter(|(version, _)| !applied.contains(version));
    let mut names: Vec<String> = missing.map(|(_, name)| name).collect();
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests;
