//! A unit of work: the repositories over one connection, within the transaction that is open on it.

use std::sync::Arc;

use kopeck_port_store::{
    BooksRepository, CardRepository, CategoryRepository, EmployeeRepository, IdempotencyRepository,
    LedgerRepository, LimitChangeRepository, OrderRepository, PartnerRepository, ReplenishmentRepository,
    SessionRepository, ThrottleRepository, TransactionRepository, UnitOfWork, WorkRepository,
};
use kopeck_port_system::Clock;

use crate::dialect::AnyConnection;

/// The connection of one of the store's threads. It implements every repository, so that a unit of work costs
/// nothing to set up.
pub(crate) struct Unit {
    pub(crate) connection: AnyConnection,
    /// By which work is due, where the database has no clock of its own.
    pub(crate) clock: Arc<dyn Clock>,
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
