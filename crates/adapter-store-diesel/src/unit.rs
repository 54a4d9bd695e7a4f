//! A unit of work: the repositories over one connection, within the transaction that is open on it.

use std::sync::Arc;

use kopeck_port_store::{
    Access, BooksRepository, CardRepository, CategoryRepository, EmployeeRepository, IdempotencyRepository,
    LedgerRepository, LimitChangeRepository, OrderRepository, PartnerRepository, ReplenishmentRepository,
    SessionRepository, StoreError, ThrottleRepository, TransactionRepository, UnitOfWork, WorkRepository,
};
use kopeck_port_system::Clock;

use crate::dialect::{self, AnyConnection};
use crate::error::{self, OpenError, Stored, Trouble};
use crate::locks::Locks;

/// The connection of one of the store's threads. It implements every repository, so that a unit of work costs
/// nothing to set up.
pub(crate) struct Unit {
    pub(crate) connection: AnyConnection,
    pub(crate) locks: Locks,
    /// By which work is due, where the database has no clock of its own.
    pub(crate) clock: Arc<dyn Clock>,
    url: String,
    access: Access,
    /// Whether the connection is gone.
    lost: bool,
}

impl Unit {
    /// A unit on a connection of its own.
    pub(crate) fn connect(url: &str, access: Access, clock: &Arc<dyn Clock>) -> Result<Self, OpenError> {
        let connection = dialect::connect(url, access)?;
        let (locks, clock, url) = (Locks::default(), Arc::clone(clock), url.to_owned());
        Ok(Self { connection, locks, clock, url, access, lost: false })
    }

    pub(crate) fn access(&self) -> Access {
        self.access
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    /// Takes the connection for gone: it may lead nowhere, and nobody would ever say so.
    pub(crate) fn distrust(&mut self) {
        self.lost = true;
    }

    /// Begins a transaction, on a new connection if the old one is gone. `patient`: its first lock may be waited for.
    pub(crate) fn begin(&mut self, patient: bool) -> Result<(), StoreError> {
        self.locks = Locks::new(patient);
        if !self.lost {
            let begun = dialect::begin(&mut self.connection, self.access).stored();
            self.notice_loss();
            if begun.is_ok() || !dialect::may_pass(&self.connection) {
                return begun;
            }
        }
        // A transaction that does not begin has lost its connection. Nothing has run yet, so nobody has to know.
        let connected = dialect::connect(&self.url, self.access);
        self.connection = connected.map_err(|error| StoreError::Unavailable(error.to_string()))?;
        self.lost = false;
        log::info!("connected to the database again");
        let begun = dialect::begin(&mut self.connection, self.access).stored();
        self.notice_loss();
        begun
    }

    /// Whether a statement that just failed did so because the connection is gone; forgets what else went wrong.
    pub(crate) fn notice_loss(&mut self) -> bool {
        self.lost = self.lost || error::take_trouble() == Some(Trouble::Lost);
        self.lost
    }

    /// Runs statements that give nothing back.
    pub(crate) fn execute(&mut self, statements: &str) -> Result<(), StoreError> {
        dialect::execute(&mut self.connection, statements).stored()
    }

    /// Ends the transaction and keeps what it did.
    pub(crate) fn commit(&mut self) -> Result<(), StoreError> {
        dialect::commit(&mut self.connection).stored()
    }

    /// Leaves whatever transaction is open. SQLite fails where it already left it, which is as good; PostgreSQL only if
    /// it cannot be reached.
    pub(crate) fn roll_back(&mut self) {
        if let Err(error) = self.execute("ROLLBACK") {
            log::debug!("nothing to roll back: {error}");
            self.lost = self.lost || dialect::may_pass(&self.connection);
        }
        self.notice_loss();
    }
}

macro_rules! repositories {
    ($($method:ident: $repository:ident;)*) => {
        impl UnitOfWork for Unit {
            $(fn $method(&mut self) -> &mut dyn $repository {
                self
            })*
        }
    };
}

repositories! {
    partners: PartnerRepository;
    sessions: SessionRepository;
    throttle: ThrottleRepository;
    idempotency: IdempotencyRepository;
    employees: EmployeeRepository;
    categories: CategoryRepository;
    cards: CardRepository;
    transactions: TransactionRepository;
    orders: OrderRepository;
    replenishments: ReplenishmentRepository;
    limit_changes: LimitChangeRepository;
    ledger: LedgerRepository;
    work: WorkRepository;
    books: BooksRepository;
}
