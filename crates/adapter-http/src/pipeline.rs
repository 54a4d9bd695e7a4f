//! The way of a call, in the order of the checks: the head; who calls; nonce and key; the body; the opening. What comes
//! behind (repeats, values, the use case) is the handler's, see [`crate::exchange`].

mod arrived;
pub(crate) mod body;
pub(crate) mod callers;
pub(crate) mod head;
mod opener;
mod opening;
pub(crate) mod token_calls;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::web::{Bytes, Payload};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::FutureExt as _;
use kopeck_domain::audit::KeyDigest;
use kopeck_domain::ids::PartnerId;
use kopeck_service::idempotency::SealedNonce;

use crate::audit::{self, Signature, Subject, Trace};
use crate::bridge::Deadline;
use crate::client_address::ClientAddress;
use crate::code::Code;
use crate::error::ApiError;
use crate::exchange::{Change, Exchange};
use crate::observer::Refusal;
use crate::paths::Called;
use crate::rate::{Left, TooOften};
use crate::reply::{Seal, Told};
use crate::request_id::RequestId;
use crate::request_source::RequestSource;
use crate::route::{Effect, Outcome, Route};
use crate::state::Shared;
use arrived::{Arrived, TakenApart};
use body::Terms;
use callers::Identity;
use head::Head;

pub(crate) use opener::{REFUSED as SEAL_REFUSED, RefusedSeals};
pub(crate) use opening::MUST_BE_SEALED;

/// The most bytes of the body of a token call.
const TOKEN_BODY_LIMIT: usize = 8 * 1024;

/// Serves one call of an operation.
pub(crate) async fn serve(
    Called { route, ids }: Called,
    shared: &Arc<Shared>,
    request: &HttpRequest,
    payload: Payload,
) -> HttpResponse {
    let mut told = Told::new(shared, Some(route), request);
    let mut way = Way { route, shared, request, address: told.address, known: Known::default() };
    let outcome = AssertUnwindSafe(way.go(ids, payload, &told.request_id)).catch_unwind().await;
    let outcome = outcome.unwrap_or_else(|_| Err(ApiError::internal("a handler panicked")));
    let outcome = audit::tell(shared, route, outcome, || way.signature(&told.request_id)).await;
    told.partner = way.known.partner();
    told.seal = way.known.seal;
    told.left = way.known.left;
    told.refused = way.known.refused;
    told.answer(shared, outcome)
}

/// What the pipeline has found out by now; it holds for the answer whatever becomes of the call.
#[derive(Default)]
struct Known {
    trace: Trace,
    /// How to seal the answer, from the authentication on.
    seal: Option<Seal>,
    /// What is left of the partner's rate limit.
    left: Option<Left>,
    /// The sealed values that did not open.
    refused: Option<RefusedSeals>,
}

impl Known {
    /// The partner, once the caller has proved to be it.
    fn partner(&self) -> Option<PartnerId> {
        self.trace.partner.filter(|_| self.trace.is_proved)
    }
}

/// A call on its way.
struct Way<'a> {
    route: &'static Route,
    shared: &'a Arc<Shared>,
    request: &'a HttpRequest,
    address: ClientAddress,
    known: Known,
}

impl Way<'_> {
    async fn go(
        &mut self,
        ids: Vec<(&'static str, String)>,
        payload: Payload,
        request_id: &RequestId,
    ) -> Outcome {
        head::check_body_head(self.request.headers(), self.body_limit())?;
        let head = Head::read(ids, self.request);
        match self.route.effect {
            Effect::Login => {
                let outcome = self.login(head, payload).await;
                self.observed(Refusal::Login, outcome)
            }
            Effect::Refresh => {
                let outcome = self.refresh(head, payload).await;
                self.observed(Refusal::Refresh, outcome)
            }
            Effect::Read(handler) | Effect::Mutate(handler) => {
                let exchange = self.partner_call(head, payload, request_id).await?;
                handler(exchange).await
            }
        }
    }

    /// From the head of a call with an access token to what a handler works with.
    async fn partner_call(
        &mut self,
        head: Head,
        payload: Payload,
        request_id: &RequestId,
    ) -> Result<Exchange, ApiError> {
        let (pair, identity) = callers::authenticate(self.shared, head.token.as_deref()).await?;
        self.known.trace.pair = Some(pair);
        self.is_proved(identity.partner);
        // A call whose key is malformed can be told so under seal; one without a nonce cannot.
        self.known.seal = head.nonce().map(|nonce| Seal::new(&head, nonce, Arc::clone(&identity), None));
        self.count_call(identity.partner)?;
        let (nonce, key) = head.nonce_and_key(self.route.effect)?;
        let nonce = nonce.to_owned();
        self.known.trace.key = key.as_ref().map(|key| KeyDigest::of(identity.partner, &key.key));
        let body = self.read_body(&head, payload).await?;
        let deadline = Deadline::within(self.shared.parts.settings.deadline);
        let opened = self.open(head, nonce, body, Some(Arc::clone(&identity))).await?;
        let TakenApart { head, nonce, call, used, fingerprint, large, refused: _ } = opened;
        self.known.seal = Some(Seal::new(&head, &nonce, Arc::clone(&identity), used));
        self.known.trace.sealed = used.is_some();
        let call = call?;
        if key.is_some() || self.route.discloses {
            self.known.trace.subject = Subject::of(&call);
        }
        let change = key.zip(fingerprint).map(|(key, fingerprint)| {
            let idempotency_key = key.idempotency_key().map(str::to_owned);
            let sealed = used.map(|_| SealedNonce { nonce, idempotency_key });
            Change { key, fingerprint, sealed, signature: self.signature(request_id) }
        });
        Ok(Exchange::new(Arc::clone(self.shared), identity.partner, call, large, deadline, change))
    }

    /// Counts an outcome that is a refusal after too many failures.
    fn observed(&self, what: Refusal, outcome: Outcome) -> Outcome {
        if matches!(&outcome, Err(error) if error.status() == StatusCode::TOO_MANY_REQUESTS) {
            self.shared.parts.observer.refused(what);
        }
        outcome
    }

    /// The caller has proved to be this partner.
    fn is_proved(&mut self, partner: PartnerId) {
        self.known.trace.partner = Some(partner);
        self.known.trace.is_proved = true;
    }

    /// What the audit log is told of the call, as far as it is known by now.
    fn signature(&self, request_id: &RequestId) -> Signature {
        Signature::new(self.shared, self.route, self.address, request_id, &self.known.trace)
    }

    /// Counts the call against its partner's rate limit.
    fn count_call(&mut self, partner: PartnerId) -> Result<(), ApiError> {
        let Some(rates) = &self.shared.rates else { return Ok(()) };
        let counted = rates.count(partner);
        self.known.left = Some(counted.unwrap_or_else(|refused| refused.left));
        let Err(TooOften { retry_after, .. }) = counted else { return Ok(()) };
        self.shared.parts.observer.refused(Refusal::Rate);
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
    fn body_terms(&self) -> Terms {
        let memory = &self.shared.body_memory;
        let budget = match self.route.effect {
            Effect::Login | Effect::Refresh => &memory.token_calls,
            Effect::Read(_) | Effect::Mutate(_) => &memory.partners,
        };
        Terms {
            announced: head::announced_length(self.request.headers()),
            limit: self.body_limit(),
            budget: budget.clone(),
            source: match self.known.partner() {
                Some(partner) => RequestSource::Partner(partner),
                None => RequestSource::Network(self.address.network()),
            },
            deadline: self.shared.parts.settings.body_deadline,
        }
    }

    /// Reads the body.
    async fn read_body(&self, head: &Head, payload: Payload) -> Result<Bytes, ApiError> {
        let body = body::read(payload, self.body_terms()).await.inspect_err(|error| {
            if error.status() == StatusCode::SERVICE_UNAVAILABLE {
                self.shared.parts.observer.refused(Refusal::Memory);
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
    ) -> Result<TakenApart, ApiError> {
        let (shared, route) = (Arc::clone(self.shared), self.route);
        let opened = Arrived { shared, route, head, nonce, body, sender }.take_apart().await?;
        self.known.refused = opened.refused;
        Ok(opened)
    }
}
