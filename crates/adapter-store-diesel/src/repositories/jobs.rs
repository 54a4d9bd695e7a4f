//! Work for the workers.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable};
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{
    Backlog, Claim, Horizon, JobClock, JobRepository, Reschedule, StoreError, StuckJob, Subject,
};
use time::Duration;

use crate::connection::{AnyConnection, on_either};
use crate::convert::{AsKey, corrupt, natural};
use crate::dialect::due_jobs::{self, JobRow};
use crate::error::{Stored, StoredRows};
use crate::schema::jobs;
use crate::sql_types::{Id, UtcTimestamp, sql, whole_micros};
use crate::statements::{self, Bind, RawStatement, binds};
use crate::transaction::DieselTransaction;
use crate::transaction::write_buffer::BufferedRow;

pub(super) const ORDER: &str = "ORDER";
pub(super) const REPLENISHMENT: &str = "REPLENISHMENT";
pub(super) const LIMIT_CHANGE: &str = "LIMIT_CHANGE";
pub(super) const CLOSING: &str = "CLOSING";
pub(super) const RUN: &str = "RUN";
pub(super) const WITHDRAWAL: &str = "WITHDRAWAL";

fn columns(subject: Subject) -> (&'static str, Id) {
    match subject {
        Subject::Order(id) => (ORDER, id.key()),
        Subject::Replenishment(id) => (REPLENISHMENT, id.key()),
        Subject::LimitChange(id) => (LIMIT_CHANGE, id.key()),
        Subject::Closing(id) => (CLOSING, id.key()),
        Subject::Withdrawal(id) => (WITHDRAWAL, id.key()),
        Subject::Run(id) => (RUN, id.key()),
    }
}

impl JobRow {
    fn subject(&self) -> Result<Subject, StoreError> {
        match self.subject_kind.as_str() {
            ORDER => Ok(Subject::Order(self.subject_id.to())),
            REPLENISHMENT => Ok(Subject::Replenishment(self.subject_id.to())),
            LIMIT_CHANGE => Ok(Subject::LimitChange(self.subject_id.to())),
            CLOSING => Ok(Subject::Closing(self.subject_id.to())),
            WITHDRAWAL => Ok(Subject::Withdrawal(self.subject_id.to())),
            RUN => Ok(Subject::Run(self.subject_id.to())),
            _ => Err(corrupt("jobs.subject_kind")),
        }
    }

    /// The claim that takes it.
    fn claim(&self) -> Result<Claim, StoreError> {
        Ok(Claim {
            partner: self.partner_id.to(),
            subject: self.subject()?,
            attempt: natural(self.attempt + 1, "jobs.attempt")?,
            may_have_sent: self.may_have_sent,
            failures: natural(self.failures, "jobs.failures")?,
        })
    }
}

/// Counts over the whole table.
#[derive(QueryableByName)]
struct BacklogRow {
    #[diesel(sql_type = BigInt)]
    all_of_it: i64,
    #[diesel(sql_type = BigInt)]
    due: i64,
    #[diesel(sql_type = Nullable<sql::UtcTimestamp>)]
    oldest_due_at: Option<UtcTimestamp>,
    #[diesel(sql_type = BigInt)]
    failing: i64,
    #[diesel(sql_type = BigInt)]
    stuck: i64,
}

/// A job that is not in its table yet.
struct NewJob {
    partner: Id,
    kind: &'static str,
    subject: Id,
    /// Microseconds until it is due, by the database's clock.
    delay: i64,
}

const ENQUEUE: &str = "
    INSERT INTO jobs (partner_id, subject_kind, subject_id, due_at, attempt, failures, may_have_sent)
    VALUES (?, ?, ?, ?, 0, 0, false)";

const INSERT_WORK: &str = "
    INSERT INTO jobs (partner_id, subject_kind, subject_id, due_at, attempt, failures, may_have_sent)
    SELECT n.partner_id, n.subject_kind, n.subject_id,
        clock_timestamp() + interval '1 microsecond' * n.later, 0, 0, false
    FROM unnest(?, ?, ?, ?) AS n (partner_id, subject_kind, subject_id, later)";

impl BufferedRow for NewJob {
    fn insert_many(rows: &[Self], connection: &mut AnyConnection) -> QueryResult<()> {
        let values = |job: &Self| binds![job.partner, job.kind, job.subject, job.delay];
        let columns = statements::columns(rows.iter().map(values));
        RawStatement::new(INSERT_WORK, columns).execute(connection.postgres()?).map(drop)
    }
}

/// Finds the row of a claim, as long as the claim is current: the latest attempt, and not given back.
macro_rules! current {
    ($statement:literal) => {
        concat!(
            $statement,
            " WHERE partner_id = ? AND subject_kind = ? AND subject_id = ? AND attempt = ? \
             AND leased_until IS NOT NULL"
        )
    };
}

/// The values by which [`current!`] finds a claim.
fn claimed(claim: &Claim) -> Vec<Bind<'static>> {
    let (kind, subject) = columns(claim.subject);
    binds![claim.partner.key(), kind, subject, i64::from(claim.attempt)]
}

/// The claiming worker may send them, whatever their outcome.
const LEASE: &str = "UPDATE jobs SET attempt = attempt + 1, leased_until = ?, may_have_sent = true
    WHERE partner_id = ? AND subject_kind = ? AND subject_id = ?";

impl DieselTransaction {
    /// Makes the next attempt of it the current one.
    fn lease(&mut self, row: &JobRow, leased_until: Bind<'_>) -> Result<(), StoreError> {
        let values = binds![leased_until, row.partner_id, &row.subject_kind, row.subject_id];
        statements::execute(self.unlocked()?, LEASE, values).done()
    }

    /// Changes the row of a claim by a statement with these values before those of the claim.
    fn change_claimed(
        &mut self,
        claim: &Claim,
        statement: &str,
        mut values: Vec<Bind<'_>>,
    ) -> Result<(), StoreError> {
        values.extend(claimed(claim));
        statements::execute(self.of(claim.partner)?, statement, values).done()
    }
}

/// The latest that a new job can be due, that a claimed one can be due again, and that a lease can end.
fn latest(now: UtcTimestamp, horizon: Horizon) -> [UtcTimestamp; 3] {
    [horizon.first, horizon.again, horizon.lease].map(|by| now.plus(by))
}

/// By the earlier of the two an index is searched.
const IS_EXCEEDED: &str = "
    SELECT EXISTS (
        SELECT 1 FROM jobs
        WHERE leased_until IS NULL AND due_at > ? AND due_at > CASE WHEN attempt = 0 THEN ? ELSE ? END
    ) OR EXISTS (SELECT 1 FROM jobs WHERE leased_until > ?) AS answer";

/// A lease is taken on what is due, so what had one is due still.
const IS_ANY_DUE: &str = "
    SELECT EXISTS (SELECT 1 FROM jobs WHERE leased_until IS NULL AND due_at <= ?)
        OR EXISTS (SELECT 1 FROM jobs WHERE leased_until <= ?) AS answer";

const MARK_STUCK: &str = concat!(current!("UPDATE jobs SET stuck_since = ?"), " AND stuck_since IS NULL");

const BRING_IDLE_WITHIN: &str = "
    UPDATE jobs SET due_at = CASE WHEN attempt = 0 THEN ? ELSE ? END
    WHERE leased_until IS NULL AND due_at > ? AND due_at > CASE WHEN attempt = 0 THEN ? ELSE ? END";

/// A leased job was due when it was claimed, so it is due again with the end of the lease.
const BRING_LEASED_WITHIN: &str = "
    UPDATE jobs SET leased_until = ?, due_at = CASE WHEN due_at > ? THEN ? ELSE due_at END WHERE leased_until > ?";

/// As above: the end of a lease makes a job due.
const BACKLOG: &str = "
    SELECT COUNT(*) AS all_of_it, COUNT(due) AS due, MIN(due) AS oldest_due_at,
        COUNT(CASE WHEN failures > 0 THEN 1 END) AS failing, COUNT(stuck_since) AS stuck
    FROM (
        SELECT failures, stuck_since, CASE WHEN leased_until IS NULL AND due_at <= ? OR leased_until <= ? THEN due_at END AS due
        FROM jobs
    ) j";

impl JobRepository for DieselTransaction {
    fn enqueue(&mut self, partner: PartnerId, subject: Subject, delay: Duration) -> Result<(), StoreError> {
        let (kind, subject) = columns(subject);
        let (ahead, delay) = (self.ahead(), whole_micros(delay));
        if let Some(pending) = self.pending(partner)? {
            pending.add(NewJob { partner: partner.key(), kind, subject, delay: ahead.saturating_add(delay) });
            return Ok(());
        }
        let due_at = self.work_time_in(delay);
        let values = binds![partner.key(), kind, subject, due_at];
        statements::execute(self.of(partner)?, ENQUEUE, values).done()
    }

    fn claim(&mut self, lease: Duration, limit: u32) -> Result<Vec<Claim>, StoreError> {
        let now = self.work_time()?;
        let leased_until = now.plus(lease);
        let due = due_jobs::due(self.unlocked()?, now, limit).stored()?;
        let partners: Vec<PartnerId> = due.iter().map(|row| row.partner_id.to()).collect();
        let own = self.of_some(&partners)?;
        let due = due.into_iter().zip(partners).filter(|(_, partner)| own.contains(partner));
        let due = due.map(|(row, _)| row).collect();
        let rows = due_jobs::take(self.unlocked()?, now, due).stored()?;
        for row in &rows {
            self.lease(row, leased_until.into())?;
        }
        rows.iter().map(JobRow::claim).collect()
    }

    fn is_current(&mut self, claim: &Claim) -> Result<bool, StoreError> {
        statements::is_any(
            self.of(claim.partner)?,
            current!("SELECT true AS answer FROM jobs"),
            claimed(claim),
        )
        .stored()
    }

    fn reschedule(&mut self, claim: &Claim, terms: Reschedule) -> Result<(), StoreError> {
        let due_at = self.work_time_in(whole_micros(terms.delay));
        let values = binds![due_at, i64::from(terms.failures), terms.may_have_sent];
        let statement =
            current!("UPDATE jobs SET due_at = ?, failures = ?, may_have_sent = ?, leased_until = NULL");
        self.change_claimed(claim, statement, values)
    }

    fn complete(&mut self, claim: &Claim) -> Result<(), StoreError> {
        self.change_claimed(claim, current!("DELETE FROM jobs"), Vec::new())
    }

    fn cancel(&mut self, partner: PartnerId, subject: Subject) -> Result<(), StoreError> {
        let (kind, subject) = columns(subject);
        let text = "DELETE FROM jobs WHERE partner_id = ? AND subject_kind = ? AND subject_id = ?";
        self.change(partner, text, binds![partner.key(), kind, subject])
    }

    fn end_all_leases(&mut self) -> Result<(), StoreError> {
        let statement = "UPDATE jobs SET leased_until = NULL WHERE leased_until IS NOT NULL";
        statements::execute(self.unlocked()?, statement, Vec::new()).done()
    }

    fn mark_stuck(&mut self, claim: &Claim) -> Result<(), StoreError> {
        let now = self.work_time_in(0);
        self.change_claimed(claim, MARK_STUCK, binds![now])
    }

    fn stuck(&mut self) -> Result<Vec<StuckJob>, StoreError> {
        jobs::table
            .filter(jobs::stuck_since.is_not_null())
            .order(jobs::stuck_since)
            .select((JobRow::as_select(), jobs::stuck_since.assume_not_null()))
            .load(self.unlocked()?)
            .all(|(row, since): (JobRow, UtcTimestamp)| {
                Ok(StuckJob {
                    partner: row.partner_id.to(),
                    subject: row.subject()?,
                    since: since.time("jobs.stuck_since")?,
                })
            })
    }

    fn force_claim(
        &mut self,
        partner: PartnerId,
        subject: Subject,
        lease: Duration,
    ) -> Result<Option<Claim>, StoreError> {
        let (kind, subject) = columns(subject);
        let row: Option<JobRow> = jobs::table
            .find((partner.key(), kind, subject))
            .select(JobRow::as_select())
            .get_result(self.of(partner)?)
            .optional()
            .stored()?;
        let Some(row) = row else { return Ok(None) };
        let leased_until = self.work_time_in(whole_micros(lease));
        self.lease(&row, leased_until)?;
        row.claim().map(Some)
    }

    fn is_any_due(&mut self) -> Result<bool, StoreError> {
        let [now, still_now] = [0; 2].map(|delay| self.work_time_in(delay));
        statements::is_any(self.unlocked()?, IS_ANY_DUE, binds![now, still_now]).stored()
    }

    fn clock(&mut self, horizon: Horizon) -> Result<JobClock, StoreError> {
        let now = self.work_time()?;
        let [first, again, lease] = latest(now, horizon);
        let values = binds![first.min(again), first, again, lease];
        let is_exceeded = statements::is_any(self.unlocked()?, IS_EXCEEDED, values).stored()?;
        Ok(JobClock { now: now.time("the database's clock")?, is_exceeded })
    }

    fn bring_within(&mut self, horizon: Horizon) -> Result<u64, StoreError> {
        let now = self.work_time()?;
        let [first, again, lease] = latest(now, horizon);
        let idle = binds![first, again, first.min(again), first, again];
        let leased = binds![lease, now, now, lease];
        let mut moved = 0;
        // One statement an index.
        for (statement, values) in [(BRING_IDLE_WITHIN, idle), (BRING_LEASED_WITHIN, leased)] {
            moved += statements::execute(self.unlocked()?, statement, values).stored()? as u64;
        }
        Ok(moved)
    }

    fn count(&mut self) -> Result<u64, StoreError> {
        let count: i64 = jobs::table.count().get_result(self.unlocked()?).stored()?;
        natural(count, "jobs")
    }

    fn count_of(&mut self, partner: PartnerId) -> Result<u64, StoreError> {
        let of_partner = jobs::table.filter(jobs::partner_id.eq(partner.key()));
        let count: i64 = of_partner.count().get_result(self.of(partner)?).stored()?;
        natural(count, "jobs")
    }

    fn backlog(&mut self) -> Result<Backlog, StoreError> {
        let now = self.work_time()?;
        let question = RawStatement::new(BACKLOG, binds![now, now]);
        let counts: BacklogRow =
            on_either!(self.unlocked()?, inner => question.get_result(inner)).stored()?;
        let BacklogRow { all_of_it, due, oldest_due_at, failing, stuck } = counts;
        let count = |count| natural(count, "jobs");
        Ok(Backlog {
            all: count(all_of_it)?,
            due: count(due)?,
            oldest_due: Duration::microseconds(oldest_due_at.map_or(0, |at| now.0.saturating_sub(at.0))),
            failing: count(failing)?,
            stuck: count(stuck)?,
        })
    }
}
