//! Answers of calls that may be repeated.

use diesel::prelude::*;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{ColumnCipher, IdempotencyRepository, RecordedResponse, Rule, StoreError};
use time::OffsetDateTime;

use crate::convert::{AsKey, corrupt, fixed};
use crate::encryption::RowCipher;
use crate::error::Stored;
use crate::schema::recorded_responses;
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, Bind, OR_NOTHING, binds, row};
use crate::transaction::DieselTransaction;
use crate::transaction::loader::BatchLoad;
use crate::transaction::locks::Lock;
use crate::update::update;

/// An answer as its table has it.
#[derive(Clone, Queryable, QueryableByName, Selectable, AsChangeset)]
#[diesel(table_name = recorded_responses, primary_key(partner_id, key))]
pub(crate) struct AnswerRow {
    partner_id: Id,
    key: String,
    fingerprint: Vec<u8>,
    status: i32,
    body: Vec<u8>,
    recorded_at: UtcTimestamp,
}

/// Encrypts and decrypts columns of the response under this key.
fn row_cipher<'a>(cipher: &'a dyn ColumnCipher, partner: PartnerId, key: &'a str) -> RowCipher<'a> {
    RowCipher { cipher, table: "recorded_responses", partner, row: key.as_bytes() }
}

impl AnswerRow {
    fn new(
        partner: PartnerId,
        key: &str,
        answer: &RecordedResponse,
        cipher: &dyn ColumnCipher,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            partner_id: partner.key(),
            key: key.to_owned(),
            fingerprint: answer.fingerprint.to_vec(),
            status: i32::from(answer.status),
            body: row_cipher(cipher, partner, key).encrypt("body", &answer.body)?,
            recorded_at: UtcTimestamp::of(answer.recorded_at),
        })
    }

    fn answer(self, partner: PartnerId, cipher: &dyn ColumnCipher) -> Result<RecordedResponse, StoreError> {
        Ok(RecordedResponse {
            fingerprint: fixed(self.fingerprint, "recorded_responses.fingerprint")?,
            status: u16::try_from(self.status).map_err(|_| corrupt("recorded_responses.status"))?,
            body: row_cipher(cipher, partner, &self.key).decrypt("body", &self.body)?,
            recorded_at: self.recorded_at.time("recorded_responses.recorded_at")?,
        })
    }
}

/// The answer to a call that may be repeated.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct AnswerTo(String);

impl BatchLoad for AnswerTo {
    type Loaded = Option<AnswerRow>;
    type Row = AnswerRow;

    const SELECT: &'static str = "
        SELECT partner_id, key, fingerprint, status, body, recorded_at FROM recorded_responses
        WHERE partner_id = ? AND key = ?";

    fn values(&self, partner: Id) -> Vec<Bind<'_>> {
        binds![partner, &self.0]
    }

    fn of_rows(rows: Vec<AnswerRow>) -> Result<Option<AnswerRow>, StoreError> {
        Ok(rows.into_iter().next())
    }
}

row!(AnswerRow, recorded_responses: partner_id, key, fingerprint, status, body, recorded_at);

impl IdempotencyRepository for DieselTransaction {
    fn find(&mut self, partner: PartnerId, key: &str) -> Result<Option<RecordedResponse>, StoreError> {
        let found = self.load(partner, AnswerTo(key.to_owned()))?;
        found.map(|row| row.answer(partner, &*self.cipher)).transpose()
    }

    fn record(
        &mut self,
        partner: PartnerId,
        key: &str,
        answer: &RecordedResponse,
        stale_before: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let row = AnswerRow::new(partner, key, answer, &*self.cipher)?;
        let call = AnswerTo(key.to_owned());
        // Where an old one is to be overwritten, there is more to do than to add a row.
        if self.run.is_batched()
            && self.load(partner, call.clone())?.is_none()
            && let Some(pending) = self.pending(partner)?
        {
            pending.add(row.clone());
            self.remember(partner, call, Some(row));
            return Ok(());
        }
        if statements::insert(self.of(partner)?, std::slice::from_ref(&row), OR_NOTHING).stored()? > 0 {
            return Ok(());
        }
        let stale = recorded_responses::table
            .find((partner.key(), key))
            .filter(recorded_responses::recorded_at.lt(UtcTimestamp::of(stale_before)));
        match update(stale).set(row).execute(self.of(partner)?).stored()? {
            0 => Err(StoreError::Conflict(Rule::IdempotencyKey)),
            _ => Ok(()),
        }
    }

    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        let old: Vec<(Id, String)> = recorded_responses::table
            .filter(recorded_responses::recorded_at.lt(UtcTimestamp::of(moment)))
            .order(recorded_responses::recorded_at)
            .limit(i64::from(limit))
            .select((recorded_responses::partner_id, recorded_responses::key))
            .load(self.owning(Lock::Sweep)?)
            .stored()?;
        for (partner, key) in &old {
            diesel::delete(recorded_responses::table.find((partner, key)))
                .execute(self.owning(Lock::Sweep)?)
                .stored()?;
        }
        Ok(old.len() as u64)
    }
}
