//! Migrations, compiled into the binary, and the privileges of the role that serves.

use diesel::migration::{Migration, MigrationSource};
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
    grant_on(&mut AnyConnection::open(url, Access::Write)?, role)
}

/// Applies the migrations that the database lacks, and names them. Of several processes that do so at once one does
/// it, and the others wait and find it done.
fn migrate_on(connection: &mut AnyConnection) -> Result<Vec<String>, OpenError> {
    match connection {
        AnyConnection::Sqlite(sqlite) => sqlite::migrating(sqlite, |sqlite| {
            refuse_newer(&applied_on_sqlite(sqlite)?, &versions::<Sqlite>(&SQLITE_MIGRATIONS)?)?;
            let missing = names(sqlite.pending_migrations(SQLITE_MIGRATIONS))?;
            let applied = sqlite.run_pending_migrations(SQLITE_MIGRATIONS);
            applied.map_err(|error| OpenError::Migrate(error.to_string()))?;
            Ok(missing)
        }),
        AnyConnection::Postgres(pg) => {
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
            let applied = pg.run_pending_migrations(POSTGRES_MIGRATIONS);
            applied.map_err(|error| OpenError::Migrate(error.to_string()))?;
            postgres::end_migrating(pg)?;
            Ok(missing)
        }
    }
}

/// Names the migrations that the database lacks. One that has migrations which are not compiled in is refused.
pub(crate) fn missing_migrations(connection: &mut AnyConnection) -> Result<Vec<String>, OpenError> {
    match connection {
        AnyConnection::Sqlite(sqlite) => {
            refuse_newer(&applied_on_sqlite(sqlite)?, &versions::<Sqlite>(&SQLITE_MIGRATIONS)?)?;
            names(sqlite.pending_migrations(SQLITE_MIGRATIONS))
        }
        AnyConnection::Postgres(pg) => missing_on_postgres(pg),
    }
}

fn applied_on_sqlite(sqlite: &mut SqliteConnection) -> Result<Vec<String>, OpenError> {
    let applied = sqlite.applied_migrations().map_err(|error| OpenError::Migrate(error.to_string()))?;
    Ok(applied.iter().map(ToString::to_string).collect())
}

/// The versions that are compiled in.
fn versions<DB: diesel::backend::Backend>(
    source: &impl MigrationSource<DB>,
) -> Result<Vec<String>, OpenError> {
    let all = source.migrations().map_err(|error| OpenError::Migrate(error.to_string()))?;
    Ok(all.iter().map(|migration| migration.name().version().to_string()).collect())
}

/// Refuses a database with applied versions that are not `known`.
fn refuse_newer(applied: &[String], known: &[String]) -> Result<(), OpenError> {
    match applied.iter().filter(|version| !known.contains(version)).max() {
        None => Ok(()),
        Some(newest) => Err(OpenError::NewerSchema {
            database: newest.clone(),
            binary: known.iter().max().cloned().unwrap_or_default(),
        }),
    }
}

fn missing_on_postgres(pg: &mut PgConnection) -> Result<Vec<String>, OpenError> {
    let applied = postgres::applied_migrations(pg)?;
    refuse_newer(&applied, &versions::<Pg>(&POSTGRES_MIGRATIONS)?)?;
    let all: diesel::migration::Result<Vec<Box<dyn Migration<Pg>>>> = POSTGRES_MIGRATIONS.migrations();
    names(all.map(|all| {
        all.into_iter().filter(|one| !applied.contains(&one.name().version().to_string())).collect()
    }))
}

/// Grants `role` what a process that serves or works needs.
fn grant_on(connection: &mut AnyConnection, role: &str) -> Result<(), OpenError> {
    match connection {
        AnyConnection::Sqlite(_) => Err(OpenError::NoRoles),
        AnyConnection::Postgres(pg) => {
            postgres::grant(pg, role).map_err(|error| OpenError::Grant(error.to_string()))
        }
    }
}

fn names<DB: diesel::backend::Backend>(
    migrations: diesel::migration::Result<Vec<Box<dyn Migration<DB>>>>,
) -> Result<Vec<String>, OpenError> {
    let migrations = migrations.map_err(|error| OpenError::Migrate(error.to_string()))?;
    let mut names: Vec<String> = migrations.iter().map(|migration| migration.name().to_string()).collect();
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests;
