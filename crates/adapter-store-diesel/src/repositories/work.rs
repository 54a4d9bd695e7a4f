//! Work for the workers.

use diesel::prelude::*;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{Claim, PutBack, StoreError, Subject, WorkRepository};
use time::OffsetDateTime;

use crate::convert::{AsKey, Key, corrupt, id, length, micros, moment, natural};
use crate::dialect;
use crate::error::Stored;
use crate::schema::work;
use crate::unit::Unit;
use crate::update::update;

pub(super) const ORDER: &str = "ORDER";
pub(super) const REPLENISHMENT: &str = "REPLENISHMENT";
pub(super) const LIMIT_CHANGE: &str = "LIMIT_CHANGE";

fn columns(subject: Subject) -> (&'static str, Key) {
    match subject {
        Subject::Order(id) => (ORDER, id.key()),
        Subject::Replenishment(id) => (REPLENISHMENT, id.key()),
        Subject::LimitChange(id) => (LIMIT_CHANGE, id.key()),
    }
}

/// Work as its table has it, before a claim takes it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = work)]
pub(crate) struct WorkRow {
    partner_id: Vec<u8>,
    subject_kind: String,
    subject_id: Vec<u8>,
    attempt: i64,
    failures: i64,
    may_have_sent: bool,
}

impl WorkRow {
    fn subject(&self) -> Result<Subject, StoreError> {
        match self.subject_kind.as_str() {
            ORDER => Ok(Subject::Order(id(&self.subject_id, "work.subject_id")?)),
            REPLENISHMENT => Ok(Subject::Replenishment(id(&self.subject_id, "work.subject_id")?)),
            LIMIT_CHANGE => Ok(Subject::LimitChange(id(&self.subject_id, "work.subject_id")?)),
            _ => Err(corrupt("work.subject_kind")),
        }
    }

    /// The claim that takes it.
    fn claim(&self, leased_until: OffsetDateTime) -> Result<Claim, StoreError> {
        Ok(Claim {
            partner: id(&self.partner_id, "work.partner_id")?,
            subject: self.subject()?,
            attempt: natural(self.attempt + 1, "work.attempt")?,
            may_have_sent: self.may_have_sent,
            failures: natural(self.failures, "work.failures")?,
            leased_until,
        })
    }
}

/// The row of a claim, as long as the claim is current: the latest attempt, and not given back.
macro_rules! current {
    ($claim:expr) => {{
        let (kind, subject) = columns($claim.subject);
        work::table
            .find(($claim.partner.key(), kind, subject))
            .filter(work::attempt.eq(i64::from($claim.attempt)))
            .filter(work::leased_until.is_not_null())
    }};
}

impl WorkRepository for Unit {
    fn enqueue(
        &mut self,
        partner: PartnerId,
        subject: Subject,
        due_at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let (kind, subject) = columns(subject);
        diesel::insert_into(work::table)
            .values((
                work::partner_id.eq(partner.key()),
                work::subject_kind.eq(kind),
                work::subject_id.eq(subject),
                work::due_at.eq(micros(due_at)),
                work::attempt.eq(0_i64),
                work::failures.eq(0_i64),
                work::may_have_sent.eq(false),
            ))
            .execute(self.of(partner)?)
            .stored()
            .map(drop)
    }

    fn claim(
        &mut self,
        now: OffsetDateTime,
        leased_until: OffsetDateTime,
        limit: u32,
    ) -> Result<Vec<Claim>, StoreError> {
        let rows = dialect::due_work(&mut self.connection, micros(now), limit).stored()?;
        for row in &rows {
            update(work::table.find((&row.partner_id, &row.subject_kind, &row.subject_id)))
                .set((
                    work::attempt.eq(row.attempt + 1),
                    work::leased_until.eq(micros(leased_until)),
                    // Whoever claims may send, whatever becomes of them.
                    work::may_have_sent.eq(true),
                ))
                .execute(&mut self.connection)
                .stored()?;
        }
        rows.iter().map(|row| row.claim(leased_until)).collect()
    }

    fn is_current(&mut self, claim: &Claim) -> Result<bool, StoreError> {
        let found: Option<i64> =
            current!(claim).select(work::attempt).get_result(self.of(claim.partner)?).optional().stored()?;
        Ok(found.is_some())
    }

    fn put_back(&mut self, claim: &Claim, terms: PutBack) -> Result<(), StoreError> {
        update(current!(claim))
            .set((
                work::due_at.eq(micros(terms.due_at)),
                work::failures.eq(i64::from(terms.failures)),
                work::may_have_sent.eq(terms.may_have_sent),
                work::leased_until.eq(None::<i64>),
            ))
            .execute(self.of(claim.partner)?)
            .stored()
            .map(drop)
    }

    fn finish(&mut self, claim: &Claim) -> Result<(), StoreError> {
        diesel::delete(current!(claim)).execute(self.of(claim.partner)?).stored().map(drop)
    }

    fn withdraw(&mut self, partner: PartnerId, subject: Subject) -> Result<(), StoreError> {
        let (kind, subject) = columns(subject);
        diesel::delete(work::table.find((partner.key(), kind, subject)))
            .execute(self.of(partner)?)
            .stored()
            .map(drop)
    }

    fn end_all_leases(&mut self) -> Result<(), StoreError> {
        update(work::table.filter(work::leased_until.is_not_null()))
            .set(work::leased_until.eq(None::<i64>))
            .execute(&mut self.connection)
            .stored()
            .map(drop)
    }

    fn next_due(&mut self) -> Result<Option<OffsetDateTime>, StoreError> {
        let due: Option<i64> = work::table
            .filter(work::leased_until.is_null())
            .select(diesel::dsl::min(work::due_at))
            .get_result(&mut self.connection)
            .stored()?;
        let lease_ends: Option<i64> = work::table
            .filter(work::leased_until.is_not_null())
            .select(diesel::dsl::min(work::leased_until))
            .get_result(&mut self.connection)
            .stored()?;
        let next = [due, lease_ends].into_iter().flatten().min();
        next.map(|at| moment(at, "work.due_at")).transpose()
    }

    fn count(&mut self) -> Result<u64, StoreError> {
        let count: i64 = work::table.count().get_result(&mut self.connection).stored()?;
        length(count, "work")
    }
}
