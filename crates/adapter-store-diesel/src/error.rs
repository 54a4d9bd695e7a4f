//! From diesel's errors to the port's.

use diesel::QueryResult;
use diesel::result::{DatabaseErrorKind, Error};
use kopeck_port_store::{Rule, StoreError};

use crate::dialect;

/// Why a store could not be opened or migrated.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL names no database that this build speaks to.
    #[error("the database URL must have the form sqlite://PATH")]
    Url,
    /// The database did not let us in.
    #[error("cannot open the database: {0}")]
    Connect(String),
    /// The database lacks migrations.
    #[error("the database lacks the migrations {}: run `migrate` first", .0.join(", "))]
    NotMigrated(Vec<String>),
    /// A migration failed.
    #[error("cannot migrate the database: {0}")]
    Migrate(String),
    /// The operating system gave no thread.
    #[error("cannot start a thread for the database: {0}")]
    Thread(#[from] std::io::Error),
}

/// Turns a query's result into one of the port.
pub(crate) trait Stored<T> {
    fn stored(self) -> Result<T, StoreError>;
}

impl<T> Stored<T> for QueryResult<T> {
    fn stored(self) -> Result<T, StoreError> {
        self.map_err(store_error)
    }
}

/// The port's error. Messages of the database name tables, columns and constraints, never values; everything else
/// diesel could say is about the program.
pub(crate) fn store_error(error: Error) -> StoreError {
    let Error::DatabaseError(kind, info) = error else {
        return StoreError::Failed(error.to_string());
    };
    match kind {
        DatabaseErrorKind::ForeignKeyViolation => StoreError::Conflict(Rule::Reference),
        DatabaseErrorKind::UniqueViolation => match dialect::rule_of(info.as_ref()) {
            Some(rule) => StoreError::Conflict(rule),
            None => StoreError::Failed(info.message().to_owned()),
        },
        DatabaseErrorKind::ClosedConnection => StoreError::Unavailable(info.message().to_owned()),
        _ if dialect::is_locked(info.message()) => StoreError::Unavailable(info.message().to_owned()),
        _ => StoreError::Failed(info.message().to_owned()),
    }
}
