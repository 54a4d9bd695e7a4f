//! The pipeline of a call, in the order of the checks: the head; who calls; nonce and key; the body; the opening. What comes
//! behind (repeats, values, the use case) is the handler's, see [`crate::context`].

pub(crate) mod authentication;
pub(crate) mod body;
mod decoding;
pub(crate) mod head;
mod request_opener;
pub(crate) mod token_calls;
mod value_opener;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::web::{Bytes, Payload};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::FutureExt as _;
use kopeck_domain::audit::KeyDigest;
use kopeck_domain::ids::PartnerId;
use kopeck_service::idempotency::SealedNonce;

use crate::audit::{self, AuditContext, EntryDraft, Subject};
use crate::bridge::Deadline;
use crate::client_address::ClientAddress;
use crate::code::Code;
use crate::error::ApiError;
use crate::handler_context::{HandlerContext, MutationDetails};
use crate::metrics::RefusalKind;
use crate::rate_limit::{RateLimitExceeded, RemainingQuota};
use crate::request_id::RequestId;
use crate::request_source::RequestSource;
use crate::response_builder::{ResponseBuilder, ResponseSeal};
use crate::route::{Effect, HandlerResult, Route};
use crate::router::RouteMatch;
use crate::state::Shared;
use authentication::Identity;
use body::BodyLimits;
use decoding::{DecodedRequest, ReceivedRequest};
use head::Head;

pub(crate) use request_opener::MUST_BE_SEALED;
pub(crate) use value_opener::{REFUSED as SEAL_REFUSED, RefusedSeals};

/// The most bytes of the body of a token call.
const TOKEN_BODY_LIMIT: usize = 8 * 1024;

/// Serves one call of an operation.
pub(crate) async fn serve(
    RouteMatch { route, ids }: RouteMatch,
    shared: &Arc<Shared>,
    request: &HttpRequest,
    payload: Payload,
) -> HttpResponse {
    let mut builder = ResponseBuilder::new(shared, Some(route), request);
    let mut pipeline =
        Pipeline { route, shared, request, address: builder.address, state: PipelineState::default() };
    let outcome = AssertUnwindSafe(pipeline.run(ids, payload, &builder.request_id)).catch_unwind().await;
    let outcome = outcome.unwrap_or_else(|_| Err(ApiError::internal("a handler panicked")));
    let outcome = audit::record(shared, route, outcome, || pipeline.audit_entry(&builder.request_id)).await;
    builder.partner = pipeline.state.partner();
    builder.seal = pipeline.state.seal;
    builder.quota = pipeline.state.quota;
    builder.refused = pipeline.state.refused;
    builder.build(shared, outcome)
}

/// What the pipeline has found out by now; it holds for the answer whatever becomes of the call.
#[derive(Default)]
struct PipelineState {
    audit: AuditContext,
    /// How to seal the answer, from the authentication on.
    seal: Option<ResponseSeal>,
    /// What is quota of the partner's rate limit.
    quota: Option<RemainingQuota>,
    /// The sealed values that did not open.
    refused: Option<RefusedSeals>,
}

impl PipelineState {
    /// The partner, once the caller has proved to be it.
    fn partner(&self) -> Option<PartnerId> {
        self.audit.partner.filter(|_| self.audit.is_proved)
    }
}

/// A call on its pipeline.
struct Pipeline<'a> {
    route: &'static Route,
    shared: &'a Arc<Shared>,
    request: &'a HttpRequest,
    address: ClientAddress,
    state: PipelineState,
}

impl Pipeline<'_> {
    async fn run(
        &mut self,
        ids: Vec<(&'static str, String)>,
        payload: Payload,
        request_id: &RequestId,
    ) -> HandlerResult {
        head::check_body_head(self.request.headers(), self.body_limit())?;
        let head = Head::read(ids, self.request);
        match self.route.effect {
            Effect::Login => {
                let outcome = self.login(head, payload).await;
                self.count_throttled(RefusalKind::Login, outcome)
            }
            Effect::Refresh => {
                let outcome = self.refresh(head, payload).await;
                self.count_throttled(RefusalKind::Refresh, outcome)
            }
            Effect::Read(handler) | Effect::Mutate(handler) => {
                let context = self.partner_call(head, payload, request_id).await?;
                handler(context).await
            }
        }
    }

    /// From the head of a call with an access token to what a handler works with.
    async fn partner_call(
        &mut self,
        head: Head,
        payload: Payload,
        request_id: &RequestId,
    ) -> Result<HandlerContext, ApiError> {
        let (pair, identity) = authentication::authenticate(self.shared, head.token.as_deref()).await?;
        self.state.audit.pair = Some(pair);
        self.is_proved(identity.partner);
        // A call whose key is malformed can be builder so under seal; one without a nonce cannot.
        self.state.seal =
            head.nonce().map(|nonce| ResponseSeal::new(&head, nonce, Arc::clone(&identity), None));
        self.count_call(identity.partner)?;
        let (nonce, key) = head.nonce_and_key(self.route.effect)?;
        let nonce = nonce.to_owned();
        self.state.audit.key = key.as_ref().map(|key| KeyDigest::of(identity.partner, &key.key));
        let body = self.read_body(&head, payload).await?;
        let deadline = Deadline::within(self.shared.parts.settings.deadline);
        let opened = self.open(head, nonce, body, Some(Arc::clone(&identity))).await?;
        let DecodedRequest { head, nonce, input, used, fingerprint, large, refused: _ } = opened;
        self.state.seal = Some(ResponseSeal::new(&head, &nonce, Arc::clone(&identity), used));
        self.state.audit.sealed = used.is_some();
        let input = input?;
        if key.is_some() || self.route.discloses {
            self.state.audit.subject = Subject::of(&input);
        }
        let change = key.zip(fingerprint).map(|(key, fingerprint)| {
            let idempotency_key = key.idempotency_key().map(str::to_owned);
            let sealed = used.map(|_| SealedNonce { nonce, idempotency_key });
            MutationDetails { key, fingerprint, sealed, audit_entry: self.audit_entry(request_id) }
        });
        Ok(HandlerContext::new(Arc::clone(self.shared), identity.partner, input, large, deadline, change))
    }

    /// Counts an outcome that is a refusal after too many failures.
    fn count_throttled(&self, what: RefusalKind, outcome: HandlerResult) -> HandlerResult {
        if matches!(&outcome, Err(error) if error.status() == StatusCode::TOO_MANY_REQUESTS) {
            self.shared.parts.metrics.record_refusal(what);
        }
        outcome
    }

    /// The caller has proved to be this partner.
    fn is_proved(&mut self, partner: PartnerId) {
        self.state.audit.partner = Some(partner);
        self.state.audit.is_proved = true;
    }

    /// What the audit log is builder of the call, as far as it is known by now.
    fn audit_entry(&self, request_id: &RequestId) -> EntryDraft {
        EntryDraft::new(self.shared, self.route, self.address, request_id, &self.state.audit)
    }

    /// Counts the call against its partner's rate limit.
    fn count_call(&mut self, partner: PartnerId) -> Result<(), ApiError> {
        let Some(rate_limiter) = &self.shared.rate_limiter else { return Ok(()) };
        let counted = rate_limiter.count(partner);
        self.state.quota = Some(counted.unwrap_or_else(|refused| refused.quota));
        let Err(RateLimitExceeded { retry_after, .. }) = counted else { return Ok(()) };
        self.shared.parts.metrics.record_refusal(RefusalKind::Rate);
        let message = "too many calls, try again later";
        let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, Code::TooManyRequests, message);
        Err(error.retry_after(retry_after))
    }

    /// The most bytes of a body. Of a token call anybody can have one read, so that it is small.
    fn body_limit(&self) -> usize {
        let limit = self.shared.parts.settings.body_limit;
        match self.route.effect {
            Effect::Login | Effect::Refresh => limit.min(TOKEN_BODY_LIMIT),
            Effect::Read(_) | Effect::Mutate(_) => limit,
        }
    }

    /// How the body is read.
    fn body_limits(&self) -> BodyLimits {
        let memory = &self.shared.body_memory;
        let budget = match self.route.effect {
            Effect::Login | Effect::Refresh => &memory.token_calls,
            Effect::Read(_) | Effect::Mutate(_) => &memory.partners,
        };
        BodyLimits {
            announced: head::announced_length(self.request.headers()),
            limit: self.body_limit(),
            budget: budget.clone(),
            source: match self.state.partner() {
                Some(partner) => RequestSource::Partner(partner),
                None => RequestSource::Network(self.address.network()),
            },
            deadline: self.shared.parts.settings.body_deadline,
        }
    }

    /// Reads the body.
    async fn read_body(&self, head: &Head, payload: Payload) -> Result<Bytes, ApiError> {
        let body = body::read(payload, self.body_limits()).await.inspect_err(|error| {
            if error.status() == StatusCode::SERVICE_UNAVAILABLE {
                self.shared.parts.metrics.record_refusal(RefusalKind::Memory);
            }
        })?;
        // A body that the head did not announce.
        if !body.is_empty() && head.body_type.is_none() { Err(head::wrong_type()) } else { Ok(body) }
    }

    /// Opens a call of this sender.
    async fn open(
        &mut self,
        head: Head,
        nonce: String,
        body: Bytes,
        sender: Option<Arc<Identity>>,
    ) -> Result<DecodedRequest, ApiError> {
        let (shared, route) = (Arc::clone(self.shared), self.route);
        let opened = ReceivedRequest { shared, route, head, nonce, body, sender }.decode().await?;
        self.state.refused = opened.refused;
        Ok(opened)
    }
}
