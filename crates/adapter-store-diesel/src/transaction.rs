//! A transaction: the repositories over one connection, within the transaction that is open on it.

pub(crate) mod batch;
pub(crate) mod loader;
pub(crate) mod locks;
pub(crate) mod write_buffer;

use std::collections::BTreeSet;
use std::sync::Arc;

use diesel::connection::SimpleConnection;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{Access, ColumnCipher, Disposition, StoreError};

use self::batch::{Batch, UnitState};
use self::loader::BatchLoad;
use self::locks::{Lock, Locks};
use crate::audit_chain::AuditWriter;
use crate::connection::{AnyConnection, PooledSession};
use crate::database::Database;
use crate::dialect;
use crate::error::{StatementFailure, Stored, lost};
use crate::history::Bookings;
use crate::sql_types::UtcTimestamp;
use crate::statements::{self, Bind};
use kopeck_port_store::Outage;

/// The most attempts to begin a transaction: an idle connection may be lost, and so may be those of the pool that follow it.
const MAX_BEGINS: u32 = 2;

/// A transaction on a connection of the pool, one after another. It implements every repository, so that a unit of work
/// costs nothing to set up.
pub(crate) struct DieselTransaction {
    session: PooledSession,
    database: Arc<Database>,
    access: Access,
    pub(crate) locks: Locks,
    pub(crate) audit: AuditWriter,
    pub(crate) booked: Bookings,
    batch: Batch,
    pub(crate) run: UnitState,
    /// Encrypts columns.
    pub(crate) cipher: Arc<dyn ColumnCipher>,
    /// Whether the database refused writes, perhaps because the log has taken the space.
    shortens_log: bool,
    /// Whether units of work run without a transaction, on loaded keys alone.
    outside: bool,
    /// Whether a transaction is open.
    is_open: bool,
    /// Whether the connection was lost.
    lost: bool,
    /// To whose feeds events were appended.
    pub(crate) appended: BTreeSet<PartnerId>,
}

impl DieselTransaction {
    /// Takes a connection of the pool. No transaction is open yet.
    ///
    /// # Errors
    /// [`StoreError`] if the pool has none.
    pub(crate) fn new(database: &Arc<Database>, access: Access) -> Result<Self, StoreError> {
        Ok(Self {
            session: database.session(access)?,
            database: Arc::clone(database),
            access,
            locks: Locks::default(),
            audit: AuditWriter::default(),
            booked: Bookings::default(),
            batch: Batch::default(),
            run: UnitState::default(),
            cipher: Arc::clone(&database.cipher),
            shortens_log: false,
            outside: false,
            is_open: false,
            lost: false,
            appended: BTreeSet::new(),
        })
    }

    pub(crate) fn access(&self) -> Access {
        self.access
    }

    /// By how much the service is ahead of the clock of a database server, in microseconds.
    pub(crate) fn ahead(&self) -> i64 {
        dialect::ahead(&*self.database.clock)
    }

    /// The connection, for the statements that keep the transaction together.
    pub(crate) fn connection(&mut self) -> &mut AnyConnection {
        &mut self.session.connection
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Begins a transaction, on a new connection if the old one is broken. `patient`: its first lock may be waited for.
    pub(crate) fn begin(&mut self, patient: bool) -> Result<(), StoreError> {
        self.reset(patient);
        self.database.condition.check_files(self.access)?;
        for _ in 0..MAX_BEGINS {
            if self.session.is_broken {
                self.database.reconnect(self.access, &mut self.session)?;
                self.lost = false;
            }
            let begun = dialect::begin(&mut self.session.connection, self.access).stored();
            self.take_failure();
            if begun.is_ok() || !self.may_pass() {
                self.is_open = begun.is_ok();
                return begun.and_then(|()| self.check_history());
            }
            // A transaction that does not begin has lost its connection. Nothing has run yet.
            self.session.is_broken = true;
        }
        self.lost = true;
        Err(lost())
    }

    /// Looks whether commits are missing after another connection has changed the file of an embedded database.
    fn check_history(&mut self) -> Result<(), StoreError> {
        if self.access == Access::Read {
            return Ok(());
        }
        let checked = self.database.check_history(&mut self.session);
        if checked.is_err() {
            self.roll_back();
        }
        checked
    }

    /// Whether a unit of work may run.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if it is to change something and the database is not what it was.
    pub(crate) fn may_run(&self) -> Result<(), StoreError> {
        match self.access {
            Access::Read => Ok(()),
            Access::Write => self.database.condition.check_changes(),
        }
    }

    fn reset(&mut self, patient: bool) {
        self.locks = Locks::new(patient);
        self.batch = Batch::default();
        self.run = UnitState::default();
        self.audit = AuditWriter::default();
        self.booked = Bookings::default();
        self.session.failures.take();
        self.outside = false;
        self.appended.clear();
    }

    /// Whether a statement has failed since the last look.
    pub(crate) fn has_failed(&self) -> bool {
        self.session.failures.is_any()
    }

    /// Takes the worst failure of a statement since the last look. A lost connection is noted, and an outage reported.
    pub(crate) fn take_failure(&mut self) -> Option<StatementFailure> {
        let failure = self.take_unreported_failure();
        if let Some(StatementFailure::Outage(outage)) = failure {
            self.note_outage(outage);
        }
        failure
    }

    /// The same, but an outage is not reported.
    fn take_unreported_failure(&mut self) -> Option<StatementFailure> {
        let failure = self.session.failures.take();
        if failure == Some(StatementFailure::Lost) {
            self.lose();
        }
        failure
    }

    /// The connection is lost.
    fn lose(&mut self) {
        (self.lost, self.is_open, self.session.is_broken) = (true, false, true);
    }

    /// Reports an outage of the database.
    pub(crate) fn note_outage(&mut self, outage: Outage) {
        if outage == Outage::ReadOnly {
            if self.access == Access::Read {
                // It tried to write, which is its own fault.
                return;
            }
            // A server that has become a standby, or has stopped being one: a new connection finds out.
            self.session.is_broken |= self.may_pass();
        }
        self.database.condition.failed(self.access, outage);
    }

    /// Finds out whether the database accepts changes, and is what it was.
    pub(crate) fn probe(&mut self) -> Result<Disposition, StoreError> {
        self.shortens_log = true;
        let database = Arc::clone(&self.database);
        if database.settle(self.unlocked()?)? {
            return Ok(Disposition::Commit);
        }
        dialect::probe(self.unlocked()?).stored()
    }

    /// Keeps the log of an embedded database as short as the space on the disk asks for. No transaction may be open.
    pub(crate) fn fit_log(&mut self) {
        let shortens = std::mem::take(&mut self.shortens_log);
        self.database.fit_log(&mut self.session, shortens);
    }

    /// Whether another run may succeed after a failure of an unknown kind.
    pub(crate) fn may_pass(&self) -> bool {
        dialect::may_pass(&self.session.connection)
    }

    /// The timestamp `delay` microseconds from now by the clock that work goes by, for use within a statement.
    pub(crate) fn work_time_in(&self, delay: i64) -> Bind<'static> {
        dialect::work_time_in(&self.session.connection, &*self.database.clock, delay)
    }

    /// The present, by the clock that work goes by.
    pub(crate) fn work_time(&mut self) -> Result<UtcTimestamp, StoreError> {
        self.unlocked()?;
        dialect::work_time(&mut self.session.connection, &*self.database.clock).stored()
    }

    /// Runs statements without a result.
    pub(crate) fn execute(&mut self, statements: &str) -> Result<(), StoreError> {
        self.session.connection.batch_execute(statements).stored()
    }

    /// Ends the transaction and keeps its changes, with their entries in the audit log.
    pub(crate) fn commit(&mut self) -> Result<(), StoreError> {
        self.audit.write(&mut self.session, &self.database.audit, &*self.database.clock)?;
        self.database.condition.look_at_files(Access::Write)?;
        let committed = dialect::commit(&mut self.session.connection).stored();
        self.is_open = committed.is_err();
        let kept = committed.and_then(|()| {
            let kept = self.database.condition.look_at_files(Access::Write);
            if kept.is_err() {
                // It may be found again with the files: nothing of it must run a second time.
                self.lose();
            }
            kept
        });
        let head = self.audit.end(&mut self.session.chain, &self.database.audit, kept.is_ok());
        if kept.is_ok() {
            self.database.condition.history.committed(head, self.booked.take());
        }
        if let (Ok(()), Some(feed)) = (&kept, &self.database.feed) {
            feed.appended(std::mem::take(&mut self.appended));
        }
        kept
    }

    /// Rolls back. SQLite fails if it has already rolled back, which is as good; PostgreSQL only if the connection is lost.
    pub(crate) fn roll_back(&mut self) {
        let rolled_back = dialect::keep_together(&mut self.session.connection, "ROLLBACK").stored();
        self.is_open = false;
        self.take_failure();
        if let Err(error) = rolled_back {
            log::debug!("nothing to roll back: {error}");
            if self.may_pass() {
                self.lose();
            }
        }
    }
}

impl Drop for DieselTransaction {
    /// A connection whose transaction is open must not serve another.
    fn drop(&mut self) {
        self.session.is_broken |= self.is_open;
    }
}

/// Statements of one unit of work. In a batch they may go through what it shares with others.
impl DieselTransaction {
    /// The connection, for what belongs to no partner and goes by no lock.
    pub(crate) fn unlocked(&mut self) -> Result<&mut AnyConnection, StoreError> {
        self.statement_on(None)
    }

    /// The connection, for statements on the data of this partner or of any. In a batch the unit of work has a
    /// savepoint from here on, and all buffered rows are in the database.
    pub(super) fn statement_on(
        &mut self,
        partner: Option<PartnerId>,
    ) -> Result<&mut AnyConnection, StoreError> {
        self.run.missed |= self.outside;
        if self.run.missed {
            return Err(StoreError::Rerun);
        }
        if self.access == Access::Write && self.run.is_apart() {
            if self.run.savepoint.is_none() {
                self.write_kept()?;
                dialect::keep_together(&mut self.session.connection, "SAVEPOINT unit_of_work").stored()?;
                self.run.savepoint = Some(self.locks.count());
            }
            let own = std::mem::take(&mut self.batch.own);
            self.write_pending(own)?;
            self.run.invalidate(partner);
        }
        Ok(&mut self.session.connection)
    }

    /// Runs a statement that changes data of this partner.
    pub(crate) fn change(
        &mut self,
        partner: PartnerId,
        text: &str,
        values: Vec<Bind<'_>>,
    ) -> Result<(), StoreError> {
        statements::execute(self.of(partner)?, text, values).done()
    }

    /// The same for a statement that a constraint may refuse, so that the unit of work can go on after it.
    pub(crate) fn try_change(
        &mut self,
        partner: PartnerId,
        text: &str,
        values: Vec<Bind<'_>>,
    ) -> Result<(), StoreError> {
        let changed = |connection: &mut AnyConnection| statements::execute(connection, text, values);
        dialect::guarded(self.of(partner)?, changed).done()
    }

    /// Loads the value of a key: through the batch loader in a batch.
    pub(crate) fn load<L: BatchLoad>(&mut self, partner: PartnerId, key: L) -> Result<L::Loaded, StoreError> {
        if !self.run.is_batched() {
            return loader::load_one(partner, &key, self.of(partner)?);
        }
        let locked = self.lock(Lock::Partner(partner));
        if locked.is_err() && !self.run.missed {
            // Its lock is not free, so it cannot go on whatever the answer is.
            return Err(StoreError::Rerun);
        }
        match self.batch.loader.get(partner, key) {
            Some(found) if !self.run.missed => Ok(found),
            found => {
                self.run.missed |= found.is_none();
                Err(StoreError::Rerun)
            }
        }
    }

    /// Loads the values of keys of one kind, or none of them.
    pub(crate) fn load_all<L: BatchLoad>(
        &mut self,
        partner: PartnerId,
        keys: impl Iterator<Item = L>,
    ) -> Result<Vec<L::Loaded>, StoreError> {
        // The loader learns all keys before the unit of work ends, and loads them at once.
        let found: Vec<_> = keys.map(|key| self.load(partner, key)).collect();
        found.into_iter().collect()
    }
}

kopeck_port_store::unit_of_work!(DieselTransaction);
