//! Failed logins and spent nonces.

use std::cmp::Reverse;

use kopeck_port_store::{StoreError, ThrottleRepository};
use time::OffsetDateTime;

use super::sessions::keep;
use super::{Unit, amount};

#[derive(Clone)]
pub(super) struct FailureRow {
    subject: [u8; 32],
    at: OffsetDateTime,
}

#[derive(Clone)]
pub(super) struct NonceRow {
    api_key_hash: [u8; 32],
    nonce: String,
    at: OffsetDateTime,
}

impl ThrottleRepository for Unit {
    fn failures(
        &mut self,
        subject: &[u8; 32],
        since: OffsetDateTime,
        limit: u32,
    ) -> Result<Vec<OffsetDateTime>, StoreError> {
        let failures = self.state.login_failures.iter();
        let mut moments: Vec<OffsetDateTime> =
            failures.filter(|row| row.subject == *subject && row.at > since).map(|row| row.at).collect();
        moments.sort_by_key(|at| Reverse(*at));
        moments.truncate(amount(limit));
        Ok(moments)
    }

    fn record_failure(&mut self, subject: &[u8; 32], at: OffsetDateTime) -> Result<(), StoreError> {
        self.writing()?.login_failures.push(FailureRow { subject: *subject, at });
        Ok(())
    }

    fn spend_nonce(
        &mut self,
        api_key_hash: &[u8; 32],
        nonce: &str,
        at: OffsetDateTime,
        since: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let nonces = &mut self.writing()?.spent_nonces;
        let same = |row: &&mut NonceRow| row.api_key_hash == *api_key_hash && row.nonce == nonce;
        match nonces.iter_mut().find(same) {
            Some(row) if row.at > since => Ok(false),
            Some(row) => {
                row.at = at;
                Ok(true)
            }
            None => {
                nonces.push(NonceRow { api_key_hash: *api_key_hash, nonce: nonce.to_owned(), at });
                Ok(true)
            }
        }
    }

    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        let state = self.writing()?;
        let mut room = amount(limit);
        let before = room;
        state.login_failures.retain(|row| keep(row.at >= moment, &mut room));
        state.spent_nonces.retain(|row| keep(row.at >= moment, &mut room));
        Ok((before - room) as u64)
    }
}
