//! Why the store could not do as asked.

/// A rule that the database itself guards; the use cases check it first, and the constraint decides when two requests
/// check at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A login belongs to one partner.
    PartnerLogin,
    /// A login belongs to one user, of whatever partner.
    UserLogin,
    /// A custom identifier belongs to one employee of a partner.
    EmployeeCustomId,
    /// A category's name is the partner's only one, without regard to letter case and to how letters are composed.
    CategoryName,
    /// A card number belongs to one card, of whatever partner.
    CardNumber,
    /// An employee has one MAIN card at most.
    OneMainCard,
    /// A card is in one open batch of each kind at most.
    CardInOneBatch,
    /// The reference of a transfer counts once for each kind of movement.
    TransferReference,
    /// An idempotency key has one response.
    IdempotencyKey,
    /// A nonce of a sealed request is spent once.
    SealedNonce,
    /// The reference of a run is one run's of a kind, unless that run came to nothing.
    RunReference,
    /// A period of a programme has one run.
    ProgrammePeriod,
    /// Something refers to the row, or the row refers to something that is not there.
    Reference,
}

/// Why the store could not do as asked. Holds no data of a row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// A constraint of the database said no.
    #[error("the database refused: {0:?}")]
    Conflict(Rule),
    /// The queue is full, or a lock is not free in time: try again in a second.
    #[error("the store is busy")]
    Busy,
    /// The caller has gone, or its deadline has passed, before the work began.
    #[error("the work was cancelled before it began")]
    Cancelled,
    /// The store runs the unit of work again from the start, and nothing of this run counts. A use case passes it on.
    #[error("the unit of work is to be run again")]
    Rerun,
    /// The database is away.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// A stored value that the domain does not allow; names the table and column.
    #[error("stored data is corrupt: {0}")]
    Corrupt(String),
    /// Anything else: a bug, a full disk.
    #[error("the database failed: {0}")]
    Failed(String),
}
