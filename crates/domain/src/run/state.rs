//! The states of a run, and the steps between them.

use time::OffsetDateTime;

use super::status::RunState;
use super::{DRAFT_LIFETIME, Run, RunFields, RunProgramme, RunTotals, Submitted};
use crate::Kopecks;
use crate::access::{Actor, Authority, Scope};
use crate::approval::{self, ApprovalError, Digest, Submission};
use crate::request::{TransitionError, moved};

/// Why a run was not submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// The actor lacks the scope of what it becomes.
    #[error("needs the scope {0}")]
    Forbidden(Scope),
    /// The digest names another run, or it was rejected or has expired.
    #[error("the run is not what was shown, or it is rejected or expired")]
    Changed,
    /// It has faulty items, which are not to be skipped.
    #[error("the run has faulty items")]
    Faulty,
}

/// Why a run was not approved or refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ApproveRunError {
    /// The actor may not approve it.
    #[error("needs another actor that may approve")]
    Forbidden,
    /// The digest names another run, or it does not wait for an approval.
    #[error("the run is not what was shown, or it does not wait for an approval")]
    Changed,
}

/// A run that cannot be cancelled any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a run in {0} cannot be cancelled")]
pub struct CancelRunError(pub RunState);

impl From<ApprovalError> for ApproveRunError {
    fn from(error: ApprovalError) -> Self {
        match error {
            ApprovalError::Forbidden => Self::Forbidden,
            ApprovalError::Changed | ApprovalError::Expired => Self::Changed,
        }
    }
}

impl Run {
    /// The run after `by` submitted it by naming `digest`. What moves more than `approval_above` waits for an approval.
    /// Submitting again what was submitted changes nothing.
    ///
    /// # Errors
    /// [`SubmitError`], the first that applies in the order of its variants.
    pub fn submit(
        self,
        by: &Authority,
        digest: Digest,
        skip_faulty: bool,
        approval_above: Kopecks,
        now: OffsetDateTime,
    ) -> Result<Self, SubmitError> {
        by.require(self.kind().scope()).map_err(|lacking| SubmitError::Forbidden(lacking.0))?;
        let is_over = self.is_expired(now) || matches!(self.state(), RunState::Rejected | RunState::Expired);
        if digest != self.digest() || is_over {
            return Err(SubmitError::Changed);
        }
        if self.state() != RunState::Draft {
            return Ok(self);
        }
        if self.totals().faulty > 0 && !skip_faulty {
            return Err(SubmitError::Faulty);
        }
        let submitted = Some(Submitted { by: by.actor.clone(), at: now });
        let run = Self(RunFields { submitted, ..self.0 });
        if approval::is_needed(run.totals().amount, approval_above) {
            return Ok(run.in_state(RunState::WaitingApproval, now));
        }
        Ok(run.released(now))
    }

    /// The run after `by` approved it by naming `digest`.
    ///
    /// # Errors
    /// [`ApproveRunError`], the first that applies in the order of its variants.
    pub fn approve(
        self,
        by: &Authority,
        digest: Digest,
        now: OffsetDateTime,
    ) -> Result<Self, ApproveRunError> {
        self.submission(by)?.approve(by, digest, now)?;
        let approved_by = Some(by.actor.clone());
        Ok(Self(RunFields { approved_by, ..self.0 }).released(now))
    }

    /// The run after `by` refused to approve it, for this reason.
    ///
    /// # Errors
    /// [`ApproveRunError`].
    pub fn refuse(
        self,
        by: &Authority,
        reason: Option<String>,
        now: OffsetDateTime,
    ) -> Result<Self, ApproveRunError> {
        if self.submission(by)?.is_expired(now) {
            return Err(ApproveRunError::Changed);
        }
        Ok(Self(RunFields { refusal: reason, ..self.0 }).in_state(RunState::Rejected, now))
    }

    /// The run after its partner cancelled it; cancelling twice changes nothing.
    ///
    /// # Errors
    /// [`CancelRunError`] once it has begun or expired.
    pub fn cancel(self, now: OffsetDateTime) -> Result<Self, CancelRunError> {
        match self.state() {
            state if state.is_waiting() => Ok(self.in_state(RunState::Rejected, now)),
            RunState::Rejected => Ok(self),
            state => Err(CancelRunError(state)),
        }
    }

    /// The run once its time has come.
    ///
    /// # Errors
    /// [`TransitionError`] unless it is scheduled.
    pub fn start(self, now: OffsetDateTime) -> Result<Self, TransitionError<RunState>> {
        let since = (self.state(), self.state_since());
        moved(since, "start", &[RunState::Scheduled], RunState::InProcess, now)?;
        Ok(self.in_state(RunState::InProcess, now))
    }

    /// The run once its waiting is over; as it was if it is not.
    #[must_use]
    pub fn expire(self, now: OffsetDateTime) -> Self {
        if self.is_expired(now) { self.in_state(RunState::Expired, now) } else { self }
    }

    /// The new run of a programme that is not carried out, since its reference names another run.
    ///
    /// # Errors
    /// [`TransitionError`] unless it is being carried out.
    pub fn reject(self, reason: String, now: OffsetDateTime) -> Result<Self, TransitionError<RunState>> {
        self.stop("reject", RunState::Rejected, Some(reason), now)
    }

    /// The new run of a programme that comes too late to be carried out.
    ///
    /// # Errors
    /// [`TransitionError`] unless it is being carried out.
    pub fn miss(self, now: OffsetDateTime) -> Result<Self, TransitionError<RunState>> {
        self.stop("miss", RunState::Expired, None, now)
    }

    fn stop(
        self,
        verb: &'static str,
        end: RunState,
        refusal: Option<String>,
        now: OffsetDateTime,
    ) -> Result<Self, TransitionError<RunState>> {
        moved((self.state(), self.state_since()), verb, &[RunState::InProcess], end, now)?;
        Ok(Self(RunFields { refusal, ..self.in_state(end, now).0 }))
    }

    /// The run of a programme with the moment at which it is tried again, or without another try.
    #[must_use]
    pub fn with_retry(self, retry_at: Option<OffsetDateTime>) -> Self {
        let fields = self.0;
        let programme = fields.programme.map(|programme| RunProgramme { retry_at, ..programme });
        Self(RunFields { programme, ..fields })
    }

    /// The run of a programme as it is tried again, with items that come to `totals`.
    ///
    /// # Errors
    /// [`TransitionError`] unless nothing of it was carried out.
    pub fn retry(
        self,
        totals: RunTotals,
        digest: Digest,
        now: OffsetDateTime,
    ) -> Result<Self, TransitionError<RunState>> {
        let since = (self.state(), self.state_since());
        moved(since, "retry", &[RunState::Decline], RunState::InProcess, now)?;
        let run = self.with_retry(None).in_state(RunState::InProcess, now);
        Ok(Self(RunFields { totals, digest, ..run.0 }))
    }

    /// The run after `done` items were carried out, and `missed` without a fault were not.
    ///
    /// # Errors
    /// [`TransitionError`] unless it is being carried out.
    pub fn conclude(
        self,
        done: u32,
        missed: u32,
        now: OffsetDateTime,
    ) -> Result<Self, TransitionError<RunState>> {
        let end = match (done, missed) {
            // A programme had nobody to pay.
            (0, 0) if self.totals().number == 0 => RunState::Success,
            (0, _) => RunState::Decline,
            (_, 0) => RunState::Success,
            _ => RunState::PartSuccess,
        };
        moved((self.state(), self.state_since()), "conclude", &[RunState::InProcess], end, now)?;
        Ok(self.in_state(end, now))
    }

    /// Whether it waits for a submission or an approval, and has waited too long.
    #[must_use]
    pub fn is_expired(&self, now: OffsetDateTime) -> bool {
        match self.state() {
            RunState::Draft => now - self.created_at() >= DRAFT_LIFETIME,
            RunState::WaitingApproval => {
                self.submitted().is_some_and(|submitted| now - submitted.at >= approval::LIFETIME)
            }
            _ => false,
        }
    }

    /// What `by` is to approve.
    fn submission(&self, by: &Authority) -> Result<Submission<'_>, ApproveRunError> {
        let created_by: &Actor = self.created_by();
        let submitter = self.submitted().map_or(created_by, |submitted| &submitted.by);
        let at = self.submitted().map_or(self.created_at(), |submitted| submitted.at);
        let submission = Submission { digest: self.digest(), creator: created_by, submitter, at };
        submission.permits(by)?;
        if self.state() == RunState::WaitingApproval { Ok(submission) } else { Err(ApproveRunError::Changed) }
    }

    /// Ready to be carried out, at once or later.
    fn released(self, now: OffsetDateTime) -> Self {
        let is_later = self.at().is_some_and(|at| at > now);
        self.in_state(if is_later { RunState::Scheduled } else { RunState::InProcess }, now)
    }

    fn in_state(self, state: RunState, now: OffsetDateTime) -> Self {
        Self(RunFields { state, state_since: now, ..self.0 })
    }
}

#[cfg(test)]
mod tests;
