//! The entries of the audit log that a writing connection adds.
//!
//! Every connection has a chain of its own, so that none waits for another; operators' commands share one. Entries of units
//! of work that share a transaction wait in memory until its commit, are chained and signed there, and go in with one
//! statement. The chain of a connection goes on only if the commit is known to have come to pass: after anything else the
//! next entry begins a new one.
//!
//! A checkpoint in the database says how far a chain goes at least. A command moves it with each commit, a connection with
//! its first and then once a minute.

use kopeck_domain::audit::{Entry, Head, Mark, MarkKind, Opening, Record, Statement};
use kopeck_port_store::{AuditSigner, SignatureCheck, StoreError};
use kopeck_port_system::Clock;
use time::{Duration, OffsetDateTime};

use crate::config::{AuditChain, AuditSettings};
use crate::dialect::{self, AnyConnection};
use crate::error::Stored;
use crate::repositories::{commands_chain, insert_opening, insert_records, last_opening, put_mark};

/// Held by who opens a chain or adds to that of commands, until its commit; the bytes of "kopeckau". It is the last lock
/// that a transaction takes, so it may be waited for while others are held.
const OPENING: i64 = 0x6b6f_7065_636b_6175;

/// How often a connection moves its checkpoint.
const CHECKPOINT_EVERY: Duration = Duration::MINUTE;

/// What a connection adds to the audit log.
pub(crate) struct AuditWriter {
    settings: AuditSettings,
    /// How far its chain is committed; `None` before the first entry, and if that is not known.
    head: Option<Head>,
    /// How far it goes once the open transaction is committed.
    next: Option<Head>,
    /// When its checkpoint was last moved.
    checkpoint_at: Option<OffsetDateTime>,
    /// Entries of units of work that have ended well.
    kept: Vec<Entry>,
    /// Entries of the one that runs.
    own: Vec<Entry>,
}

impl AuditWriter {
    /// Nothing is added yet.
    pub(crate) fn new(settings: AuditSettings) -> Self {
        Self { settings, head: None, next: None, checkpoint_at: None, kept: Vec::new(), own: Vec::new() }
    }

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
        let written = self.write_kept(connection, clock.now() - clock.ahead());
        if written.is_err() {
            self.give_up_chain();
        }
        written
    }

    fn write_kept(&mut self, connection: &mut AnyConnection, now: OffsetDateTime) -> Result<(), StoreError> {
        let signer = self.settings.signer.as_deref();
        let is_of_commands = self.settings.chain == AuditChain::OfCommands;
        let mut head = match self.head.clone() {
            Some(head) if !is_of_commands => head,
            _ if is_of_commands => continue_commands(connection, signer, now)?,
            _ => {
                self.checkpoint_at = None;
                dialect::wait_for_lock(connection, OPENING).stored()?;
                open(connection, now, false)?
            }
        };
        let mut records = Vec::with_capacity(self.kept.len());
        for entry in self.kept.drain(..) {
            head = head.next(&entry);
            let signature = signer.map(|signer| signer.sign(&head.signed_bytes(Statement::Entry)));
            records.push(Record { entry, head: head.clone(), signature });
        }
        insert_records(connection, &records).stored()?;
        let is_fresh = |at| (Duration::ZERO..CHECKPOINT_EVERY).contains(&(now - at));
        if let Some(signer) = signer
            && (is_of_commands || !self.checkpoint_at.is_some_and(is_fresh))
        {
            put_mark(connection, &checkpoint(signer, &head)).stored()?;
            self.checkpoint_at = Some(now);
        }
        self.next = Some(head);
        Ok(())
    }

    /// What became of the commit.
    pub(crate) fn end(&mut self, committed: bool) {
        if !committed {
            return self.give_up_chain();
        }
        if let Some(head) = self.next.take() {
            if let Some(heads) = &self.settings.heads {
                heads.committed(&head);
            }
            self.head = Some(head);
        }
    }
}

/// The end of the chain of commands, for this transaction alone; a new chain if there is none, or if what was its end is
/// gone: a chain that was cut must not look whole because it goes on.
fn continue_commands(
    connection: &mut AnyConnection,
    signer: Option<&dyn AuditSigner>,
    now: OffsetDateTime,
) -> Result<Head, StoreError> {
    dialect::wait_for_lock(connection, OPENING).stored()?;
    if let Some((head, checkpoint)) = commands_chain(connection)? {
        let is_end = |signer: &dyn AuditSigner| {
            checkpoint.is_some_and(|mark| {
                mark.head == head
                    && signer.check(&mark.signed_bytes(), &mark.signature) == SignatureCheck::Valid
            })
        };
        if signer.is_none_or(is_end) {
            return Ok(head);
        }
        log::error!(
            chain = head.chain;
            "the audit log's chain of commands does not end at its checkpoint: run `kopeck audit verify`"
        );
    }
    open(connection, now, true)
}

/// Begins a chain after all others.
fn open(connection: &mut AnyConnection, now: OffsetDateTime, commands: bool) -> Result<Head, StoreError> {
    let last = last_opening(connection)?;
    let opening = Opening::after(last.as_ref(), now);
    insert_opening(connection, &opening, commands).stored()?;
    Ok(opening.head())
}

fn checkpoint(signer: &dyn AuditSigner, head: &Head) -> Mark {
    let kind = MarkKind::Checkpoint;
    Mark { kind, head: head.clone(), signature: signer.sign(&head.signed_bytes(Statement::Mark(kind))) }
}
