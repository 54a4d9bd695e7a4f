//! From diesel's errors to the port's.

use diesel::QueryResult;
use diesel::result::OptionalExtension;
use diesel::result::{DatabaseErrorInformation, DatabaseErrorKind, Error};
use kopeck_port_store::{Rule, StoreError};

use crate::outage::{is_fault, outage_of, tells_of_damage};
use kopeck_port_store::Outage;

/// Why a store could not be opened or migrated.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL names no database that this build speaks to.
    #[error("the database URL must have the form sqlite://PATH or postgres://USER:PASSWORD@HOST/DATABASE")]
    Url,
    /// The database did not let us in.
    #[error("cannot open the database: {0}")]
    Connect(String),
    /// The database lacks migrations.
    #[error("the database lacks the migrations {}: run `migrate` first", .0.join(", "))]
    NotMigrated(Vec<String>),
    /// The database lacks migrations, and the role must not apply them.
    #[error(
        "the database lacks the migrations {}, and the role of the database URL must not apply them: run `kopeck \
         migrate` with the URL of the role that owns the tables", .0.join(", ")
    )]
    MayNotMigrate(Vec<String>),
    /// A later version of the program has migrated the database. Data written by rules that this one does not know could
    /// be misread or damaged.
    #[error(
        "the database has the schema {database}, and this version of kopeck knows none after {binary}: run the version \
         that migrated it, or a later one, or restore a backup from before that migration"
    )]
    NewerSchema {
        /// The latest version that the database has.
        database: String,
        /// The latest version that is compiled in.
        binary: String,
    },
    /// An unreleased build has made the database. Its numbers of migrations have other meanings, and its data have no way over.
    #[error(
        "the database was made by a build of kopeck before 0.1.0 (it has the migration {0}), which no release can read: name \
         an empty database"
    )]
    Unreleased(String),
    /// Names in other scripts could not be stored.
    #[error(
        "the database has the encoding {0}, and Kopeck needs UTF8: create another one by `createdb -T template0 -E UTF8 NAME`"
    )]
    Encoding(String),
    /// The database has tables, and none of them is ours.
    #[error(
        "the database belongs to another program: it has {0} and none of Kopeck's tables; name an empty database, or one of Kopeck"
    )]
    Foreign(String),
    /// Privileges are a server's.
    #[error("only PostgreSQL has roles")]
    NoRoles,
    /// The role does not exist, or the granting user does not own the tables.
    #[error("cannot grant privileges: {0}")]
    Grant(String),
    /// A migration failed.
    #[error("cannot migrate the database: {0}")]
    Migrate(String),
    /// The file of an embedded database could not be made anew.
    #[error("cannot make the files of the database anew: {0}")]
    Scrub(String),
    /// Older snapshots of a server's database still see what was erased.
    #[error("the database keeps earlier versions of its rows for {0}")]
    Held(String),
    /// Only the owner of tables can rewrite them.
    #[error("the role of the database URL does not own the tables: use the URL of the role that migrates")]
    NotOwner,
    /// The operating system gave no thread.
    #[error("cannot start a thread for the database: {0}")]
    Thread(#[from] std::io::Error),
}

impl OpenError {
    /// Of a connection that cannot be opened.
    pub(crate) fn connect(error: impl std::fmt::Display) -> Self {
        Self::Connect(error.to_string())
    }

    /// Whether the file of an embedded database is damaged.
    pub(crate) fn is_malformed(&self) -> bool {
        matches!(self, Self::Connect(message) if tells_of_damage(message))
    }

    /// Of a migration that cannot be found or applied.
    pub(crate) fn migrate(error: impl std::fmt::Display) -> Self {
        Self::Migrate(error.to_string())
    }
}

impl From<Error> for OpenError {
    /// Of the transaction round the migrations.
    fn from(error: Error) -> Self {
        Self::migrate(error)
    }
}

/// Turns a query's result into one of the port.
pub(crate) trait Stored<R>: Sized {
    fn stored(self) -> Result<R, StoreError>;

    /// Of a statement of which nothing but its success is of interest.
    fn done(self) -> Result<(), StoreError> {
        self.stored().map(drop)
    }

    /// The row as a domain value, if there is one.
    fn found<T>(self, value: impl FnOnce(R) -> Result<T, StoreError>) -> Result<Option<T>, StoreError>;
}

impl<R> Stored<R> for QueryResult<R> {
    fn stored(self) -> Result<R, StoreError> {
        self.map_err(store_error)
    }

    fn found<T>(self, value: impl FnOnce(R) -> Result<T, StoreError>) -> Result<Option<T>, StoreError> {
        self.optional().stored()?.map(value).transpose()
    }
}

/// Turns the rows of a query into domain values.
pub(crate) trait StoredRows<R> {
    fn all<T, C: FromIterator<T>>(self, value: impl Fn(R) -> Result<T, StoreError>) -> Result<C, StoreError>;
}

impl<R> StoredRows<R> for QueryResult<Vec<R>> {
    fn all<T, C: FromIterator<T>>(self, value: impl Fn(R) -> Result<T, StoreError>) -> Result<C, StoreError> {
        self.stored()?.into_iter().map(value).collect()
    }
}

/// The error of callers whose connection is lost.
pub(crate) fn lost() -> StoreError {
    StoreError::Unavailable("the connection is lost".to_owned())
}

/// What a failed statement means for the transaction; a worse one comes later.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StatementFailure {
    /// A constraint refused it: the unit of work's own affair.
    Refused,
    /// The statement is wrong, whenever it runs.
    Fault,
    /// Something else went wrong, such as a deadlock: the message of the database. Another run may succeed.
    Transient(String),
    /// The database cannot do it for now. Another run at once would only take as long again.
    Outage(Outage),
    /// The connection is lost.
    Lost,
}

impl StatementFailure {
    /// The meaning of a statement's error; `None` if the database did not report it.
    pub(crate) fn of(error: &Error) -> Option<Self> {
        match error {
            Error::DatabaseError(kind, info) => Some(Self::reported(kind, info.as_ref())),
            _ => None,
        }
    }

    fn reported(kind: &DatabaseErrorKind, info: &(dyn DatabaseErrorInformation + Send + Sync)) -> Self {
        match kind {
            DatabaseErrorKind::ClosedConnection => Self::Lost,
            DatabaseErrorKind::UniqueViolation
            | DatabaseErrorKind::ForeignKeyViolation
            | DatabaseErrorKind::NotNullViolation
            | DatabaseErrorKind::CheckViolation
            | DatabaseErrorKind::RestrictViolation
            | DatabaseErrorKind::ExclusionViolation => Self::Refused,
            _ => match outage_of(kind, info.message()) {
                Some(outage) => Self::Outage(outage),
                None if is_fault(info) => Self::Fault,
                None => Self::Transient(info.message().to_owned()),
            },
        }
    }
}

/// The port's error. Messages of the database name tables, columns and constraints, never values; everything else
/// diesel could say is about the program.
pub(crate) fn store_error(error: Error) -> StoreError {
    let Error::DatabaseError(kind, info) = error else {
        return StoreError::Failed(error.to_string());
    };
    let failure = StatementFailure::reported(&kind, info.as_ref());
    let is_passing = matches!(failure, StatementFailure::Lost | StatementFailure::Outage(_));
    match kind {
        DatabaseErrorKind::ForeignKeyViolation => StoreError::Conflict(Rule::Reference),
        DatabaseErrorKind::UniqueViolation => match rule_of(info.as_ref()) {
            Some(rule) => StoreError::Conflict(rule),
            None => StoreError::Failed(info.message().to_owned()),
        },
        _ if is_passing => StoreError::Unavailable(info.message().to_owned()),
        _ => StoreError::Failed(info.message().to_owned()),
    }
}

/// The rule behind a unique constraint, if it is one that a caller can break. PostgreSQL names the constraint, SQLite
/// the columns.
fn rule_of(info: &(dyn DatabaseErrorInformation + Send + Sync)) -> Option<Rule> {
    let broken = match info.constraint_name() {
        Some(name) => name,
        None => info.message().strip_prefix("UNIQUE constraint failed: ")?,
    };
    match broken {
        "partners_login" | "partners.login" => Some(Rule::PartnerLogin),
        "users_login" | "users.login_digest" => Some(Rule::UserLogin),
        "employees_custom_id" | "employees.partner_id, employees.custom_id" => Some(Rule::EmployeeCustomId),
        "categories_name" | "categories.partner_id, categories.folded_name" => Some(Rule::CategoryName),
        "cards_number"
        | "cards.number"
        | "cards_partner_id_number_key"
        | "cards.partner_id, cards.number" => Some(Rule::CardNumber),
        "cards_one_main" | "cards.partner_id, cards.employee_id" => Some(Rule::OneMainCard),
        // An index over an expression, which SQLite calls by its name too.
        "card_batch_items_claim" | "index 'card_batch_items_claim'" => Some(Rule::CardInOneBatch),
        "movements_transfer" | "movements.partner_id, movements.kind, movements.transfer_reference" => {
            Some(Rule::TransferReference)
        }
        "runs_reference" | "runs.partner_id, runs.kind, runs.reference" => Some(Rule::RunReference),
        "runs_programme_period" | "runs.partner_id, runs.programme_id, runs.period" => {
            Some(Rule::ProgrammePeriod)
        }
        "sealed_nonces_pkey" | "sealed_nonces.partner_id, sealed_nonces.nonce" => Some(Rule::SealedNonce),
        _ => None,
    }
}
