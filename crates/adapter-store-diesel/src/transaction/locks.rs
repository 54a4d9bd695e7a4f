//! Who may write what, on a database that has many writers.
//!
//! PostgreSQL knows nothing of SQLite's one writer. Here a writing unit of work has each partner whose data it touches
//! to itself, from the first look until its end: no other transaction, in any process, changes what it has read and
//! decides by. Data that belong to no partner have locks of their own. No use case has to say so: it is in the way to
//! the connection, [`DieselTransaction::of`] and [`DieselTransaction::owning`].
//!
//! No transaction waits for a lock while holding one, unless it knows all its locks and takes them in order. So there
//! are no deadlocks. What meets a lock that is not free fails, and is run again when its turn comes.

use std::collections::HashSet;

use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{Access, StoreError};

use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::{StatementFailure, Stored};
use crate::statements::{RawStatement, binds};
use crate::transaction::DieselTransaction;

/// What a writing unit of work can have to itself.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lock<'a> {
    /// All data of a partner.
    Partner(PartnerId),
    /// The failures or nonces under a digest.
    Digest(&'a [u8; 32]),
    /// What has served its time.
    Sweep,
    /// The place in the bank's feed.
    BankFeed,
    /// The numbers of request logs.
    RequestLog,
}

impl Lock<'_> {
    /// The number that stands for it in the database. Two that share one wait for each other, and that is all.
    fn key(self) -> i64 {
        match self {
            Self::Partner(id) => {
                let (high, low) = id.uuid().as_u64_pair();
                (high.rotate_left(32) ^ low).cast_signed()
            }
            Self::Digest([a, b, c, d, e, f, g, h, ..]) => {
                i64::from_be_bytes([*a, *b, *c, *d, *e, *f, *g, *h])
            }
            // The bytes of "kopecksw".
            Self::Sweep => 0x6b6f_7065_636b_7377,
            // The bytes of "kopeckbf".
            Self::BankFeed => 0x6b6f_7065_636b_6266,
            // The bytes of "kopeckrl".
            Self::RequestLog => 0x6b6f_7065_636b_726c,
        }
    }
}

/// The locks of the transaction that is open.
#[derive(Debug, Default)]
pub(crate) struct Locks {
    held: Vec<i64>,
    /// Whether the first may be waited for.
    patient: bool,
    /// The one that was not free.
    missing: Option<i64>,
    /// Those to request together.
    wanted: Vec<i64>,
    /// Those that were requested together and not free.
    refused: Vec<i64>,
}

impl Locks {
    /// Those of a transaction that has just begun.
    pub(crate) fn new(patient: bool) -> Self {
        Self { patient, ..Self::default() }
    }

    pub(crate) fn count(&self) -> usize {
        self.held.len()
    }

    /// The database has given up all but the first `count`, as it does with a savepoint.
    pub(crate) fn give_up(&mut self, count: usize) {
        self.held.truncate(count);
    }

    /// The lock that was not free, if the unit of work met one.
    pub(crate) fn take_missing(&mut self) -> Option<i64> {
        self.missing.take()
    }

    fn want(&mut self, key: i64) {
        if !self.wanted.contains(&key) {
            self.wanted.push(key);
        }
    }

    /// Whether there are some to request.
    pub(crate) fn is_wanting(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Takes the requested ones that are free.
    pub(crate) fn fetch(&mut self, connection: &mut PgConnection) -> Result<(), StoreError> {
        if self.wanted.is_empty() {
            return Ok(());
        }
        let wanted = std::mem::take(&mut self.wanted);
        let question = "SELECT key, pg_try_advisory_xact_lock(key) AS got FROM unnest(?) AS wanted (key)";
        let found: Vec<Locked> = RawStatement::new(question, binds![wanted]).load(connection).stored()?;
        for Locked { key, got } in found {
            if got { self.held.push(key) } else { self.refused.push(key) }
        }
        Ok(())
    }
}

#[derive(QueryableByName)]
struct Locked {
    #[diesel(sql_type = BigInt)]
    key: i64,
    #[diesel(sql_type = Bool)]
    got: bool,
}

impl DieselTransaction {
    /// The connection, for the data of this partner.
    pub(crate) fn of(&mut self, partner: PartnerId) -> Result<&mut AnyConnection, StoreError> {
        self.owning(Lock::Partner(partner))
    }

    /// The connection, for the data under `lock`.
    pub(crate) fn owning(&mut self, lock: Lock<'_>) -> Result<&mut AnyConnection, StoreError> {
        self.lock(lock)?;
        let partner = match lock {
            Lock::Partner(partner) => Some(partner),
            Lock::Digest(_) | Lock::Sweep | Lock::BankFeed | Lock::RequestLog => None,
        };
        self.statement_on(partner)
    }

    /// Has the data under `lock`, without doing anything with them.
    pub(crate) fn lock(&mut self, lock: Lock<'_>) -> Result<(), StoreError> {
        if self.access() == Access::Write { self.own(lock.key()) } else { Ok(()) }
    }

    /// Locks as many of `partners` as are free. Waits for the first only.
    ///
    /// # Errors
    /// [`StoreError::Rerun`] if there are some, and none is free.
    pub(crate) fn of_some(&mut self, partners: &[PartnerId]) -> Result<HashSet<PartnerId>, StoreError> {
        let mut own = HashSet::new();
        let mut missing = None;
        for partner in partners {
            match self.of(*partner).map(drop) {
                Ok(()) => drop(own.insert(*partner)),
                Err(StoreError::Rerun) if self.locks.missing.is_some() => {
                    missing = missing.or(self.locks.missing.take());
                }
                Err(error) => return Err(error),
            }
        }
        if own.is_empty() && missing.is_some() {
            self.locks.missing = missing;
            return Err(StoreError::Rerun);
        }
        Ok(own)
    }

    fn own(&mut self, key: i64) -> Result<(), StoreError> {
        if self.locks.held.contains(&key) {
            self.run.use_lock(key);
            return Ok(());
        }
        if self.run.is_batched() {
            if self.locks.refused.contains(&key) {
                self.locks.missing = Some(key);
            } else {
                self.locks.want(key);
                self.run.missed = true;
            }
            return Err(StoreError::Rerun);
        }
        if self.locks.held.is_empty() && self.locks.patient {
            self.wait_for(&[key])?;
        } else if dialect::try_lock(self.connection(), key).stored()? {
            self.locks.held.push(key);
        } else {
            self.locks.missing = Some(key);
            return Err(StoreError::Rerun);
        }
        self.run.use_lock(key);
        Ok(())
    }

    /// Waits for locks, in the order of all transactions. To be called before the transaction has any.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if one of them is not to be had in time.
    pub(crate) fn wait_for(&mut self, keys: &[i64]) -> Result<(), StoreError> {
        let mut keys = keys.to_vec();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            if let Err(error) = dialect::wait_for_lock(self.connection(), key).stored() {
                return Err(match self.take_unreported_failure() {
                    Some(StatementFailure::Transient(_) | StatementFailure::Outage(_)) => StoreError::Busy,
                    _ => error,
                });
            }
            self.locks.held.push(key);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn each_has_a_number_of_its_own() {
        let mut digest = [0; 32];
        let mut keys = vec![
            Lock::Sweep.key(),
            Lock::BankFeed.key(),
            Lock::RequestLog.key(),
            Lock::Digest(&digest).key(),
        ];
        for number in 1..100_u8 {
            keys.push(Lock::Partner(Uuid::from_u128(number.into()).into()).key());
            keys.push(Lock::Partner(Uuid::from_u128(u128::from(number) << 64).into()).key());
            digest[usize::from(number) % 8] = number;
            keys.push(Lock::Digest(&digest).key());
        }
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn a_missing_lock_is_taken_once_and_a_savepoint_returns_its_locks() {
        let mut locks = Locks { held: vec![1, 2, 3], missing: Some(4), ..Locks::default() };
        assert_eq!((locks.take_missing(), locks.take_missing()), (Some(4), None));
        locks.give_up(1);
        assert_eq!(locks.held, [1]);
        locks.want(5);
        locks.want(5);
        assert_eq!(locks.wanted, [5]);
    }
}
