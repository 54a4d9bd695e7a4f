//! Failed logins and spent nonces.

use diesel::prelude::*;
use kopeck_port_store::{StoreError, ThrottleRepository};
use time::OffsetDateTime;

use crate::error::{Stored, StoredRows};
use crate::schema::login_failures;
use crate::sql_types::UtcTimestamp;
use crate::statements::{self, binds};
use crate::transaction::DieselTransaction;
use crate::transaction::locks::Lock;

/// Overwrites a nonce that was spent before.
const SPEND: &str = "
    INSERT INTO spent_nonces (api_key_hash, nonce, spent_at) VALUES (?, ?, ?)
    ON CONFLICT (api_key_hash, nonce) DO UPDATE SET spent_at = excluded.spent_at
    WHERE spent_nonces.spent_at <= ?";

impl ThrottleRepository for DieselTransaction {
    fn failures(
        &mut self,
        subject: &[u8; 32],
        since: OffsetDateTime,
        limit: u32,
    ) -> Result<Vec<OffsetDateTime>, StoreError> {
        login_failures::table
            .filter(login_failures::subject.eq(subject))
            .filter(login_failures::failed_at.gt(UtcTimestamp::of(since)))
            .order(login_failures::failed_at.desc())
            .limit(i64::from(limit))
            .select(login_failures::failed_at)
            .load(self.owning(Lock::Digest(subject))?)
            .all(|at: UtcTimestamp| at.time("login_failures.failed_at"))
    }

    fn record_failure(&mut self, subject: &[u8; 32], at: OffsetDateTime) -> Result<(), StoreError> {
        let text = "INSERT INTO login_failures (subject, failed_at) VALUES (?, ?)";
        let values = binds![&subject[..], UtcTimestamp::of(at)];
        statements::execute(self.owning(Lock::Digest(subject))?, text, values).done()
    }

    fn spend_nonce(
        &mut self,
        api_key_hash: &[u8; 32],
        nonce: &str,
        at: OffsetDateTime,
        since: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let values = binds![&api_key_hash[..], nonce, UtcTimestamp::of(at), UtcTimestamp::of(since)];
        let spent = statements::execute(self.owning(Lock::Digest(api_key_hash))?, SPEND, values).stored()?;
        Ok(spent > 0)
    }

    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        let moment = UtcTimestamp::of(moment);
        let old = "login_failures WHERE failed_at < ? ORDER BY failed_at";
        let failures = self.sweep("DELETE FROM login_failures", "id", old, moment, limit)?;
        let old = "spent_nonces WHERE spent_at < ? ORDER BY spent_at";
        let nonces =
            self.sweep("DELETE FROM spent_nonces", "api_key_hash, nonce", old, moment, limit - failures)?;
        Ok(u64::from(failures + nonces))
    }
}
