//! What the audit log is told of calls. This file alone decides what is told, and of which calls.
//!
//! A call that changes something has its entry in the unit of work that changes it ([`EntryDraft::completed`], used by
//! [`crate::exchange`]). What was refused, repeated or shown is noted and written a moment later. Tokens are given out only
//! after their entry is written.

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
use crate::request_id::RequestId;
use crate::route::{self, Effect, Route};
use crate::state::Shared;

pub(crate) use subject::Subject;

/// What is known of who calls and of the call, as it goes on.
#[derive(Debug, Default, Clone)]
pub(crate) struct AuditContext {
    /// The partner; before the caller has proved to be it, the one whose API key was shown.
    pub(crate) partner: Option<PartnerId>,
    /// Whether the caller has proved to be it.
    pub(crate) is_proved: bool,
    /// The pair of the token that it called with, or was given.
    pub(crate) pair: Option<TokenPairId>,
    /// Of a call that changes something.
    pub(crate) key: Option<KeyDigest>,
    /// Whether anything in the call came sealed.
    pub(crate) sealed: bool,
    /// What it is about.
    pub(crate) subject: Subject,
}

/// An entry about a call that has not come to its end.
#[derive(Debug, Clone)]
pub(crate) struct EntryDraft {
    entry: Entry,
    subject: Subject,
}

impl EntryDraft {
    /// The entry about this call, as far as it is known.
    pub(crate) fn new(
        shared: &Shared,
        route: &Route,
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
            ..Entry::new(shared.parts.wall.now(), address.to_string(), route.name)
        };
        Self { entry, subject: context.subject.clone() }
    }

    /// It was done, and this was answered.
    pub(crate) fn completed(&self, status: u16, body: &[u8]) -> Entry {
        let subject = self.subject.clone().with_response(body).to_string();
        Entry { subject, outcome: Outcome::Done, status: Some(status), ..self.entry.clone() }
    }

    fn with_outcome(self, entry_outcome: EntryOutcome) -> Entry {
        let (subject, EntryOutcome { outcome, status, code }) = (self.subject.to_string(), entry_outcome);
        Entry { subject, outcome, status: Some(status.as_u16()), code: code.map(Into::into), ..self.entry }
    }
}

/// What came of a call, where its entry is not written yet.
struct EntryOutcome {
    outcome: Outcome,
    status: StatusCode,
    code: Option<&'static str>,
}

/// What is to be told of `outcome`, if anything.
fn entry_outcome(route: &Route, outcome: &route::HandlerResult) -> Option<EntryOutcome> {
    match outcome {
        Ok(answer) => {
            let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
            let outcome = match route.effect {
                Effect::Mutate(_) if answer.replayed => Outcome::Repeated,
                // Written with its effect.
                Effect::Mutate(_) => return None,
                Effect::Login | Effect::Refresh => Outcome::Done,
                Effect::Read(_) if route.discloses => Outcome::Done,
                Effect::Read(_) => return None,
            };
            Some(EntryOutcome { outcome, status, code: None })
        }
        Err(error) => {
            let (status, code) = (error.status(), error.code());
            // That a partner called too often is counted, and says nothing about any of its calls.
            let is_looked_at = code != Code::TooManyRequests.as_str();
            let is_told = match route.effect {
                Effect::Login | Effect::Refresh => true,
                Effect::Mutate(_) => is_looked_at,
                Effect::Read(_) => code == ApiError::SEAL_REFUSED || route.discloses && is_looked_at,
            };
            let outcome = if status.is_server_error() { Outcome::Failed } else { Outcome::Refused };
            is_told.then_some(EntryOutcome { outcome, status, code: Some(code) })
        }
    }
}

/// Tells the log of a call that has come to its end, unless it knows.
///
/// # Errors
/// 503 instead of tokens whose entry cannot be written.
pub(crate) async fn record(
    shared: &Arc<Shared>,
    route: &Route,
    outcome: route::HandlerResult,
    draft: impl FnOnce() -> EntryDraft,
) -> route::HandlerResult {
    let Some(entry_outcome) = entry_outcome(route, &outcome) else { return outcome };
    let entry = draft().with_outcome(entry_outcome);
    if outcome.is_err() || !matches!(route.effect, Effect::Login | Effect::Refresh) {
        shared.parts.audit.push(entry);
        return outcome;
    }
    let (sender, receiver) = oneshot::channel();
    shared.parts.audit.write_one(entry, move |written| {
        // The receiver is gone if the caller went away.
        let _ = sender.send(written);
    });
    let lost = || StoreError::Failed("the store dropped the entry of a login".to_owned());
    receiver.await.unwrap_or_else(|_| Err(lost()))?;
    outcome
}
