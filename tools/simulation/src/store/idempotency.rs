//! Answers of requests that may be repeated.

use kopeck_domain::ids::{EmployeeId, PartnerId};
use kopeck_port_store::{IdempotencyRepository, RecordedResponse, Rule, StoreError};
use time::OffsetDateTime;

use super::{State, Unit, amount};

#[derive(Clone)]
pub(super) struct AnswerRow {
    partner: PartnerId,
    key: String,
    answer: RecordedResponse,
}

impl State {
    /// Erases the recorded responses that hold personal data of an employee.
    pub(super) fn erase_responses_about(&mut self, partner: PartnerId, employee: EmployeeId) {
        let answers = self.answers.iter_mut().filter(|row| row.partner == partner);
        for row in answers.filter(|row| row.answer.employee == Some(employee)) {
            row.answer.body = None;
        }
    }
}

impl IdempotencyRepository for Unit {
    fn find(&mut self, partner: PartnerId, key: &str) -> Result<Option<RecordedResponse>, StoreError> {
        let found = self.state.answers.iter().find(|row| row.partner == partner && row.key == key);
        Ok(found.map(|row| row.answer.clone()))
    }

    fn record(
        &mut self,
        partner: PartnerId,
        key: &str,
        answer: &RecordedResponse,
        stale_before: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let state = self.writing()?;
        state.known_partner(partner)?;
        match state.answers.iter_mut().find(|row| row.partner == partner && row.key == key) {
            Some(row) if row.answer.recorded_at < stale_before => row.answer = answer.clone(),
            Some(_) => return Err(StoreError::Conflict(Rule::IdempotencyKey)),
            None => state.answers.push(AnswerRow { partner, key: key.to_owned(), answer: answer.clone() }),
        }
        Ok(())
    }

    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        let answers = &mut self.writing()?.answers;
        let old = answers.iter().filter(|row| row.answer.recorded_at < moment);
        let mut moments: Vec<OffsetDateTime> = old.map(|row| row.answer.recorded_at).collect();
        moments.sort_unstable();
        moments.truncate(amount(limit));
        let Some(last) = moments.last().copied() else { return Ok(0) };
        let mut room = moments.len();
        answers.retain(|row| super::sessions::keep(row.answer.recorded_at > last, &mut room));
        Ok(moments.len() as u64)
    }
}
