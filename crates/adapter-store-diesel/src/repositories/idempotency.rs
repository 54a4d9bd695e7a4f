//! Answers of calls that may be repeated.

use diesel::prelude::*;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{IdempotencyRepository, RecordedAnswer, Rule, StoreError};
use time::OffsetDateTime;

use crate::convert::{AsKey, corrupt, fixed, micros, moment};
use crate::dialect;
use crate::error::Stored;
use crate::locks::Lock;
use crate::schema::recorded_answers;
use crate::unit::Unit;
use crate::update::update;

/// An answer as its table has it.
#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = recorded_answers, primary_key(partner_id, key), treat_none_as_default_value = false)]
pub(crate) struct AnswerRow {
    partner_id: Vec<u8>,
    key: String,
    fingerprint: Vec<u8>,
    status: i32,
    body: Vec<u8>,
    recorded_at: i64,
}

impl AnswerRow {
    fn new(partner: PartnerId, key: &str, answer: &RecordedAnswer) -> Self {
        Self {
            partner_id: partner.key().to_vec(),
            key: key.to_owned(),
            fingerprint: answer.fingerprint.to_vec(),
            status: i32::from(answer.status),
            body: answer.body.clone(),
            recorded_at: micros(answer.recorded_at),
        }
    }

    fn answer(self) -> Result<RecordedAnswer, StoreError> {
        Ok(RecordedAnswer {
            fingerprint: fixed(self.fingerprint, "recorded_answers.fingerprint")?,
            status: u16::try_from(self.status).map_err(|_| corrupt("recorded_answers.status"))?,
            body: self.body,
            recorded_at: moment(self.recorded_at, "recorded_answers.recorded_at")?,
        })
    }
}

impl IdempotencyRepository for Unit {
    fn find(&mut self, partner: PartnerId, key: &str) -> Result<Option<RecordedAnswer>, StoreError> {
        recorded_answers::table
            .find((partner.key(), key))
            .select(AnswerRow::as_select())
            .get_result(self.of(partner)?)
            .optional()
            .stored()?
            .map(AnswerRow::answer)
            .transpose()
    }

    fn record(
        &mut self,
        partner: PartnerId,
        key: &str,
        answer: &RecordedAnswer,
        stale_before: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let row = AnswerRow::new(partner, key, answer);
        if dialect::insert_answer(self.of(partner)?, &row).stored()? {
            return Ok(());
        }
        let stale = recorded_answers::table
            .find((partner.key(), key))
            .filter(recorded_answers::recorded_at.lt(micros(stale_before)));
        match update(stale).set(row).execute(self.of(partner)?).stored()? {
            0 => Err(StoreError::Conflict(Rule::IdempotencyKey)),
            _ => Ok(()),
        }
    }

    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        let old: Vec<(Vec<u8>, String)> = recorded_answers::table
            .filter(recorded_answers::recorded_at.lt(micros(moment)))
            .order(recorded_answers::recorded_at)
            .limit(i64::from(limit))
            .select((recorded_answers::partner_id, recorded_answers::key))
            .load(self.owning(Lock::Sweep)?)
            .stored()?;
        for (partner, key) in &old {
            diesel::delete(recorded_answers::table.find((partner, key)))
                .execute(self.owning(Lock::Sweep)?)
                .stored()?;
        }
        Ok(old.len() as u64)
    }
}
