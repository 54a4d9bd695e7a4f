//! Errors of the simulator.

use diesel::ConnectionError;
use diesel::r2d2::PoolError;
use diesel::result::Error as StoreError;

/// A failure of the simulator; refusals are values.
#[derive(Debug, thiserror::Error)]
pub enum SimulatorError {
    /// The path of the database is not UTF-8.
    #[error("the path of the simulator's database is not UTF-8")]
    Path,
    /// The database could not be opened.
    #[error("the simulator's database could not be opened: {0}")]
    Open(#[from] ConnectionError),
    /// No connection was free in time.
    #[error("no connection to the simulator's database: {0}")]
    Pool(#[source] PoolError),
    /// The migrations failed.
    #[error("the simulator's database could not be migrated: {0}")]
    Migration(String),
    /// A later version has migrated the database.
    #[error(
        "the simulator's database has the schema {books}, and this version of kopeck knows none after {binary}: run the version \
         that changed them, or a later one"
    )]
    // A later version has migrated the database.
    NewerSchema {
        /// The latest migration of the database.
        books: String,
        /// The latest migration of this version.
        binary: String,
    },
    /// A statement failed, and nothing was changed.
    #[error("the simulator's database failed: {0}")]
    Store(#[from] StoreError),
    /// The commit failed: the effect is unknown.
    #[error("the simulator's database failed at the commit: {0}")]
    Commit(StoreError),
    /// A value that this version never writes; the text says which.
    #[error("the simulator's database is corrupt: {0}")]
    Corrupt(&'static str),
    /// All numbers of a kind are issued.
    #[error("the bank has no card numbers left")]
    OutOfNumbers,
}

/// SQLite's messages of trouble that passes: the disk is full, read-only or fails, another process has the file locked.
const PASSING: [&str; 5] = [
    "database or disk is full",
    "attempt to write a readonly database",
    "database is locked",
    "disk I/O error",
    "unable to open database file",
];

impl SimulatorError {
    /// Whether the same is likely to succeed later.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Pool(_) => true,
            Self::Store(StoreError::DatabaseError(_, info))
            | Self::Commit(StoreError::DatabaseError(_, info)) => {
                PASSING.iter().any(|start| info.message().starts_with(start))
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use diesel::result::DatabaseErrorKind;
    use kopeck_port_bank::sandbox::SandboxError;

    use super::*;

    #[test]
    fn trouble_that_passes_is_no_failure_of_the_program() {
        let of = |message: &str| {
            let error = StoreError::DatabaseError(DatabaseErrorKind::Unknown, Box::new(message.to_owned()));
            SandboxError::from(SimulatorError::Commit(error))
        };
        for message in PASSING {
            assert!(matches!(of(message), SandboxError::Unreachable(_)), "{message}");
        }
        assert!(matches!(of("no such table: cards"), SandboxError::Failed(_)));
    }
}
