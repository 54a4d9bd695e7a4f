//! Work for the workers.

use std::collections::HashMap;

use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{
    Backlog, Claim, Horizon, JobClock, JobRepository, Reschedule, StoreError, StuckJob, Subject,
};
use time::{Duration, OffsetDateTime};

use super::{State, Unit, amount};

#[derive(Clone)]
pub(super) struct JobRow {
    partner: PartnerId,
    subject: Subject,
    due_at: OffsetDateTime,
    attempt: u32,
    failures: u32,
    may_have_sent: bool,
    leased_until: Option<OffsetDateTime>,
    stuck_since: Option<OffsetDateTime>,
}

impl JobRow {
    /// Whether a claim at `now` finds it.
    fn is_due(&self, now: OffsetDateTime) -> bool {
        self.due_at <= now && self.leased_until.is_none_or(|until| until <= now)
    }

    /// Makes the next attempt of it the current one.
    fn lease(&mut self, until: OffsetDateTime) -> Claim {
        let claim = Claim {
            partner: self.partner,
            subject: self.subject,
            attempt: self.attempt + 1,
            may_have_sent: self.may_have_sent,
            failures: self.failures,
        };
        self.attempt = claim.attempt;
        self.leased_until = Some(until);
        // A claim may lead to a submission, even if its worker crashes.
        self.may_have_sent = true;
        claim
    }

    /// The row within the horizon, if it lies beyond.
    fn brought_within(&self, horizon: Horizon, now: OffsetDateTime) -> Option<Self> {
        match self.leased_until {
            Some(until) => (until > now + horizon.lease).then(|| Self {
                leased_until: Some(now + horizon.lease),
                due_at: self.due_at.min(now),
                ..self.clone()
            }),
            None => {
                let latest = now + if self.attempt == 0 { horizon.first } else { horizon.again };
                (self.due_at > latest).then(|| Self { due_at: latest, ..self.clone() })
            }
        }
    }

    /// Whether `claim` is its latest attempt, and not given back.
    fn is_of(&self, claim: &Claim) -> bool {
        self.partner == claim.partner
            && self.subject == claim.subject
            && self.attempt == claim.attempt
            && self.leased_until.is_some()
    }
}

impl State {
    pub(super) fn has_work(&self, partner: PartnerId, subject: Subject) -> bool {
        self.jobs.iter().any(|row| row.partner == partner && row.subject == subject)
    }
}

impl JobRepository for Unit {
    fn enqueue(&mut self, partner: PartnerId, subject: Subject, delay: Duration) -> Result<(), StoreError> {
        let due_at = self.clock.now() + delay;
        let state = self.writing()?;
        state.known_partner(partner)?;
        if state.has_work(partner, subject) {
            return Err(StoreError::Failed("work was to be added twice".to_owned()));
        }
        state.jobs.push(JobRow {
            partner,
            subject,
            due_at,
            attempt: 0,
            failures: 0,
            may_have_sent: false,
            leased_until: None,
            stuck_since: None,
        });
        Ok(())
    }

    fn claim(&mut self, lease: Duration, limit: u32) -> Result<Vec<Claim>, StoreError> {
        let now = self.clock.now();
        let mut due: Vec<&mut JobRow> =
            self.writing()?.jobs.iter_mut().filter(|row| row.is_due(now)).collect();
        due.sort_by_key(|row| row.due_at);
        // How many of a partner's came before: its turn.
        let mut turns: HashMap<PartnerId, usize> = HashMap::new();
        let mut in_turn: Vec<(usize, &mut JobRow)> = Vec::with_capacity(due.len());
        for row in due {
            let turn = turns.entry(row.partner).or_default();
            in_turn.push((*turn, row));
            *turn += 1;
        }
        in_turn.sort_by_key(|(turn, row)| (*turn, row.due_at));
        let taken = in_turn.into_iter().take(amount(limit));
        Ok(taken.map(|(_, row)| row.lease(now + lease)).collect())
    }

    fn is_current(&mut self, claim: &Claim) -> Result<bool, StoreError> {
        Ok(self.state.jobs.iter().any(|row| row.is_of(claim)))
    }

    fn reschedule(&mut self, claim: &Claim, terms: Reschedule) -> Result<(), StoreError> {
        let due_at = self.clock.now() + terms.delay;
        for row in self.writing()?.jobs.iter_mut().filter(|row| row.is_of(claim)) {
            row.due_at = due_at;
            row.failures = terms.failures;
            row.may_have_sent = terms.may_have_sent;
            row.leased_until = None;
        }
        Ok(())
    }

    fn complete(&mut self, claim: &Claim) -> Result<(), StoreError> {
        self.writing()?.jobs.retain(|row| !row.is_of(claim));
        Ok(())
    }

    fn cancel(&mut self, partner: PartnerId, subject: Subject) -> Result<(), StoreError> {
        self.writing()?.jobs.retain(|row| row.partner != partner || row.subject != subject);
        Ok(())
    }

    fn end_all_leases(&mut self) -> Result<(), StoreError> {
        for row in self.writing()?.jobs.iter_mut() {
            row.leased_until = None;
        }
        Ok(())
    }

    fn mark_stuck(&mut self, claim: &Claim) -> Result<(), StoreError> {
        let now = self.clock.now();
        for row in self.writing()?.jobs.iter_mut().filter(|row| row.is_of(claim)) {
            row.stuck_since.get_or_insert(now);
        }
        Ok(())
    }

    fn stuck(&mut self) -> Result<Vec<StuckJob>, StoreError> {
        let stuck = |row: &JobRow| {
            let JobRow { partner, subject, .. } = *row;
            row.stuck_since.map(|since| StuckJob { partner, subject, since })
        };
        let mut all: Vec<StuckJob> = self.state.jobs.iter().filter_map(stuck).collect();
        all.sort_by_key(|work| work.since);
        Ok(all)
    }

    fn force_claim(
        &mut self,
        partner: PartnerId,
        subject: Subject,
        lease: Duration,
    ) -> Result<Option<Claim>, StoreError> {
        let until = self.clock.now() + lease;
        let mut rows = self.writing()?.jobs.iter_mut();
        let row = rows.find(|row| row.partner == partner && row.subject == subject);
        Ok(row.map(|row| row.lease(until)))
    }

    fn is_any_due(&mut self) -> Result<bool, StoreError> {
        let now = self.clock.now();
        Ok(self.state.jobs.iter().any(|row| row.is_due(now)))
    }

    fn clock(&mut self, horizon: Horizon) -> Result<JobClock, StoreError> {
        let now = self.clock.now();
        let is_exceeded = self.state.jobs.iter().any(|row| row.brought_within(horizon, now).is_some());
        Ok(JobClock { now, is_exceeded })
    }

    fn bring_within(&mut self, horizon: Horizon) -> Result<u64, StoreError> {
        let now = self.clock.now();
        let mut moved = 0;
        for row in self.writing()?.jobs.iter_mut() {
            if let Some(brought) = row.brought_within(horizon, now) {
                *row = brought;
                moved += 1;
            }
        }
        Ok(moved)
    }

    fn count(&mut self) -> Result<u64, StoreError> {
        Ok(self.state.jobs.len() as u64)
    }

    fn count_of(&mut self, partner: PartnerId) -> Result<u64, StoreError> {
        Ok(self.state.jobs.iter().filter(|row| row.partner == partner).count() as u64)
    }

    fn backlog(&mut self) -> Result<Backlog, StoreError> {
        let now = self.clock.now();
        let count = |wanted: &dyn Fn(&JobRow) -> bool| {
            self.state.jobs.iter().filter(|row| wanted(row)).count() as u64
        };
        let due = self.state.jobs.iter().filter(|row| row.is_due(now));
        Ok(Backlog {
            all: count(&|_| true),
            due: count(&|row| row.is_due(now)),
            oldest_due: due.map(|row| now - row.due_at).max().unwrap_or_default(),
            failing: count(&|row| row.failures > 0),
            stuck: count(&|row| row.stuck_since.is_some()),
        })
    }
}
