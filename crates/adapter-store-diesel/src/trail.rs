//! The entries of the audit log that a writing connection adds.
//!
//! Every connection has a chain of its own, so that none waits for another. Entries of units of work that share a
//! transaction wait in memory until its commit, are chained there, and go in with one statement. The chain goes on only if
//! the commit is known to have come to pass: after anything else the next entry begins a new one.

use std::time::{Duration, Instant};

use kopeck_domain::audit::{Entry, Head, Opening, Record};
use kopeck_port_store::StoreError;
use kopeck_port_system::Clock;

use crate::dialect::{self, AnyConnection};
use crate::error::Stored;
use crate::repositories::{insert_opening, insert_records, last_opening};

/// Held by who opens a chain, until its commit; the bytes of "kopeckau". It is the last lock that a transaction takes, so
/// it may be waited for while others are held.
const OPENING: i64 = 0x6b6f_7065_636b_6175;

/// How often the log of the process is told how far the chain goes.
const TELL_EVERY: Duration = Duration::from_secs(60);

/// What a connection adds to the audit log.
#[derive(Default)]
pub(crate) struct Trail {
    /// How far its chain is committed; `None` before the first entry, and if that is not known.
    head: Option<Head>,
    /// How far it goes once the open transaction is committed.
    next: Option<Head>,
    /// Entries of units of work that have ended well.
    kept: Vec<Entry>,
    /// Entries of the one that runs.
    own: Vec<Entry>,
    told: Option<Instant>,
}

impl Trail {
    /// A transaction begins, and with it no entry.
    pub(crate) fn begin(&mut self) {
        self.next = None;
        self.kept.clear();
        self.own.clear();
    }

    /// Adds an entry of the unit of work that runs.
    pub(crate) fn add(&mut self, entry: Entry) {
        self.own.push(entry);
    }

    /// The unit of work that ran among others has ended, with its changes or without them.
    pub(crate) fn end_run(&mut self, keep: bool) {
        if keep {
            self.kept.append(&mut self.own);
        } else {
            self.own.clear();
        }
    }

    /// The connection is another one, or nobody knows what is committed on it.
    pub(crate) fn give_up_chain(&mut self) {
        self.head = None;
        self.next = None;
    }

    /// Writes what is kept, as the last thing before a commit.
    ///
    /// # Errors
    /// [`StoreError`]; the transaction is to be given up.
    pub(crate) fn write(
        &mut self,
        connection: &mut AnyConnection,
        clock: &dyn Clock,
    ) -> Result<(), StoreError> {
        // A unit of work that runs alone has not ended for anyone but the one who commits it.
        self.end_run(true);
        if self.kept.is_empty() {
            return Ok(());
        }
        let written = self.write_kept(connection, clock);
        if written.is_err() {
            self.give_up_chain();
        }
        written
    }

    fn write_kept(&mut self, connection: &mut AnyConnection, clock: &dyn Clock) -> Result<(), StoreError> {
        let mut head = match self.head.clone() {
            Some(head) => head,
            None => open(connection, clock)?,
        };
        let mut records = Vec::with_capacity(self.kept.len());
        for entry in self.kept.drain(..) {
            head = head.next(&entry);
            records.push(Record { entry, head: head.clone() });
        }
        insert_records(connection, &records).stored()?;
        self.next = Some(head);
        Ok(())
    }

    /// What became of the commit.
    pub(crate) fn end(&mut self, committed: bool) {
        if !committed {
            return self.give_up_chain();
        }
        if let Some(head) = self.next.take() {
            self.tell(&head);
            self.head = Some(head);
        }
    }

    /// Lets the log have the head, so that it lies outside of the database.
    fn tell(&mut self, head: &Head) {
        if self.told.is_none_or(|told| told.elapsed() >= TELL_EVERY) {
            log::info!(target: "kopeck::audit", head:% = head; "so far goes a chain of the audit log");
            self.told = Some(Instant::now());
        }
    }
}

/// Begins a chain after all others.
fn open(connection: &mut AnyConnection, clock: &dyn Clock) -> Result<Head, StoreError> {
    dialect::wait_for_lock(connection, OPENING).stored()?;
    let last = last_opening(connection)?;
    let opening = Opening::after(last.as_ref(), clock.now() - clock.ahead());
    insert_opening(connection, &opening).stored()?;
    Ok(opening.head())
}
