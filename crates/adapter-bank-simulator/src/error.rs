//! Why the books could not be read or written.

use diesel::ConnectionError;
use diesel::r2d2::PoolError;
use diesel::result::Error as StoreError;

/// The simulator itself failed. No refusal of the bank is one of these.
#[derive(Debug, thiserror::Error)]
pub enum SimulatorError {
    /// The path of the books is not UTF-8.
    #[error("the path of the bank's books is not UTF-8")]
    Path,
    /// The books could not be opened.
    #[error("the bank's books could not be opened: {0}")]
    Open(#[from] ConnectionError),
    /// No connection to the books was free in time.
    #[error("no connection to the bank's books: {0}")]
    Pool(#[source] PoolError),
    /// The tables of the books could not be brought up to date.
    #[error("the bank's books could not be brought up to date: {0}")]
    Migration(String),
    /// A later version of the simulator has changed the tables of the books.
    #[error(
        "the bank's books have the schema {books}, and this version of kopeck knows none after {binary}: run the version \
         that changed them, or a later one"
    )]
    NewerSchema {
        /// The latest version that the books have.
        books: String,
        /// The latest version that is compiled in.
        binary: String,
    },
    /// Reading or writing failed, and nothing was changed.
    #[error("the bank's books failed: {0}")]
    Store(#[from] StoreError),
    /// The last step of writing failed: it is not known whether anything was changed.
    #[error("the bank's books failed at the commit: {0}")]
    Commit(StoreError),
    /// The books hold something that this version never writes; the text says what.
    #[error("the bank's books are corrupt: {0}")]
    Corrupt(&'static str),
    /// Every number of a kind has been given out.
    #[error("the bank has no card numbers left")]
    OutOfNumbers,
}
