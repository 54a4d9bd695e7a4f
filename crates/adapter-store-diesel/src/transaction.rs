//! A transaction: the repositories over one connection, within the transaction that is open on it.

pub(crate) mod batch;
pub(crate) mod loader;
pub(crate) mod locks;
pub(crate) mod write_buffer;

use std::sync::Arc;

use kopeck_domain::ids::PartnerId;
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::replenishment::TopUps;
use kopeck_port_store::{
    Access, AuditRepository, CardBatchRepository, CardRepository, CategoryRepository, ColumnCipher,
    Disposition, EmployeeRepository, IdempotencyRepository, JobRepository, LedgerRepository, OrderRepository,
    PartnerRepository, ReconciliationRepository, SealedNonceRepository, SessionRepository, StoreError,
    ThrottleRepository, TransactionRepository, UnitOfWork,
};
use kopeck_port_system::Clock;

use self::batch::{Batch, UnitState};
use self::loader::BatchLoad;
use self::locks::Locks;
use self::write_buffer::WriteBuffer;
use crate::audit_chain::AuditWriter;
use crate::condition::Condition;
use crate::dialect::{self, AnyConnection};
use crate::error::{self, OpenError, Stored, Trouble};
use crate::outage::Outage;
use crate::store::AuditSettings;
use crate::work_time::WorkTime;

/// The connection of one of the store's threads. It implements every repository, so that a unit of work costs
/// nothing to set up.
pub(crate) struct DieselTransaction {
    connection: AnyConnection,
    pub(crate) locks: Locks,
    batch: Batch,
    pub(crate) run: UnitState,
    pub(crate) audit_writer: AuditWriter,
    /// By which work is due, where the database has no clock of its own.
    pub(crate) clock: Arc<dyn Clock>,
    /// Encrypts columns.
    pub(crate) cipher: Arc<dyn ColumnCipher>,
    url: String,
    access: Access,
    condition: Arc<Condition>,
    /// How long the log of an embedded database may grow, in bytes, as this connection was told.
    log_limit: u64,
    /// Whether the database refused changes, perhaps because the log has taken the space.
    shortens_log: bool,
    /// Whether no transaction is open, and nothing but the memory may be asked.
    outside: bool,
    /// Whether the connection is gone.
    lost: bool,
    /// Whether it is there and of no use: the next transaction begins on another.
    is_stale: bool,
}

impl DieselTransaction {
    /// A unit on a connection of its own.
    pub(crate) fn connect(
        url: &str,
        access: Access,
        clock: &Arc<dyn Clock>,
        audit: &AuditSettings,
        cipher: &Arc<dyn ColumnCipher>,
        condition: &Arc<Condition>,
    ) -> Result<Self, OpenError> {
        let connection = dialect::connect(url, access)?;
        Ok(Self {
            connection,
            locks: Locks::default(),
            batch: Batch::default(),
            run: UnitState::default(),
            audit_writer: AuditWriter::new(audit.clone()),
            clock: Arc::clone(clock),
            cipher: Arc::clone(cipher),
            url: url.to_owned(),
            access,
            condition: Arc::clone(condition),
            log_limit: u64::MAX,
            shortens_log: false,
            outside: false,
            lost: false,
            is_stale: false,
        })
    }

    pub(crate) fn access(&self) -> Access {
        self.access
    }

    /// What is known of the database.
    #[cfg(test)]
    pub(crate) fn condition(&self) -> &Condition {
        &self.condition
    }

    /// The connection, for the statements that keep the transaction together.
    pub(crate) fn connection(&mut self) -> &mut AnyConnection {
        &mut self.connection
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
        self.forget(patient);
        self.condition.check_files(self.access)?;
        if !self.lost && !std::mem::take(&mut self.is_stale) {
            let begun = dialect::begin(&mut self.connection, self.access).stored();
            self.notice_loss();
            if begun.is_ok() || !dialect::may_pass(&self.connection) {
                return begun;
            }
        }
        // A transaction that does not begin has lost its connection. Nothing has run yet, so nobody has to know.
        let connected = dialect::connect(&self.url, self.access);
        self.connection = connected.map_err(|error| StoreError::Unavailable(error.to_string()))?;
        (self.lost, self.log_limit) = (false, u64::MAX);
        self.audit_writer.give_up_chain();
        log::info!("connected to the database again");
        let begun = dialect::begin(&mut self.connection, self.access).stored();
        self.notice_loss();
        begun
    }

    /// Begins without a transaction. Units of work have what the memory has, and miss everything else.
    pub(crate) fn stay_outside(&mut self) {
        self.forget(true);
        self.outside = true;
    }

    fn forget(&mut self, patient: bool) {
        self.locks = Locks::new(patient);
        self.batch = Batch::default();
        self.run = UnitState::default();
        self.audit_writer.begin();
        self.outside = false;
    }

    /// Whether a statement that just failed did so because the connection is gone; forgets what else went wrong.
    pub(crate) fn notice_loss(&mut self) -> bool {
        self.lost = self.lost || self.take_trouble() == Some(Trouble::Lost);
        self.lost
    }

    /// What went wrong since this was last asked.
    pub(crate) fn take_trouble(&mut self) -> Option<Trouble> {
        let trouble = error::take_trouble();
        if let Some(Trouble::Outage(outage)) = trouble {
            self.meets(outage);
        }
        trouble
    }

    /// The database cannot do what it should.
    pub(crate) fn meets(&mut self, outage: Outage) {
        if outage == Outage::ReadOnly {
            if self.access == Access::Read {
                // It tried to write, which is its own fault.
                return;
            }
            // A server that has become a standby, or has stopped being one: a new connection finds out.
            self.is_stale = self.may_pass();
        }
        self.condition.failed(self.access, outage);
    }

    /// Finds out whether the database accepts changes.
    pub(crate) fn probe(&mut self) -> Result<Disposition, StoreError> {
        self.shortens_log = true;
        dialect::probe(self.unlocked()?).stored()
    }

    /// Keeps the log of an embedded database as short as the space on the disk asks for. No transaction may be open.
    pub(crate) fn fit_log(&mut self) {
        let Some(limit) = self.condition.log_limit() else { return };
        let before = std::mem::replace(&mut self.log_limit, limit);
        let shortens = std::mem::take(&mut self.shortens_log) || limit < before;
        let limited = if limit == before { Ok(()) } else { dialect::limit_log(&mut self.connection, limit) };
        let fitted = match limited {
            Ok(()) if shortens => dialect::shorten_log(&mut self.connection),
            limited => limited,
        };
        if let Err(error) = fitted {
            log::debug!("the log of the database is as long as it was: {error}");
        }
    }

    /// Whether the database may answer otherwise if it is asked again.
    pub(crate) fn may_pass(&self) -> bool {
        dialect::may_pass(&self.connection)
    }

    /// The moment `delay` microseconds from now by the clock that work goes by, for use within a statement.
    pub(crate) fn work_time_in(&self, delay: i64) -> WorkTime {
        dialect::work_time_in(&self.connection, &*self.clock, delay)
    }

    /// Runs statements that give nothing back.
    pub(crate) fn execute(&mut self, statements: &str) -> Result<(), StoreError> {
        dialect::execute(&mut self.connection, statements).stored()
    }

    /// Ends the transaction and keeps what it did, with its entries in the audit log.
    pub(crate) fn commit(&mut self) -> Result<(), StoreError> {
        self.audit_writer.write(&mut self.connection, &*self.clock)?;
        let committed = dialect::commit(&mut self.connection).stored();
        let kept = committed.and_then(|()| {
            let kept = self.condition.check_commit();
            // It may be found again with the files: nothing of it must be run a second time.
            self.lost |= kept.is_err();
            kept
        });
        self.audit_writer.end(kept.is_ok());
        kept
    }

    /// Leaves whatever transaction is open. SQLite fails where it already left it, which is as good; PostgreSQL only if
    /// it cannot be reached.
    pub(crate) fn roll_back(&mut self) {
        if let Err(error) = dialect::keep_together(&mut self.connection, "ROLLBACK").stored() {
            log::debug!("nothing to roll back: {error}");
            self.lost = self.lost || self.may_pass();
        }
        self.notice_loss();
    }
}

/// What goes through the memory, and what past it.
impl DieselTransaction {
    /// The connection, for what belongs to no partner and goes by no lock.
    pub(crate) fn unlocked(&mut self) -> Result<&mut AnyConnection, StoreError> {
        self.step_past(None)
    }

    /// The connection, for statements of the unit of work's own on the data of this partner or of any. From here on it
    /// has a savepoint, with everything in the database that was added before.
    pub(super) fn step_past(&mut self, partner: Option<PartnerId>) -> Result<&mut AnyConnection, StoreError> {
        self.run.missed |= self.outside;
        if self.run.missed {
            return Err(missed());
        }
        if self.access == Access::Write && self.run.is_apart() {
            if self.run.savepoint.is_none() {
                self.write_kept()?;
                dialect::keep_together(&mut self.connection, "SAVEPOINT unit_of_work").stored()?;
                self.run.savepoint = Some(self.locks.count());
            }
            let own = std::mem::take(&mut self.batch.own);
            self.write_pending(own)?;
            self.run.invalidate(partner);
        }
        Ok(&mut self.connection)
    }

    /// Answers a question, from memory if there is one.
    pub(crate) fn load<L: BatchLoad>(&mut self, question: L) -> Result<L::Loaded, StoreError> {
        if !self.run.is_batched() {
            return question.load_one(self.of(question.partner())?);
        }
        let locked = self.lock_partner(question.partner());
        if locked.is_err() && !self.run.missed {
            // Its lock is not free, so it cannot go on whatever the answer is.
            return Err(missed());
        }
        match self.batch.loader.get(&question).cloned() {
            Some(found) if !self.run.missed => return Ok(found),
            Some(_) => {}
            None => {
                self.batch.loader.want(question);
                self.run.missed = true;
            }
        }
        Err(missed())
    }

    /// Answers questions of one kind, or none of them.
    pub(crate) fn load_all<L: BatchLoad>(&mut self, questions: Vec<L>) -> Result<Vec<L::Loaded>, StoreError> {
        // Each is asked, so that all that are not known are fetched at once.
        let found: Vec<_> = questions.into_iter().map(|question| self.load(question)).collect();
        found.into_iter().collect()
    }

    /// The answer to a question that was asked already, where only the memory is read.
    pub(crate) fn read_before<L: BatchLoad>(&mut self, question: &L) -> Option<&L::Loaded> {
        if self.reads_together() && !self.run.missed { self.batch.loader.get(question) } else { None }
    }

    /// Whether what units of work read is looked up for many of them at once, and none of them changes it.
    pub(crate) fn reads_together(&self) -> bool {
        self.access == Access::Read && self.run.is_batched()
    }

    /// Where rows of the partner's can wait to be written with others, if they can.
    pub(crate) fn pending(&mut self, partner: PartnerId) -> Result<Option<&mut WriteBuffer>, StoreError> {
        if !self.run.is_batched() {
            return Ok(None);
        }
        self.lock_partner(partner)?;
        if self.run.missed { Err(missed()) } else { Ok(Some(&mut self.batch.own)) }
    }

    /// Notes what a row that waits to be written has changed.
    pub(crate) fn remember<L: BatchLoad>(&mut self, question: L, answer: L::Loaded) {
        self.batch.loader.change(question, answer);
    }

    /// Whether a unit of work lacks anything that can be fetched.
    pub(crate) fn is_wanting(&self) -> bool {
        self.locks.is_wanting() || self.batch.loader.is_wanting()
    }

    /// Whether one look-up, of one kind, is all that units of work lack.
    pub(crate) fn is_wanting_one_kind(&self) -> bool {
        !self.locks.is_wanting() && self.batch.loader.kinds_wanted() == 1
    }

    /// Fetches what units of work lacked.
    ///
    /// # Errors
    /// [`StoreError`]; the transaction is to be given up.
    pub(crate) fn fetch(&mut self) -> Result<(), StoreError> {
        self.write_kept()?;
        let connection = dialect::postgres(&mut self.connection).stored()?;
        self.locks.fetch(connection)?;
        self.batch.loader.fetch(connection)
    }

    /// Writes the rows of the units of work that have ended well.
    ///
    /// # Errors
    /// [`StoreError`]; the transaction is to be given up.
    pub(crate) fn write_kept(&mut self) -> Result<(), StoreError> {
        let kept = std::mem::take(&mut self.batch.kept);
        self.write_pending(kept)
    }

    /// What a constraint refuses here cannot be told to the one whose row it was: everyone has to run alone.
    fn write_pending(&mut self, pending: WriteBuffer) -> Result<(), StoreError> {
        if pending.is_empty() {
            return Ok(());
        }
        let written = pending.write(&mut self.connection, dialect::ahead(&*self.clock)).stored();
        self.run.broke |= written.is_err();
        written
    }

    /// Ends the run of a unit of work among others, with its changes or without them.
    ///
    /// # Errors
    /// [`StoreError`]; the transaction is to be given up.
    pub(crate) fn end_run(&mut self, keep: bool) -> Result<(), StoreError> {
        let run = std::mem::take(&mut self.run);
        if let Some(held) = run.savepoint {
            if keep {
                dialect::keep_together(&mut self.connection, "RELEASE SAVEPOINT unit_of_work").stored()?;
            } else {
                self.execute("ROLLBACK TO SAVEPOINT unit_of_work; RELEASE SAVEPOINT unit_of_work")?;
                self.locks.give_up(held);
            }
        }
        self.batch.end(&run, keep);
        self.audit_writer.end_run(keep);
        Ok(())
    }
}

/// What a unit of work is told whose look-up is not known yet. Nobody outside hears of it.
fn missed() -> StoreError {
    StoreError::Busy
}

macro_rules! repositories {
    ($($method:ident: $repository:path;)*) => {
        impl UnitOfWork for DieselTransaction {
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
    sealed_nonces: SealedNonceRepository;
    employees: EmployeeRepository;
    categories: CategoryRepository;
    cards: CardRepository;
    transactions: TransactionRepository;
    orders: OrderRepository;
    replenishments: CardBatchRepository<TopUps>;
    limit_changes: CardBatchRepository<LimitChanges>;
    ledger: LedgerRepository;
    jobs: JobRepository;
    reconciliation: ReconciliationRepository;
    audit: AuditRepository;
}
