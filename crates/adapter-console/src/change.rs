//! Changes that are no operations of the API: by use cases, each with its entry in the audit log.

use kopeck_audit::{Actor, Entry, Outcome as AuditOutcome};
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{Access, StoreError, UnitOfWork};
use kopeck_service::idempotency::{self, ExecuteError, Execution, IdempotentRequest, PlaintextResponse};
use serde_json::Value;

use crate::call::Problem;
use crate::texts::{SENT_BEFORE, field_text};
use crate::visit::Visit;

/// Fields of a form that are no values. What is stored of a password is a slow hash alone.
const NO_VALUES: [&str; 3] = ["token", "key", "current"];

impl Visit<'_> {
    /// An entry of a change in the user's name.
    pub(crate) fn entry(&self, action: &'static str, partner: Option<PartnerId>) -> Entry {
        Entry {
            actor: Actor::User(self.session.user.id),
            partner,
            outcome: AuditOutcome::Done,
            ..self.host.audit_entry(action)
        }
    }

    /// Carries out a change with its entry, which `work` may complete. A refusal gets an entry, too.
    ///
    /// # Errors
    /// What `refusal` says of the error of the use case.
    pub(crate) async fn audited<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        entry: Entry,
        mut work: impl FnMut(&mut dyn UnitOfWork, &mut Entry) -> Result<T, E> + Send + 'static,
        refusal: impl FnOnce(&E) -> Problem,
    ) -> Result<T, Problem> {
        let draft = entry.clone();
        let done = self.in_store(Access::Write, move |unit| {
            let mut entry = draft.clone();
            let made = work(unit, &mut entry)?;
            unit.audit().append(&entry)?;
            Ok(made)
        });
        done.await.map_err(|error: E| self.record_refusal(entry, refusal(&error)))
    }

    /// The same once for each form, whose key is one of the partner's: sent again, the form gets what `work` returned the
    /// first time, and changes nothing.
    ///
    /// # Errors
    /// The errors of [`Self::audited`], and that of a form that was sent before with other values.
    pub(crate) async fn once<E: From<StoreError> + Send + 'static>(
        &self,
        partner: PartnerId,
        entry: Entry,
        mut work: impl FnMut(&mut dyn UnitOfWork, &mut Entry) -> Result<Value, E> + Send + 'static,
        refusal: impl FnOnce(&E) -> Problem,
    ) -> Result<Value, Problem> {
        let request = self.keyed(partner)?;
        let (env, draft) = (self.parts.env.clone(), entry.clone());
        let done = self.in_store(Access::Write, move |unit| {
            idempotency::execute(unit, &env, &request, |unit| {
                let mut entry = draft.clone();
                let body = work(unit, &mut entry)?.to_string().into_bytes();
                unit.audit().append(&entry)?;
                Ok::<_, E>(PlaintextResponse { status: 200, body, employee: None })
            })
        });
        match done.await {
            Ok(Execution::First(response) | Execution::Replayed(response)) => self.recorded(&response),
            Err(ExecuteError::UseCase(error)) => Err(self.record_refusal(entry, refusal(&error))),
            Err(ExecuteError::Store(error)) => Err(self.failed(&error)),
            Err(ExecuteError::KeyReused | ExecuteError::NonceSpent | ExecuteError::Erased) => {
                Err(self.sent_before())
            }
        }
    }

    /// The form as a request under its key.
    pub(crate) fn keyed(&self, partner: PartnerId) -> Result<IdempotentRequest, Problem> {
        let fingerprint = self.form.digest(&self.request.path, &NO_VALUES);
        Ok(IdempotentRequest { partner, key: self.key()?.to_owned(), fingerprint, sealed: None })
    }

    /// What a change returned when its form was sent first.
    pub(crate) fn recorded(&self, response: &PlaintextResponse) -> Result<Value, Problem> {
        serde_json::from_slice(&response.body).map_err(|error| self.failed(&error))
    }

    /// The problem of a form that was sent before with other values.
    pub(crate) fn sent_before(&self) -> Problem {
        Problem { status: 422, lines: vec![field_text(self.language, SENT_BEFORE, "")] }
    }

    /// The same problem, with the entry of a refusal.
    pub(crate) fn record_refusal(&self, entry: Entry, problem: Problem) -> Problem {
        let (outcome, status) = (AuditOutcome::Refused, Some(problem.status));
        self.host.record(Entry { outcome, status, ..entry });
        self.has_entry.set(true);
        problem
    }
}
