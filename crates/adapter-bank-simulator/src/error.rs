//! Errors of the simulator.

use diesel::ConnectionError;
use diesel::r2d2::PoolError;
use diesel::result::Error as StoreError;

/// The simulator itself failed; no refusal is one of these.
#[derive(Debug, thiserror::Error)]
pub enum SimulatorError {
    /// The path of the database is not UTF-8.
    #[error("the path of the bank's books is not UTF-8")]
    Path,
    /// The database could not be opened.
    #[error("the bank's books could not be opened: {0}")]
    Open(#[from] ConnectionError),
    /// No connection was free in time.
    #[error("no connection to the bank's books: {0}")]
    Pool(#[source] PoolError),
    /// The migrations failed.
    #[error("the bank's books could not be brought up to date: {0}")]
    Migration(String),
    /// A later version has migrated the database.
    #[error(
        "the bank's books have the schema {books}, and this version of kopeck knows none after {binary}: run the version \
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
    #[error("the bank's books failed: {0}")]
    Store(#[from] StoreError),
    /// The commit failed: the effect is unknown.
    #[error("the bank's books failed at the commit: {0}")]
    Commit(StoreError),
    /// A value that this version never writes; the text says which.
    #[error("the bank's books are corrupt: {0}")]
    Corrupt(&'static str),
    /// All numbers of a kind are issued.
    #[error("the bank has no card numbers left")]
    OutOfNumbers,
}
