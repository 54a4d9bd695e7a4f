//! Failed logins and spent nonces.

use diesel::prelude::*;
use kopeck_port_store::{StoreError, ThrottleRepository};
use time::OffsetDateTime;

use crate::dialect;
use crate::error::Stored;
use crate::schema::{login_failures, spent_nonces};
use crate::sql_types::UtcTimestamp;
use crate::transaction::DieselTransaction;
use crate::transaction::locks::Lock;
use crate::update::update;

impl ThrottleRepository for DieselTransaction {
    fn failures(
        &mut self,
        subject: &[u8; 32],
        since: OffsetDateTime,
        limit: u32,
    ) -> Result<Vec<OffsetDateTime>, StoreError> {
        let moments: Vec<UtcTimestamp> = login_failures::table
            .filter(login_failures::subject.eq(subject))
            .filter(login_failures::failed_at.gt(UtcTimestamp::of(since)))
            .order(login_failures::failed_at.desc())
            .limit(i64::from(limit))
            .select(login_failures::failed_at)
            .load(self.owning(Lock::Digest(subject))?)
            .stored()?;
        moments.into_iter().map(|at| at.time("login_failures.failed_at")).collect()
    }

    fn record_failure(&mut self, subject: &[u8; 32], at: OffsetDateTime) -> Result<(), StoreError> {
        diesel::insert_into(login_failures::table)
            .values((login_failures::subject.eq(subject), login_failures::failed_at.eq(UtcTimestamp::of(at))))
            .execute(self.owning(Lock::Digest(subject))?)
            .done()
    }

    fn spend_nonce(
        &mut self,
        api_key_hash: &[u8; 32],
        nonce: &str,
        at: OffsetDateTime,
        since: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        if dialect::insert_nonce(
            self.owning(Lock::Digest(api_key_hash))?,
            api_key_hash,
            nonce,
            UtcTimestamp::of(at),
        )
        .stored()?
        {
            return Ok(true);
        }
        let earlier = spent_nonces::table
            .find((api_key_hash, nonce))
            .filter(spent_nonces::spent_at.le(UtcTimestamp::of(since)));
        let touched = update(earlier)
            .set(spent_nonces::spent_at.eq(UtcTimestamp::of(at)))
            .execute(self.owning(Lock::Digest(api_key_hash))?)
            .stored()?;
        Ok(touched > 0)
    }

    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        let moment = UtcTimestamp::of(moment);
        let failures: Vec<i64> = login_failures::table
            .filter(login_failures::failed_at.lt(moment))
            .order(login_failures::failed_at)
            .limit(i64::from(limit))
            .select(login_failures::id)
            .load(self.owning(Lock::Sweep)?)
            .stored()?;
        for id in &failures {
            diesel::delete(login_failures::table.find(id)).execute(self.owning(Lock::Sweep)?).stored()?;
        }
        let room = i64::from(limit) - i64::try_from(failures.len()).unwrap_or(i64::MAX);
        let nonces: Vec<(Vec<u8>, String)> = spent_nonces::table
            .filter(spent_nonces::spent_at.lt(moment))
            .order(spent_nonces::spent_at)
            .limit(room)
            .select((spent_nonces::api_key_hash, spent_nonces::nonce))
            .load(self.owning(Lock::Sweep)?)
            .stored()?;
        for (api_key_hash, nonce) in &nonces {
            diesel::delete(spent_nonces::table.find((api_key_hash, nonce)))
                .execute(self.owning(Lock::Sweep)?)
                .stored()?;
        }
        Ok((failures.len() + nonces.len()) as u64)
    }
}
