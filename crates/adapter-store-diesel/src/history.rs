//! Whether the database still has what this process has committed to it.
//!
//! A failover, or a restore under a running process, may take acknowledged commits away. So a process remembers landmarks:
//! the head of each chain of the audit log that it has written, the last movement of each partner that it has booked, and
//! the last chain that it has seen. It looks for them on each new connection, and on SQLite whenever another connection has
//! changed the file. If one is missing, changes are refused until an operator accepts the history as it is. A row in the
//! database tells other processes, and those that start later. See `docs/adr/0052-commits-that-vanish-stop-changes.md`.

use std::fmt::{self, Display, Formatter};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use diesel::prelude::*;
use kopeck_audit::{Head, MarkKind, Opening};
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::StoreError;
use kopeck_port_system::Clock;

use crate::audit_chain::marks::marks;
use crate::audit_chain::rows::{last_opening, record_hash};
use crate::connection::AnyConnection;
use crate::convert::AsKey;
use crate::dialect;
use crate::error::{OpenError, Stored};
use crate::schema::{audit_chains, history_notices, movements, partners};
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, binds};

/// The most landmarks. The oldest go first: the latest commits are the first to be missing.
const MOST: usize = 64;

const REWOUND: &str = "REWOUND";
const ACCEPTED: &str = "ACCEPTED";

/// A movement as its row has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Booked {
    pub(crate) partner: PartnerId,
    pub(crate) number: i64,
    pub(crate) at: UtcTimestamp,
}

/// Something that the database has for ever once it was committed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Landmark {
    Entry(Head),
    Opening(Opening),
    Movement(Booked),
}

impl Landmark {
    /// Whether it takes the place of `other`.
    fn replaces(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Entry(one), Self::Entry(other)) => one.chain == other.chain,
            (Self::Opening(_), Self::Opening(_)) => true,
            (Self::Movement(one), Self::Movement(other)) => one.partner == other.partner,
            _ => false,
        }
    }

    fn is_there(&self, connection: &mut AnyConnection) -> Result<bool, StoreError> {
        match self {
            Self::Entry(head) => is_entry_there(connection, head),
            Self::Opening(opening) => {
                let hash: Option<Vec<u8>> = audit_chains::table
                    .find(opening.chain.cast_signed())
                    .select(audit_chains::hash)
                    .get_result(connection)
                    .optional()
                    .stored()?;
                Ok(hash.is_some_and(|hash| hash == opening.hash.as_bytes()))
            }
            Self::Movement(Booked { partner, number, at }) => {
                let found: Option<UtcTimestamp> = movements::table
                    .find((partner.key(), number))
                    .select(movements::created_at)
                    .get_result(connection)
                    .optional()
                    .stored()?;
                // The books of a partner may go with it. Entries tell of a rewind to before the partner.
                Ok(found == Some(*at) || (found.is_none() && !is_partner_there(connection, *partner)?))
            }
        }
    }
}

fn is_partner_there(connection: &mut AnyConnection, partner: PartnerId) -> Result<bool, StoreError> {
    let found: Option<Id> = partners::table
        .find(partner.key())
        .select(partners::id)
        .get_result(connection)
        .optional()
        .stored()?;
    Ok(found.is_some())
}

/// An entry that was pruned lies before the mark at which its chain begins.
fn is_entry_there(connection: &mut AnyConnection, head: &Head) -> Result<bool, StoreError> {
    if let Some(hash) = record_hash(connection, head.chain, head.number)? {
        return Ok(hash == head.hash.as_bytes());
    }
    let is_pruned = |mark: &kopeck_audit::Mark| {
        mark.kind == MarkKind::Beginning && (mark.head.number > head.number || mark.head == *head)
    };
    Ok(marks(connection, head.chain)?.iter().any(is_pruned))
}

impl Display for Landmark {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry(Head { chain, number, .. }) => write!(f, "entry {number} of audit chain {chain}"),
            Self::Opening(opening) => write!(f, "audit chain {}", opening.chain),
            Self::Movement(booked) => write!(f, "movement {} of partner {}", booked.number, booked.partner),
        }
    }
}

/// The movements that a transaction books.
#[derive(Default)]
pub(crate) struct Bookings {
    /// Those of units of work that have ended well.
    kept: Vec<Booked>,
    /// Those of the one that runs.
    own: Vec<Booked>,
}

impl Bookings {
    pub(crate) fn add(&mut self, booked: Booked) {
        self.own.push(booked);
    }

    /// The unit of work that ran among others has ended, with its changes or without them.
    pub(crate) fn end_run(&mut self, keep: bool) {
        if keep {
            self.kept.append(&mut self.own);
        } else {
            self.own.clear();
        }
    }

    /// Takes all of them at the commit.
    pub(crate) fn take(&mut self) -> Vec<Booked> {
        self.end_run(true);
        std::mem::take(&mut self.kept)
    }
}

/// What a process knows of the history of its database.
pub(crate) struct History {
    clock: Arc<dyn Clock>,
    landmarks: Mutex<Vec<(UtcTimestamp, Landmark)>>,
    is_rewound: AtomicBool,
}

/// The last notice in the database.
#[derive(Queryable)]
struct Notice {
    noted_at: UtcTimestamp,
    kind: String,
    detail: String,
}

/// What a look found.
enum Finding {
    Whole,
    /// What is missing, and whether a notice of it stands in the database.
    Rewound {
        detail: String,
        is_noted: bool,
    },
}

impl History {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, landmarks: Mutex::default(), is_rewound: AtomicBool::new(false) }
    }

    /// Whether commits are missing, so that changes are refused.
    pub(crate) fn is_rewound(&self) -> bool {
        self.is_rewound.load(Ordering::Acquire)
    }

    /// These were committed.
    pub(crate) fn committed(&self, head: Option<Head>, booked: impl IntoIterator<Item = Booked>) {
        let landmarks = head.map(Landmark::Entry).into_iter();
        let landmarks = landmarks.chain(booked.into_iter().map(Landmark::Movement));
        landmarks.for_each(|landmark| self.remember(landmark));
    }

    /// By a clock that no sandbox moves.
    fn now(&self) -> UtcTimestamp {
        UtcTimestamp::of(self.clock.now() - self.clock.ahead())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(UtcTimestamp, Landmark)>> {
        self.landmarks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, landmark: Landmark) {
        let now = self.now();
        let mut landmarks = self.lock();
        landmarks.retain(|(_, other)| !landmark.replaces(other));
        if landmarks.len() >= MOST {
            landmarks.remove(0);
        }
        landmarks.push((now, landmark));
    }

    /// Looks for all landmarks. From the first that is missing on, changes are refused. Returns whether the database has its
    /// history.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub(crate) fn check(&self, connection: &mut AnyConnection) -> Result<bool, StoreError> {
        let found = self.look(connection)?;
        if let Finding::Rewound { detail, .. } = &found {
            if !self.is_rewound.swap(true, Ordering::AcqRel) {
                log::error!(
                    missing = detail.as_str();
                    "the database was rewound: commits are missing; changes are refused until an operator runs \
                     `kopeck check --accept-history`"
                );
            }
        } else if let Some(opening) = last_opening(connection)? {
            self.remember(Landmark::Opening(opening));
        }
        Ok(matches!(found, Finding::Whole))
    }

    fn look(&self, connection: &mut AnyConnection) -> Result<Finding, StoreError> {
        // A standby may lag behind, and accepts no changes anyway.
        if dialect::is_standby(connection).stored()? {
            return Ok(Finding::Whole);
        }
        match last_notice(connection).stored()? {
            Some(Notice { kind, detail, .. }) if kind == REWOUND => {
                return Ok(Finding::Rewound { detail, is_noted: true });
            }
            Some(accepted) => self.lock().retain(|(at, _)| *at > accepted.noted_at),
            None => {}
        }
        // What is committed meanwhile is not asked for.
        let landmarks = self.lock().clone();
        for (_, landmark) in landmarks.into_iter().rev() {
            if !landmark.is_there(connection)? {
                return Ok(Finding::Rewound { detail: landmark.to_string(), is_noted: false });
            }
        }
        Ok(Finding::Whole)
    }

    /// Looks again, within a writing transaction: whether an operator has accepted the history, or another connection has led
    /// to another database. Adds a notice if there is none. Returns whether there is something to commit.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read or written.
    pub(crate) fn settle(&self, connection: &mut AnyConnection) -> Result<bool, StoreError> {
        match self.look(connection)? {
            Finding::Whole => {
                self.is_rewound.store(false, Ordering::Release);
                log::warn!("the history of the database is whole, or was accepted: it takes changes");
                Ok(false)
            }
            Finding::Rewound { is_noted: true, .. } => Ok(false),
            Finding::Rewound { detail, .. } => {
                // A former primary that has lost its standby would wait for it for ever.
                dialect::commit_without_standby(connection).stored()?;
                notice(connection, self.now(), REWOUND, &detail).stored()?;
                Ok(true)
            }
        }
    }
}

fn last_notice(connection: &mut AnyConnection) -> QueryResult<Option<Notice>> {
    history_notices::table
        // Numbers begin at 1: by the key, not by the table.
        .filter(history_notices::number.gt(0))
        .order(history_notices::number.desc())
        .select((history_notices::noted_at, history_notices::kind, history_notices::detail))
        .first(connection)
        .optional()
}

/// Adds a notice, unless another process does so at the same time. Returns whether it did.
fn notice(connection: &mut AnyConnection, at: UtcTimestamp, kind: &str, detail: &str) -> QueryResult<bool> {
    let text = "INSERT INTO history_notices (number, noted_at, kind, detail)
        SELECT COALESCE(MAX(number), 0) + 1, ?, ?, ? FROM history_notices WHERE true
        ON CONFLICT (number) DO NOTHING";
    statements::execute(connection, text, binds![at, kind, detail]).map(|rows| rows > 0)
}

/// Accepts the history of the database behind `url` as it is at `clock`'s present: what processes have committed before and
/// is missing is not asked for any more. Returns what was found missing, if anything was.
///
/// # Errors
/// [`OpenError`] if the database cannot be opened or written.
pub fn accept_history(url: &str, clock: &dyn Clock) -> Result<Option<String>, OpenError> {
    let mut connection = AnyConnection::open_existing(url, kopeck_port_store::Access::Write)?;
    let before = last_notice(&mut connection).map_err(OpenError::connect)?;
    let missing = before.filter(|notice| notice.kind == REWOUND).map(|notice| notice.detail);
    let now = UtcTimestamp::of(clock.now() - clock.ahead());
    let detail = missing.as_deref().unwrap_or_default();
    while !notice(&mut connection, now, ACCEPTED, detail).map_err(OpenError::connect)? {}
    Ok(missing)
}
