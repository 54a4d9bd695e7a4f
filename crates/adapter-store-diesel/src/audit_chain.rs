//! The entries of the audit log that a writing connection adds.
//!
//! Every connection has a chain of its own, so that none waits for another; operators' commands share one. Entries of units
//! of work that share a transaction wait in memory until its commit, are chained and signed there, and go in with one
//! statement. The chain of a connection goes on only if the commit is known to have come to pass: after anything else the
//! next entry begins a new one.
//!
//! A checkpoint in the database says how far a chain goes at least. A command moves it with each commit, a connection with
//! its first and then once a minute.

pub(crate) mod marks;
pub(crate) mod rows;

use kopeck_audit::{Entry, Head, Mark, MarkKind, Opening, Record, Statement};
use kopeck_port_store::{AuditSigner, SignatureCheck, StoreError};
use kopeck_port_system::Clock;
use time::{Duration, OffsetDateTime};

use self::marks::{commands_chain, put_mark};
use self::rows::{insert_opening, insert_records, last_opening};
use crate::config::{AuditChain, AuditSettings};
use crate::connection::{AnyConnection, ChainPosition, Session};
use crate::dialect;
use crate::error::Stored;

/// Held by who opens a chain or adds to that of commands, until its commit; the bytes of "kopeckau". It is the last lock
/// that a transaction takes, so it may be waited for while others are held.
const OPENING: i64 = 0x6b6f_7065_636b_6175;

/// How often a connection moves its checkpoint.
const CHECKPOINT_EVERY: Duration = Duration::MINUTE;

/// What a transaction adds to the audit log.
#[derive(Default)]
pub(crate) struct AuditWriter {
    /// Entries of units of work that have ended well.
    kept: Vec<Entry>,
    /// Entries of the one that runs.
    own: Vec<Entry>,
    /// How far the chain goes once the transaction is committed.
    next: Option<Head>,
}

impl AuditWriter {
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

    /// Writes what is kept, as the last thing before a commit.
    ///
    /// # Errors
    /// [`StoreError`]; the transaction is to be given up.
    pub(crate) fn write(
        &mut self,
        session: &mut Session,
        settings: &AuditSettings,
        clock: &dyn Clock,
    ) -> Result<(), StoreError> {
        // A unit of work that runs alone has not ended for anyone but the one who commits it.
        self.end_run(true);
        if self.kept.is_empty() {
            return Ok(());
        }
        let Session { connection, chain, .. } = session;
        let written = self.write_kept(connection, chain, settings, clock.now() - clock.ahead());
        if written.is_err() {
            chain.head = None;
        }
        written
    }

    fn write_kept(
        &mut self,
        connection: &mut AnyConnection,
        chain: &mut ChainPosition,
        settings: &AuditSettings,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let signer = settings.signer.as_deref();
        let is_of_commands = settings.chain == AuditChain::OfCommands;
        let mut head = match chain.head.clone() {
            Some(head) if !is_of_commands => head,
            _ if is_of_commands => continue_commands(connection, signer, now)?,
            _ => {
                chain.checkpoint_at = None;
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
            && (is_of_commands || !chain.checkpoint_at.is_some_and(is_fresh))
        {
            put_mark(connection, &checkpoint(signer, &head)).stored()?;
            chain.checkpoint_at = Some(now);
        }
        self.next = Some(head);
        Ok(())
    }

    /// What became of the commit. After one that is not known to have come to pass the next entry begins a new chain.
    /// Returns how far the chain goes, if entries were committed.
    pub(crate) fn end(
        &mut self,
        chain: &mut ChainPosition,
        settings: &AuditSettings,
        committed: bool,
    ) -> Option<Head> {
        let next = self.next.take();
        if !committed {
            chain.head = None;
            return None;
        }
        let head = next?;
        if let Some(heads) = &settings.heads {
            heads.committed(&head);
        }
        chain.head = Some(head.clone());
        Some(head)
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
