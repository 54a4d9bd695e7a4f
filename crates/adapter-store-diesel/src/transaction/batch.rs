//! State of a batch: units of work that run one after another in one transaction.
//!
//! Latency of a database server is paid per round trip. So a batch loads the keys that its units of work read with one
//! statement for each kind of key ([`Loader`]), and inserts the rows that they add with one statement for each table
//! ([`WriteBuffer`]). A unit of work that meets a key which is not loaded yet ends there and runs again from the start
//! after the load ([`kopeck_port_store::Work`] may run several times). Loads see buffered rows at once. Any other statement
//! flushes the buffer and sets a savepoint for its unit of work. See `docs/adr/0001-group-commit-and-batch-loading.md`.

use kopeck_domain::ids::PartnerId;
use kopeck_port_store::StoreError;

use crate::dialect;
use crate::error::Stored;
use crate::transaction::DieselTransaction;
use crate::transaction::loader::{BatchLoad, Loader};
use crate::transaction::locks::Lock;
use crate::transaction::write_buffer::WriteBuffer;

/// How a unit of work is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    /// The only one in its transaction: every statement goes to the database at once.
    #[default]
    Single,
    /// One of a batch, in a savepoint.
    Savepoint,
    /// One of a batch, through its loader and write buffer.
    Batched,
}

/// State of the unit of work that runs.
#[derive(Default)]
pub(crate) struct UnitState {
    pub(crate) mode: Mode,
    /// It met a key that is not loaded yet.
    pub(crate) missed: bool,
    /// The write buffer could not be written.
    pub(crate) broke: bool,
    /// The locks that it uses.
    pub(crate) uses: Vec<i64>,
    /// How many locks were held when its savepoint was set, if it was.
    pub(crate) savepoint: Option<usize>,
    /// The partners whose loaded values it may have changed by statements of its own; `None` stands for all.
    stale: Vec<Option<PartnerId>>,
}

impl UnitState {
    pub(crate) fn new(mode: Mode) -> Self {
        Self { mode, ..Self::default() }
    }

    /// Whether it is undone by itself.
    pub(crate) const fn is_apart(&self) -> bool {
        matches!(self.mode, Mode::Savepoint | Mode::Batched)
    }

    /// Whether it reads through the loader and adds rows to the write buffer.
    pub(crate) fn is_batched(&self) -> bool {
        self.mode == Mode::Batched && self.savepoint.is_none()
    }

    pub(crate) fn use_lock(&mut self, key: i64) {
        if !self.uses.contains(&key) {
            self.uses.push(key);
        }
    }

    /// It sends a statement of its own, on the data of this partner or of any.
    pub(crate) fn invalidate(&mut self, partner: Option<PartnerId>) {
        if !self.stale.contains(&partner) {
            self.stale.push(partner);
        }
    }
}

/// What the units of work of one transaction share.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) loader: Loader,
    /// Rows of units of work that have ended well.
    pub(crate) kept: WriteBuffer,
    /// Rows of the one that runs.
    pub(crate) own: WriteBuffer,
}

impl Batch {
    /// The unit of work has ended: its changes hold or never were.
    pub(crate) fn end(&mut self, run: &UnitState, keep: bool) {
        self.loader.end_run(keep);
        if keep {
            self.kept.append(&mut self.own);
        } else {
            self.own = WriteBuffer::default();
        }
        run.stale.iter().for_each(|partner| self.loader.forget(*partner));
    }
}

/// What batches do with a transaction.
impl DieselTransaction {
    /// Begins without a transaction. Units of work have the loaded keys, and miss everything else.
    pub(crate) fn stay_outside(&mut self) {
        self.reset(true);
        self.outside = true;
    }

    /// The write buffer, in a batch.
    pub(crate) fn pending(&mut self, partner: PartnerId) -> Result<Option<&mut WriteBuffer>, StoreError> {
        if !self.run.is_batched() {
            return Ok(None);
        }
        self.lock(Lock::Partner(partner))?;
        if self.run.missed { Err(StoreError::Rerun) } else { Ok(Some(&mut self.batch.own)) }
    }

    /// Changes the loaded value of a key, to what a buffered row makes of it.
    pub(crate) fn remember<L: BatchLoad>(&mut self, partner: PartnerId, key: L, value: L::Loaded) {
        self.batch.loader.change(partner, key, value);
    }

    /// Whether a unit of work lacks a key or a lock.
    pub(crate) fn is_wanting(&self) -> bool {
        self.locks.is_wanting() || self.batch.loader.kinds_wanted() > 0
    }

    /// Whether keys of one kind are all that units of work lack.
    pub(crate) fn is_wanting_one_kind(&self) -> bool {
        !self.locks.is_wanting() && self.batch.loader.kinds_wanted() == 1
    }

    /// Loads keys and takes locks that units of work lacked.
    ///
    /// # Errors
    /// [`StoreError`]; the transaction is to be given up.
    pub(crate) fn fetch(&mut self) -> Result<(), StoreError> {
        self.write_kept()?;
        let connection = self.session.connection.postgres().stored()?;
        self.locks.fetch(connection)?;
        self.batch.loader.fetch(connection)
    }

    /// Flushes the rows of the units of work that commit.
    ///
    /// # Errors
    /// [`StoreError`]; the transaction is to be given up.
    pub(crate) fn write_kept(&mut self) -> Result<(), StoreError> {
        let kept = std::mem::take(&mut self.batch.kept);
        self.write_pending(kept)
    }

    /// The database does not say whose row a constraint refuses here, so all units of work then run by themselves.
    pub(super) fn write_pending(&mut self, pending: WriteBuffer) -> Result<(), StoreError> {
        if pending.is_empty() {
            return Ok(());
        }
        let written = pending.write(&mut self.session.connection).stored();
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
                dialect::keep_together(&mut self.session.connection, "RELEASE SAVEPOINT unit_of_work")
                    .stored()?;
            } else {
                self.execute("ROLLBACK TO SAVEPOINT unit_of_work; RELEASE SAVEPOINT unit_of_work")?;
                self.locks.give_up(held);
            }
        }
        self.batch.end(&run, keep);
        self.audit.end_run(keep);
        self.booked.end_run(keep);
        Ok(())
    }
}
