//! Recorded responses of idempotent requests.

use diesel::prelude::*;
use kopeck_domain::ids::{EmployeeId, PartnerId};
use kopeck_port_store::{ColumnCipher, IdempotencyRepository, RecordedResponse, Rule, StoreError};
use time::OffsetDateTime;

use crate::convert::{AsKey, corrupt, fixed};
use crate::encryption::RowCipher;
use crate::error::Stored;
use crate::schema::recorded_responses;
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, Bind, InsertRow, binds, row};
use crate::transaction::DieselTransaction;
use crate::transaction::loader::BatchLoad;

/// A row of recorded responses.
#[derive(Clone, Queryable, QueryableByName, Selectable, AsChangeset)]
#[diesel(table_name = recorded_responses, primary_key(partner_id, key))]
pub(crate) struct AnswerRow {
    partner_id: Id,
    key: String,
    fingerprint: Vec<u8>,
    status: i32,
    body: Vec<u8>,
    recorded_at: UtcTimestamp,
    employee_id: Option<Id>,
}

/// The column of a body that was erased. An encrypted one is never empty.
const ERASED: &[u8] = &[];

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
            body: match &answer.body {
                Some(body) => row_cipher(cipher, partner, key).encrypt("body", body)?,
                None => ERASED.to_vec(),
            },
            recorded_at: UtcTimestamp::of(answer.recorded_at),
            employee_id: answer.employee.map(|employee| employee.key()),
        })
    }

    fn answer(self, partner: PartnerId, cipher: &dyn ColumnCipher) -> Result<RecordedResponse, StoreError> {
        Ok(RecordedResponse {
            fingerprint: fixed(self.fingerprint, "recorded_responses.fingerprint")?,
            status: u16::try_from(self.status).map_err(|_| corrupt("recorded_responses.status"))?,
            body: match &*self.body {
                ERASED => None,
                body => Some(row_cipher(cipher, partner, &self.key).decrypt("body", body)?),
            },
            recorded_at: self.recorded_at.time("recorded_responses.recorded_at")?,
            employee: self.employee_id.map(Id::to),
        })
    }
}

/// Loads the recorded response of an idempotency key.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct AnswerTo(String);

impl BatchLoad for AnswerTo {
    type Loaded = Option<AnswerRow>;
    type Row = AnswerRow;

    const SELECT: &'static str = "
        SELECT partner_id, key, fingerprint, status, body, recorded_at, employee_id FROM recorded_responses
        WHERE partner_id = ? AND key = ?";

    fn values(&self, partner: Id) -> Vec<Bind<'_>> {
        binds![partner, &self.0]
    }

    fn of_rows(rows: Vec<AnswerRow>) -> Result<Option<AnswerRow>, StoreError> {
        Ok(rows.into_iter().next())
    }
}

/// Overwrites an older response.
const RECORD: &str = "
    INSERT INTO recorded_responses (partner_id, key, fingerprint, status, body, recorded_at, employee_id)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (key, partner_id) DO UPDATE
    SET fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body,
        recorded_at = excluded.recorded_at, employee_id = excluded.employee_id
    WHERE recorded_responses.recorded_at < ?";

row!(AnswerRow, recorded_responses: partner_id, key, fingerprint, status, body, recorded_at, employee_id);

impl DieselTransaction {
    /// Erases the recorded responses that hold personal data of an employee. Their keys stay spent.
    pub(super) fn erase_responses_about(
        &mut self,
        partner: PartnerId,
        employee: EmployeeId,
    ) -> Result<(), StoreError> {
        let text = "UPDATE recorded_responses SET body = ? WHERE partner_id = ? AND employee_id = ?";
        let values = binds![ERASED, partner.key(), employee.key()];
        self.change(partner, text, values)
    }
}

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
        let mut values = row.values();
        values.push(UtcTimestamp::of(stale_before).into());
        match statements::execute(self.of(partner)?, RECORD, values).stored()? {
            0 => Err(StoreError::Conflict(Rule::IdempotencyKey)),
            _ => Ok(()),
        }
    }

    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        let old = "recorded_responses WHERE recorded_at < ? ORDER BY recorded_at";
        let moment = UtcTimestamp::of(moment);
        self.sweep("DELETE FROM recorded_responses", "key, partner_id", old, moment, limit).map(u64::from)
    }
}
