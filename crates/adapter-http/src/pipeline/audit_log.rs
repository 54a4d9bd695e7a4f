//! Records requests in the audit log: this module alone decides which requests have an entry.
//!
//! The entry of a mutation is written in its unit of work ([`EntryDraft::completed`], called by
//! [`crate::handler_context`]). Refusals, replays and disclosures are queued and written a moment later. Tokens are
//! issued only after their entry is written.

use std::sync::Arc;

use actix_web::http::{Method, StatusCode};
use kopeck_api::Code;
use kopeck_audit::Outcome;
use kopeck_port_store::StoreError;
use tokio::sync::oneshot;

use crate::audit::EntryDraft;
use crate::error::ApiError;
use crate::operation::{Effect, Operation};
use crate::response::HandlerResult;
use crate::state::Shared;

/// The outcome of a request without an entry.
struct EntryOutcome {
    outcome: Outcome,
    status: StatusCode,
    code: Option<&'static str>,
}

/// The outcome to record, if any. The response to `HEAD` has no body, so that it discloses nothing.
fn entry_outcome(method: &Method, operation: &Operation, outcome: &HandlerResult) -> Option<EntryOutcome> {
    match outcome {
        Ok(answer) => {
            let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
            let outcome = match operation.effect {
                Effect::Mutate(_) if answer.replayed => Outcome::Repeated,
                // Written with its effect.
                Effect::Mutate(_) => return None,
                Effect::Login | Effect::Refresh => Outcome::Done,
                Effect::Read(_) if operation.discloses && *method != Method::HEAD => Outcome::Done,
                Effect::Read(_) => return None,
            };
            Some(EntryOutcome { outcome, status, code: None })
        }
        Err(error) => {
            let (status, code) = (error.status(), error.code());
            // A metric counts throttled requests; nothing else in them was checked.
            let is_looked_at = code != Code::TooManyRequests.as_str();
            let is_recorded = match operation.effect {
                Effect::Login | Effect::Refresh => true,
                Effect::Mutate(_) => is_looked_at,
                Effect::Read(_) => {
                    let is_probe = [ApiError::SEAL_REFUSED, Code::Forbidden.as_str()].contains(&code);
                    is_probe || operation.discloses && is_looked_at
                }
            };
            let outcome = if status.is_server_error() { Outcome::Failed } else { Outcome::Refused };
            is_recorded.then_some(EntryOutcome { outcome, status, code: Some(code) })
        }
    }
}

/// Records a completed request, unless its entry is written.
///
/// # Errors
/// 503 instead of tokens whose entry cannot be written.
pub(crate) async fn record(
    shared: &Arc<Shared>,
    (method, operation): (&Method, &Operation),
    outcome: HandlerResult,
    draft: impl FnOnce() -> EntryDraft,
) -> HandlerResult {
    let Some(entry_outcome) = entry_outcome(method, operation, &outcome) else { return outcome };
    let EntryOutcome { outcome: audited, status, code } = entry_outcome;
    let entry = draft().with_outcome(audited, status, code);
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
