//! The audit log of requests: this module alone decides which requests have an entry, and what it contains.
//!
//! The entry of a mutation is written in its unit of work ([`EntryDraft::completed`], called by
//! [`crate::handler_context`]). Refusals, replays and disclosures are queued and written a moment later. Tokens are
//! issued only after their entry is written.

mod subject;

use std::sync::Arc;

use actix_web::http::StatusCode;
use kopeck_domain::audit::{Actor, Entry, KeyDigest, Outcome};
use kopeck_domain::ids::{PartnerId, TokenPairId};
use kopeck_port_store::StoreError;
use tokio::sync::oneshot;

use crate::client_address::ClientAddress;
use crate::code::Code;
use crate::error::ApiError;
use crate::handler_context::HandlerResult;
use crate::operation::{Effect, Operation};
use crate::request_id::RequestId;
use crate::state::Shared;

pub(crate) use subject::Subject;

/// Data of the caller and the request, collected along the pipeline.
#[derive(Debug, Default, Clone)]
pub(crate) struct AuditContext {
    /// The partner; before authentication, the one with the API key.
    pub(crate) partner: Option<PartnerId>,
    /// Whether the partner is authenticated.
    pub(crate) is_proved: bool,
    /// The token pair that was used or issued.
    pub(crate) pair: Option<TokenPairId>,
    /// Of a mutation.
    pub(crate) key: Option<KeyDigest>,
    /// Whether any value was sealed.
    pub(crate) sealed: bool,
    /// The objects of the request.
    pub(crate) subject: Subject,
}

/// An entry without its outcome.
#[derive(Debug, Clone)]
pub(crate) struct EntryDraft {
    entry: Entry,
    subject: Subject,
}

impl EntryDraft {
    /// The entry of this request so far.
    pub(crate) fn new(
        shared: &Shared,
        operation: &Operation,
        address: ClientAddress,
        request_id: &RequestId,
        context: &AuditContext,
    ) -> Self {
        let actor = if context.is_proved { Actor::Partner(context.pair) } else { Actor::Unknown };
        let entry = Entry {
            actor,
            partner: context.partner,
            request_id: Some(request_id.audited()),
            key: context.key,
            sealed: context.sealed,
            ..Entry::new(shared.parts.wall.now(), address.to_string(), operation.name)
        };
        Self { entry, subject: context.subject.clone() }
    }

    /// The entry of a mutation with its response.
    pub(crate) fn completed(&self, status: u16, body: &[u8]) -> Entry {
        let subject = self.subject.clone().with_response(body).to_string();
        Entry { subject, outcome: Outcome::Done, status: Some(status), ..self.entry.clone() }
    }

    fn with_outcome(self, entry_outcome: EntryOutcome) -> Entry {
        let (subject, EntryOutcome { outcome, status, code }) = (self.subject.to_string(), entry_outcome);
        Entry { subject, outcome, status: Some(status.as_u16()), code: code.map(Into::into), ..self.entry }
    }
}

/// The outcome of a request without an entry.
struct EntryOutcome {
    outcome: Outcome,
    status: StatusCode,
    code: Option<&'static str>,
}

/// The outcome to record, if any.
fn entry_outcome(operation: &Operation, outcome: &HandlerResult) -> Option<EntryOutcome> {
    match outcome {
        Ok(answer) => {
            let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
            let outcome = match operation.effect {
                Effect::Mutate(_) if answer.replayed => Outcome::Repeated,
                // Written with its effect.
                Effect::Mutate(_) => return None,
                Effect::Login | Effect::Refresh => Outcome::Done,
                Effect::Read(_) if operation.discloses => Outcome::Done,
                Effect::Read(_) => return None,
            };
            Some(EntryOutcome { outcome, status, code: None })
        }
        Err(error) => {
            let (status, code) = (error.status(), error.code());
            // A metric counts throttled requests; nothing else in them was checked.
            let is_looked_at = code != Code::TooManyRequests.as_str();
            let is_told = match operation.effect {
                Effect::Login | Effect::Refresh => true,
                Effect::Mutate(_) => is_looked_at,
                Effect::Read(_) => code == ApiError::SEAL_REFUSED || operation.discloses && is_looked_at,
            };
            let outcome = if status.is_server_error() { Outcome::Failed } else { Outcome::Refused };
            is_told.then_some(EntryOutcome { outcome, status, code: Some(code) })
        }
    }
}

/// Records a completed request, unless its entry is written.
///
/// # Errors
/// 503 instead of tokens whose entry cannot be written.
pub(crate) async fn record(
    shared: &Arc<Shared>,
    operation: &Operation,
    outcome: HandlerResult,
    draft: impl FnOnce() -> EntryDraft,
) -> HandlerResult {
    let Some(entry_outcome) = entry_outcome(operation, &outcome) else { return outcome };
    let entry = draft().with_outcome(entry_outcome);
    if outcome.is_err() || !matches!(operation.effect, Effect::Login | Effect::Refresh) {
        shared.parts.audit.push(entry);
        return outcome;
    }
    let (sender, receiver) = oneshot::channel();
    shared.parts.audit.write_one(entry, move |written| {
        // The receiver is gone if the client has disconnected.
        let _ = sender.send(written);
    });
    let lost = || StoreError::Failed("the store dropped the entry of a login".to_owned());
    receiver.await.unwrap_or_else(|_| Err(lost()))?;
    outcome
}
