//! The audit entry of a request: what it contains. [`crate::pipeline`] decides which requests have one.

mod subject;

use actix_web::http::StatusCode;
use kopeck_audit::{Actor, Entry, KeyDigest, Outcome};
use kopeck_domain::access;
use kopeck_domain::ids::{PartnerId, TokenPairId};
use time::OffsetDateTime;

use crate::client_address::ClientAddress;
use crate::request_id::RequestId;

pub(crate) use subject::Subject;

/// Data of the caller and the request, collected along the pipeline.
#[derive(Debug, Default, Clone)]
pub(crate) struct AuditContext {
    /// The partner; before authentication, the one with the API key.
    pub(crate) partner: Option<PartnerId>,
    /// Who acts, once authenticated.
    pub(crate) actor: Option<access::Actor>,
    /// The token pair that was used or issued.
    pub(crate) pair: Option<TokenPairId>,
    /// The idempotency key of a mutation.
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
        now: OffsetDateTime,
        operation: &'static str,
        address: ClientAddress,
        request_id: &RequestId,
        context: &AuditContext,
    ) -> Self {
        let actor = context.actor.as_ref();
        let actor = actor.map_or(Actor::Unknown, |actor| Actor::of(actor, context.pair));
        let entry = Entry {
            request_id: Some(request_id.audited()),
            key: context.key,
            sealed: context.sealed,
            ..Entry::new(now, address.to_string(), operation).by(actor, context.partner)
        };
        Self { entry, subject: context.subject.clone() }
    }

    /// The entry of a mutation with its response.
    pub(crate) fn completed(&self, status: u16, body: &[u8]) -> Entry {
        let subject = self.subject.clone().with_response(body).to_string();
        Entry { subject, outcome: Outcome::Done, status: Some(status), ..self.entry.clone() }
    }

    /// The entry of any other request.
    pub(crate) fn with_outcome(
        self,
        outcome: Outcome,
        status: StatusCode,
        code: Option<&'static str>,
    ) -> Entry {
        let subject = self.subject.to_string();
        Entry { subject, outcome, status: Some(status.as_u16()), code: code.map(Into::into), ..self.entry }
    }
}
