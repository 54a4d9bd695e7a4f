//! A programme, the steps that its partner takes with it, and the one that its time takes.

use time::{Duration, OffsetDateTime};

use super::period::Period;
use super::schedule::{DuePeriod, Validity};
use super::terms::Terms;
use super::workdays::Workdays;
use crate::access::{Actor, Authority};
use crate::approval::{ApprovalError, Digest, Submission};
use crate::calendar::Zone;
use crate::fields::fields;
use crate::ids::ProgrammeId;
use crate::string_enum::serde_enum;

/// The most programmes of a partner.
pub const MAX_PROGRAMMES: usize = 100;

/// How long before a period is due its partner is told.
pub const NOTICE: Duration = Duration::hours(72);

serde_enum! {
    /// Where a programme stands.
    ProgrammeState {
        /// It, or a change of it, waits for an approval.
        WaitingApproval = "WAITING_APPROVAL",
        /// It makes a run for each period.
        Active = "ACTIVE",
        /// It makes none until it is resumed.
        Paused = "PAUSED",
        /// It makes none any more: there is no further period, or it was not approved.
        Ended = "ENDED",
    }
}

/// Terms that wait for an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The terms.
    pub terms: Terms,
    /// Who gave them.
    pub by: Actor,
    /// When.
    pub at: OffsetDateTime,
}

/// What the partner was told of the next period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notice {
    /// The period.
    pub period: Period,
    /// Whether the balance was looked at on the day itself.
    pub is_of_the_day: bool,
    /// Whether the partner was told on that day that the balance is short.
    pub told_short: bool,
}

/// A rule that makes a run for each period. Only its verbs change it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programme(ProgrammeFields);

fields! {
    /// The fields of a programme.
    ProgrammeFields of Programme {
        /// The service's identifier; later ones are greater.
        id: ProgrammeId,
        /// The terms: those in force, or, of a programme that never was in force, those that wait.
        terms: Terms as &Terms,
        /// Where it stands, but for a change that waits.
        state: ProgrammeState,
        /// What waits for an approval.
        proposal: Option<Proposal> as Option<&Proposal>,
        /// Who made it.
        created_by: Actor as &Actor,
        /// When.
        created_at: OffsetDateTime,
        /// Since when it is in force, without a pause: what was due before is not missed.
        since: OffsetDateTime,
        /// The last period that has a run.
        last: Option<Period>,
        /// What the partner was told of the next one.
        notice: Option<Notice>,
    }
}

/// Why a programme was not approved, refused, paused or resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProgrammeStateError {
    /// It is not in a state for this, or has waited too long.
    #[error("the programme is not in a state for this")]
    State,
    /// The actor may not approve it.
    #[error("needs another actor that may approve")]
    Forbidden,
}

/// What is to be done with a programme at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgrammeStep {
    /// Nothing before this moment; nothing at all if it is `None`.
    Wait(Option<OffsetDateTime>),
    /// What waits for an approval has waited too long.
    Expire,
    /// There is no further period.
    End,
    /// The partner is to be told of the period.
    Notice(DuePeriod),
    /// The period gets its run.
    Pay(DuePeriod),
    /// It is too late for the period: it gets a run that has expired.
    Miss(DuePeriod),
}

impl Programme {
    /// A new programme of `by`. If `needs_approval`, it waits.
    #[must_use]
    pub fn new(id: ProgrammeId, terms: Terms, by: Actor, needs_approval: bool, now: OffsetDateTime) -> Self {
        let proposal = needs_approval.then(|| Proposal { terms: terms.clone(), by: by.clone(), at: now });
        let state = if needs_approval { ProgrammeState::WaitingApproval } else { ProgrammeState::Active };
        Self(ProgrammeFields {
            id,
            terms,
            state,
            proposal,
            created_by: by,
            created_at: now,
            since: now,
            last: None,
            notice: None,
        })
    }

    /// What the partner sees: a change that waits comes before all.
    #[must_use]
    pub fn status(&self) -> ProgrammeState {
        if self.proposal().is_some() { ProgrammeState::WaitingApproval } else { self.state() }
    }

    /// The programme with other terms, by `by`, for the periods that have no run yet. If `needs_approval`, they wait, and the
    /// former ones go on. What has ended begins anew.
    #[must_use]
    pub fn change(self, terms: Terms, by: Actor, needs_approval: bool, now: OffsetDateTime) -> Self {
        if !needs_approval {
            return self.with_terms(terms, now);
        }
        let was_in_force = matches!(self.state(), ProgrammeState::Active | ProgrammeState::Paused);
        let state = if was_in_force { self.state() } else { ProgrammeState::WaitingApproval };
        let proposal = Some(Proposal { terms: terms.clone(), by, at: now });
        let fields = self.0;
        let terms = if was_in_force { fields.terms } else { terms };
        Self(ProgrammeFields { terms, state, proposal, ..fields })
    }

    fn with_terms(self, terms: Terms, now: OffsetDateTime) -> Self {
        let (state, since) = match self.state() {
            ProgrammeState::Active | ProgrammeState::Paused => (self.state(), self.since()),
            ProgrammeState::WaitingApproval | ProgrammeState::Ended => (ProgrammeState::Active, now),
        };
        Self(ProgrammeFields { terms, state, since, proposal: None, notice: None, ..self.0 })
    }

    /// The programme without its runs from now on; pausing twice changes nothing.
    ///
    /// # Errors
    /// [`ProgrammeStateError::State`] unless it is in force.
    pub fn pause(self) -> Result<Self, ProgrammeStateError> {
        match self.state() {
            ProgrammeState::Active | ProgrammeState::Paused => {
                Ok(Self(ProgrammeFields { state: ProgrammeState::Paused, ..self.0 }))
            }
            ProgrammeState::WaitingApproval | ProgrammeState::Ended => Err(ProgrammeStateError::State),
        }
    }

    /// The programme with its runs again; resuming twice changes nothing. What was due meanwhile is not missed.
    ///
    /// # Errors
    /// [`ProgrammeStateError::State`] unless it is in force.
    pub fn resume(self, now: OffsetDateTime) -> Result<Self, ProgrammeStateError> {
        match self.state() {
            ProgrammeState::Active => Ok(self),
            ProgrammeState::Paused => {
                let (state, notice) = (ProgrammeState::Active, None);
                Ok(Self(ProgrammeFields { state, since: now, notice, ..self.0 }))
            }
            ProgrammeState::WaitingApproval | ProgrammeState::Ended => Err(ProgrammeStateError::State),
        }
    }

    /// The programme after `by` approved what waits.
    ///
    /// # Errors
    /// [`ProgrammeStateError`].
    pub fn approve(self, by: &Authority, now: OffsetDateTime) -> Result<Self, ProgrammeStateError> {
        let proposal = self.waiting(by, now)?.clone();
        Ok(self.with_terms(proposal.terms, now))
    }

    /// The programme after `by` refused what waits: the former terms go on; without any, it has ended.
    ///
    /// # Errors
    /// [`ProgrammeStateError`].
    pub fn refuse(self, by: &Authority, now: OffsetDateTime) -> Result<Self, ProgrammeStateError> {
        self.waiting(by, now)?;
        Ok(self.without_proposal())
    }

    /// The programme once an approval has been waited for too long; as it was, if that is not so.
    #[must_use]
    pub fn expire(self, now: OffsetDateTime) -> Self {
        if self.proposal_ends().is_some_and(|end| end <= now) { self.without_proposal() } else { self }
    }

    fn without_proposal(self) -> Self {
        let state = match self.state() {
            ProgrammeState::WaitingApproval => ProgrammeState::Ended,
            state => state,
        };
        Self(ProgrammeFields { state, proposal: None, ..self.0 })
    }

    /// The programme without a further period.
    #[must_use]
    pub fn end(self) -> Self {
        Self(ProgrammeFields { state: ProgrammeState::Ended, ..self.0 })
    }

    /// The programme once `period` has its run.
    #[must_use]
    pub fn paid(self, period: Period) -> Self {
        Self(ProgrammeFields { last: Some(period), notice: None, ..self.0 })
    }

    /// The programme once its partner was told.
    #[must_use]
    pub fn told(self, notice: Notice) -> Self {
        Self(ProgrammeFields { notice: Some(notice), ..self.0 })
    }

    /// What waits, if `by` may decide on it.
    fn waiting(&self, by: &Authority, now: OffsetDateTime) -> Result<&Proposal, ProgrammeStateError> {
        let proposal = self.proposal().ok_or(ProgrammeStateError::State)?;
        // A programme is approved by its name alone.
        let digest = Digest::from_bytes([0; 32]);
        let submission =
            Submission { digest, creator: self.created_by(), submitter: &proposal.by, at: proposal.at };
        submission.approve(by, digest, now).map_err(|error| match error {
            ApprovalError::Forbidden => ProgrammeStateError::Forbidden,
            ApprovalError::Changed | ApprovalError::Expired => ProgrammeStateError::State,
        })?;
        Ok(proposal)
    }

    fn proposal_ends(&self) -> Option<OffsetDateTime> {
        self.proposal().map(|proposal| proposal.at + crate::approval::LIFETIME)
    }

    /// For which periods it pays.
    #[must_use]
    pub fn validity(&self) -> Validity {
        let terms = self.terms().fields();
        Validity { since: self.since(), from: terms.from, until: terms.until }
    }

    /// The next period that gets a run; `None` unless the programme is in force and has one.
    #[must_use]
    pub fn next(&self, workdays: &Workdays, zone: Zone) -> Option<DuePeriod> {
        if self.state() != ProgrammeState::Active {
            return None;
        }
        self.terms().schedule().next(self.validity(), self.last(), workdays, zone)
    }

    /// What is to be done with it at `now`.
    #[must_use]
    pub fn step(&self, workdays: &Workdays, zone: Zone, now: OffsetDateTime) -> ProgrammeStep {
        let ends = self.proposal_ends();
        if ends.is_some_and(|end| end <= now) {
            return ProgrammeStep::Expire;
        }
        if self.state() != ProgrammeState::Active {
            return ProgrammeStep::Wait(ends);
        }
        let Some(due) = self.next(workdays, zone) else { return ProgrammeStep::End };
        if due.at <= now {
            return if due.has_expired(now) { ProgrammeStep::Miss(due) } else { ProgrammeStep::Pay(due) };
        }
        let morning = zone.start_of(zone.day(due.at));
        let look = match self.notice().filter(|notice| notice.period == due.period) {
            None => due.at - NOTICE,
            Some(notice) if !notice.is_of_the_day => morning,
            Some(_) => due.at,
        };
        if look <= now {
            return ProgrammeStep::Notice(due);
        }
        ProgrammeStep::Wait(Some(ends.map_or(look, |end| end.min(look))))
    }
}
