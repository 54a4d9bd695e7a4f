//! The pipeline of a request, in the order of its checks: head, authentication, scopes, nonce and idempotency key, body,
//! sealed values. The handler does the rest through its [`HandlerContext`]: replay, values, use case.

mod audit_log;
pub(crate) mod authentication;
mod decoding;
pub(crate) mod head;
mod local;
mod request_opener;
pub(crate) mod response_builder;
pub(crate) mod token_calls;
mod value_opener;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::web::{Bytes, Payload};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::FutureExt as _;
use kopeck_api::Code;
use kopeck_audit::KeyDigest;
use kopeck_domain::access::Actor;
use kopeck_domain::ids::{PartnerId, SessionId};
use kopeck_fair_queue::Rank;
use kopeck_port_store::{Access, UnitOfWork};
use kopeck_sealing::KeyId;
use kopeck_service::idempotency::SealedNonce;
use kopeck_service::logins::{LoginKind, LoginOutcome};

use crate::audit::{AuditContext, EntryDraft, Subject};
use crate::body::{self, BodyLimits};
use crate::bridge::{Deadline, in_store};
use crate::caller_cache::{AuthenticatedCaller, Identity};
use crate::client_address::ClientAddress;
use crate::error::ApiError;
use crate::handler_context::{Client, HandlerContext, HeldPermits, MutationDetails};
use crate::idempotency::RequestKey;
use crate::metrics::RefusalKind;
use crate::operation::{Effect, Operation};
use crate::rate_limit::{RateLimitExceeded, RemainingQuota};
use crate::request_id::RequestId;
use crate::request_log::{self, AnsweredRequest, LoggedOutcome};
use crate::request_source::RequestSource;
use crate::response::HandlerResult;
use crate::router::RouteMatch;
use crate::state::Shared;
use decoding::{DecodedRequest, ReceivedRequest};
use head::Head;
pub(crate) use local::{LocalClient, serve as serve_local};
use response_builder::{ResponseBuilder, ResponseSeal};
use value_opener::RefusedSeals;

/// The most bytes of the body of a token request.
pub(crate) const TOKEN_BODY_LIMIT: usize = 8 * 1024;

/// The most bytes of the body of a read: it holds parameters alone.
const READ_BODY_LIMIT: usize = 8 * 1024;

/// Serves a request of an operation.
pub(crate) async fn serve(
    RouteMatch { operation, ids }: RouteMatch,
    shared: &Arc<Shared>,
    request: &HttpRequest,
    payload: Payload,
) -> HttpResponse {
    let began = shared.parts.wall.steady();
    let mut builder = ResponseBuilder::new(shared, Some(operation), request);
    let announced = head::announced_length(request.headers());
    let mut pipeline =
        Pipeline { operation, shared, announced, address: builder.address, state: PipelineState::default() };
    let run = pipeline.run(request, ids, payload, &builder.request_id);
    let outcome = AssertUnwindSafe(run).catch_unwind().await;
    let outcome = outcome.unwrap_or_else(|_| Err(ApiError::internal("a handler panicked")));
    let outcome = audit_log::record(shared, (request.method(), operation), outcome, || {
        pipeline.audit_entry(&builder.request_id)
    })
    .await;
    builder.partner = pipeline.state.partner();
    let actor = pipeline.state.audit.actor.take();
    builder.credential = match pipeline.state.audit.actor {
        Some(Actor::Credential(id)) => Some(id),
        _ => None,
    };
    builder.seal = pipeline.state.seal;
    builder.quota = pipeline.state.quota;
    builder.refused = pipeline.state.refused;
    builder.ignored = pipeline.state.ignored;
    let logged = LoggedOutcome::of(operation, &outcome);
    let response = builder.build(shared, outcome);
    let answered = AnsweredRequest {
        operation,
        partner: builder.partner,
        actor,
        request_id: &builder.request_id,
        address: builder.address,
        status: response.status(),
        took: shared.parts.wall.steady() - began,
    };
    request_log::record(shared, &answered, logged);
    response
}

/// The findings of the pipeline so far. The response and the audit entry need them, also after an error.
#[derive(Default)]
struct PipelineState {
    audit: AuditContext,
    /// Keys and context to seal the response, once authenticated.
    seal: Option<ResponseSeal>,
    /// The rest of the partner's rate limit.
    quota: Option<RemainingQuota>,
    /// The sealed values that did not open.
    refused: Option<RefusedSeals>,
    /// The header of ignored names.
    ignored: Option<String>,
}

impl PipelineState {
    /// The partner, once authenticated.
    fn partner(&self) -> Option<PartnerId> {
        self.audit.partner.filter(|_| self.audit.actor.is_some())
    }
}

/// A request in the pipeline.
struct Pipeline<'a> {
    operation: &'static Operation,
    shared: &'a Arc<Shared>,
    /// `Content-Length`; 0 without one.
    announced: usize,
    address: ClientAddress,
    state: PipelineState,
}

impl Pipeline<'_> {
    async fn run(
        &mut self,
        request: &HttpRequest,
        ids: Vec<(&'static str, String)>,
        payload: Payload,
        request_id: &RequestId,
    ) -> HandlerResult {
        head::check_body_head(request.headers(), self.operation.uploads, self.body_limit())?;
        let head = Head::read(ids, self.operation, request);
        match self.operation.effect {
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

    /// Authenticates and decodes a request with an access token.
    async fn partner_call(
        &mut self,
        head: Head,
        payload: Payload,
        request_id: &RequestId,
    ) -> Result<HandlerContext, ApiError> {
        let AuthenticatedCaller { pair, session, identity } =
            authentication::authenticate(self.shared, head.token.as_deref(), self.address).await?;
        self.state.audit.pair = Some(pair);
        let key = self.admit(&head, &identity)?;
        let body = self.read_body(&head, payload).await?;
        self.context(head, key, body, (identity, session), request_id).await
    }

    /// Whether the caller may send the request now. Returns its nonce and its idempotency key.
    ///
    /// # Errors
    /// 429, 403, or 422 for a malformed nonce or key.
    fn admit(
        &mut self,
        head: &Head,
        identity: &Arc<Identity>,
    ) -> Result<(String, Option<RequestKey>), ApiError> {
        self.is_proved(identity);
        // The fault of a malformed key can be sealed already; without a nonce nothing can.
        self.state.seal =
            head.nonce().map(|nonce| ResponseSeal::new(head, nonce, Arc::clone(identity), None));
        self.count_call(identity.partner)?;
        identity.check_address(self.address)?;
        self.operation.needs.check(&identity.authority)?;
        let (nonce, key) = head.nonce_and_key(self.operation.effect)?;
        self.state.audit.key = key.as_ref().map(|key| KeyDigest::of(identity.partner, &key.key));
        Ok((nonce.to_owned(), key))
    }

    /// Decodes an admitted request.
    async fn context(
        &mut self,
        head: Head,
        (nonce, key): (String, Option<RequestKey>),
        body: Bytes,
        (identity, session): (Arc<Identity>, SessionId),
        request_id: &RequestId,
    ) -> Result<HandlerContext, ApiError> {
        let list = if self.operation.reads_many() {
            Some(self.shared.lists.acquire(RequestSource::Partner(identity.partner), Rank::First).await?)
        } else {
            None
        };
        let deadline = Deadline::within(self.shared.parts.settings.deadline);
        let opened = self.open(head, nonce, body, Some(Arc::clone(&identity))).await?;
        let DecodedRequest { head, nonce, input, used, fingerprint, large, .. } = opened;
        self.state.seal = Some(ResponseSeal::new(&head, &nonce, Arc::clone(&identity), used));
        self.state.audit.sealed = used.is_some();
        self.note_first_use(&identity, used, deadline).await;
        let input = input?;
        if key.is_some() || self.operation.discloses {
            self.state.audit.subject = Subject::of(&input);
        }
        let change = key.zip(fingerprint).map(|(key, fingerprint)| {
            let idempotency_key = key.idempotency_key().map(str::to_owned);
            let sealed = used.map(|_| SealedNonce { nonce, idempotency_key });
            let Operation { holds_person, is_tagged, .. } = *self.operation;
            let audit_entry = self.audit_entry(request_id);
            MutationDetails { key, fingerprint, sealed, holds_person, is_tagged, audit_entry }
        });
        let (shared, status) = (Arc::clone(self.shared), self.operation.status);
        let permits = HeldPermits { large, list };
        let client = Client { identity, session, address: self.address };
        Ok(HandlerContext::new(shared, client, input, permits, deadline, change, status))
    }

    /// Stores that the partner has sealed with a key for the first time: it has the key, so what the service seals unasked may
    /// be under it.
    async fn note_first_use(&self, identity: &Identity, used: Option<KeyId>, deadline: Deadline) {
        let Some(key) = identity.first_use(used) else { return };
        let (tokens, partner) = (Arc::clone(&self.shared.parts.tokens), identity.partner);
        let mark = move |unit: &mut dyn UnitOfWork| tokens.mark_key_used(unit, partner, *key.as_bytes());
        match in_store(&*self.shared.parts.store, Access::Write, deadline, mark).await {
            Ok(()) => self.shared.callers.forget_partner(partner),
            // The next request with the key tries again; this one does not depend on it.
            Err(error) => {
                log::warn!(partner:% = partner, error:% = error; "the first use of a sealing key is not stored");
            }
        }
    }

    /// Counts a 429 after too many failures, and the outcome of a login.
    fn count_throttled(&self, what: RefusalKind, outcome: HandlerResult) -> HandlerResult {
        let metrics = &self.shared.parts.metrics;
        let status = outcome.as_ref().map_or_else(ApiError::status, |_| StatusCode::OK);
        if status == StatusCode::TOO_MANY_REQUESTS {
            metrics.record_refusal(what);
        }
        let login = match status {
            StatusCode::OK => Some(LoginOutcome::Granted),
            StatusCode::BAD_REQUEST => Some(LoginOutcome::Refused),
            StatusCode::TOO_MANY_REQUESTS => Some(LoginOutcome::Throttled),
            _ => None,
        };
        if let Some(login) = login.filter(|_| what == RefusalKind::Login) {
            let kind = match self.state.audit.actor {
                Some(Actor::Credential(_)) => LoginKind::Credential,
                _ => LoginKind::Login,
            };
            metrics.record_login(kind, login);
        }
        outcome
    }

    /// Notes who the client is.
    fn is_proved(&mut self, identity: &Identity) {
        self.state.audit.partner = Some(identity.partner);
        self.state.audit.actor = Some(identity.authority.actor.clone());
    }

    /// The draft of the audit entry, from the findings so far.
    fn audit_entry(&self, request_id: &RequestId) -> EntryDraft {
        let now = self.shared.parts.wall.now();
        EntryDraft::new(now, self.operation.name, self.address, request_id, &self.state.audit)
    }

    /// Counts the request against its partner's rate limit.
    fn count_call(&mut self, partner: PartnerId) -> Result<(), ApiError> {
        let Some(rate_limiter) = &self.shared.rate_limiter else { return Ok(()) };
        let counted = rate_limiter.count(partner);
        self.state.quota = Some(counted.unwrap_or_else(|refused| refused.quota));
        let Err(RateLimitExceeded { retry_after, .. }) = counted else { return Ok(()) };
        self.shared.parts.metrics.record_refusal(RefusalKind::Rate);
        Err(ApiError::from(Code::TooManyRequests).retry_after(retry_after))
    }

    /// The most bytes of a body. It is small for reads, and for token requests, whose bodies are read before
    /// authentication.
    fn body_limit(&self) -> usize {
        let limit = self.shared.parts.settings.body_limit;
        match self.operation.effect {
            Effect::Login | Effect::Refresh => limit.min(TOKEN_BODY_LIMIT),
            Effect::Read(_) => limit.min(READ_BODY_LIMIT),
            Effect::Mutate(_) => limit,
        }
    }

    /// Limits and budget of the body.
    fn body_limits(&self) -> BodyLimits {
        let memory = &self.shared.body_memory;
        let budget = match self.operation.effect {
            Effect::Login | Effect::Refresh => &memory.token_calls,
            Effect::Read(_) | Effect::Mutate(_) => &memory.partners,
        };
        BodyLimits {
            announced: self.announced,
            limit: self.body_limit(),
            budget: budget.clone(),
            source: match self.state.partner() {
                Some(partner) => RequestSource::Partner(partner),
                None => RequestSource::Network(self.address.network()),
            },
            deadline: self.shared.parts.settings.body_deadline,
        }
    }

    async fn read_body(&self, head: &Head, payload: Payload) -> Result<Bytes, ApiError> {
        let body = body::read(payload, self.body_limits()).await.inspect_err(|error| {
            if error.status() == StatusCode::SERVICE_UNAVAILABLE {
                self.shared.parts.metrics.record_refusal(RefusalKind::Memory);
            }
        })?;
        // `check_body_head` sees only a body that the head announces.
        if !body.is_empty() && head.body_type.is_none() { Err(head::wrong_type()) } else { Ok(body) }
    }

    /// Opens the sealed values of a request.
    async fn open(
        &mut self,
        head: Head,
        nonce: String,
        body: Bytes,
        sender: Option<Arc<Identity>>,
    ) -> Result<DecodedRequest, ApiError> {
        let (shared, operation) = (Arc::clone(self.shared), self.operation);
        let opened = ReceivedRequest { shared, operation, head, nonce, body, sender }.decode().await?;
        self.state.refused = opened.refused;
        // Before the credentials are verified the response must not depend on them.
        if matches!(self.operation.effect, Effect::Read(_) | Effect::Mutate(_)) {
            self.state.ignored = opened.ignored.header();
        }
        Ok(opened)
    }
}
