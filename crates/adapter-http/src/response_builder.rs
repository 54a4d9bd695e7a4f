//! The answer to a call: headers, sealing, and one line in the log.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::http::{StatusCode, header};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use futures_util::stream::{self, Stream, StreamExt as _};
use kopeck_domain::ids::PartnerId;
use kopeck_domain::partner::SealingPolicy;
use kopeck_sealing::{KeyId, ResponseContext, ResponseSealer};

use crate::client_address::ClientAddress;
use crate::error::ApiError;
use crate::handler_context::ResponseBody;
use crate::list_stream::BodyStream;
use crate::pipeline::RefusedSeals;
use crate::pipeline::authentication::Identity;
use crate::pipeline::head::{self, Head, SEALED_JSON};
use crate::rate_limit::{RATE_LIMIT, RATE_LIMIT_POLICY, RemainingQuota};
use crate::request_id::RequestId;
use crate::route::{HandlerResult, Route};
use crate::state::Shared;

/// Over TLS every response tells browsers to come back by HTTPS only, for two years, and its subdomains too.
pub(crate) const STRICT_TRANSPORT_SECURITY: (header::HeaderName, &str) =
    (header::STRICT_TRANSPORT_SECURITY, "max-age=63072000; includeSubDomains");

/// Every response says that it loads nothing and is shown in no frame.
const CONTENT_SECURITY_POLICY: (header::HeaderName, &str) =
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'");

/// What the answer and the log have to know of a call.
pub(crate) struct ResponseBuilder {
    /// The ids of the request.
    pub(crate) request_id: RequestId,
    /// The client's address.
    pub(crate) address: ClientAddress,
    /// The partner, once it is known.
    pub(crate) partner: Option<PartnerId>,
    /// How to seal the answer, once the caller is authenticated.
    pub(crate) seal: Option<ResponseSeal>,
    /// What is quota of the partner's rate limit, if there is one and the partner is known.
    pub(crate) quota: Option<RemainingQuota>,
    /// The sealed values that did not open, for the log.
    pub(crate) refused: Option<RefusedSeals>,
    method: String,
    /// The pattern, never the path: that one may hold an identifier.
    route: &'static str,
    operation: &'static str,
    wants_sealed: bool,
    /// Whether a success shows secrets of the partner's.
    discloses: bool,
    over_tls: bool,
    /// For the log and the metrics alone; every rule goes by the service's clock.
    began: Instant,
}

/// What an answer is sealed with.
#[derive(Debug, Clone)]
pub(crate) struct ResponseSeal {
    method: String,
    path: String,
    nonce: String,
    identity: Arc<Identity>,
    /// The key that the call was sealed with.
    used: Option<KeyId>,
}

impl ResponseSeal {
    /// For an answer to the call with this head, which was sealed with the key `used`.
    pub(crate) fn new(head: &Head, nonce: &str, identity: Arc<Identity>, used: Option<KeyId>) -> Self {
        let (method, path) = (head.method.as_str().to_owned(), head.path.clone());
        Self { method, path, nonce: nonce.to_owned(), identity, used }
    }

    /// What seals the body of an answer, and what comes before its sealed form; `None` if the partner has no key.
    fn sealer(&self, shared: &Shared, status: StatusCode) -> Option<(ResponseSealer, String)> {
        let key = self.identity.response_key(self.used)?;
        let mut salt = [0; 16];
        shared.parts.env.entropy.fill(&mut salt);
        let (method, path, nonce) = (self.method.as_str(), self.path.as_str(), self.nonce.as_str());
        let context = ResponseContext { method, path, nonce, status: status.as_u16() };
        let now = u64::try_from(shared.parts.wall.now().unix_timestamp()).unwrap_or(0);
        // A sealed value has no character that JSON would have to escape.
        let mut prefix = String::from("{\"sealed\":\"");
        let sealer = ResponseSealer::start(key, &context, now, salt, &mut prefix);
        Some((sealer, prefix))
    }
}

/// The end of a sealed body.
const SEALED_END: &str = "\"}";

fn sealed_whole((mut sealer, mut out): (ResponseSealer, String), body: &[u8]) -> Vec<u8> {
    out.reserve(body.len() / 3 * 4 + 128);
    sealer.push(body, &mut out);
    sealer.finish(&mut out);
    out.push_str(SEALED_END);
    out.into_bytes()
}

/// The sealed form of `chunks`, chunk by chunk.
fn sealed_chunks((sealer, prefix): (ResponseSealer, String), chunks: BodyStream) -> BodyStream {
    let state = (Some((sealer, prefix)), chunks);
    Box::pin(stream::try_unfold(state, |(sealing, mut chunks)| async move {
        let Some((mut sealer, mut out)) = sealing else { return Ok(None) };
        let rest = match chunks.next().await.transpose()? {
            Some(chunk) => {
                sealer.push(&chunk, &mut out);
                Some((sealer, String::new()))
            }
            None => {
                sealer.finish(&mut out);
                out.push_str(SEALED_END);
                None
            }
        };
        Ok(Some((out.into_bytes(), (rest, chunks))))
    }))
}

impl ResponseBuilder {
    /// For a call that has just come in.
    pub(crate) fn new(shared: &Shared, route: Option<&Route>, request: &HttpRequest) -> Self {
        let headers = request.headers();
        let request_id = RequestId::new(shared.parts.env.ids.next_id(), head::request_id(headers));
        let settings = &shared.parts.settings;
        Self {
            request_id,
            address: ClientAddress::of(request, &settings.trusted_proxies, settings.proxy_header),
            partner: None,
            seal: None,
            quota: None,
            refused: None,
            method: request.method().as_str().to_owned(),
            route: route.map_or("-", |route| route.path),
            operation: route.map_or("-", |route| route.name),
            wants_sealed: head::wants_sealed(headers),
            discloses: route.is_some_and(|route| route.discloses),
            over_tls: request.app_config().secure(),
            began: Instant::now(),
        }
    }

    fn can_seal(&self) -> bool {
        self.seal.as_ref().is_some_and(|seal| seal.identity.response_key(seal.used).is_some())
    }

    /// Whether a success has to be sealed whatever `Accept` says, which anybody on its way can change.
    fn must_seal(&self) -> bool {
        self.discloses
            && self.seal.as_ref().is_some_and(|seal| seal.identity.policy == SealingPolicy::Required)
    }

    /// The answer that `outcome` makes.
    pub(crate) fn build(&self, shared: &Shared, outcome: HandlerResult) -> HttpResponse {
        let must_seal = self.must_seal() && outcome.is_ok();
        let outcome = if must_seal && !self.can_seal() {
            Err(ApiError::internal("the partner has no sealing key"))
        } else {
            outcome
        };
        let mut response = HttpResponse::Ok();
        response
            .insert_header(("x-request-id", self.request_id.shown()))
            .insert_header((header::CACHE_CONTROL, "no-store"))
            .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
            .insert_header(CONTENT_SECURITY_POLICY);
        if self.over_tls {
            response.insert_header(STRICT_TRANSPORT_SECURITY);
        }
        if let Some(quota) = &self.quota {
            response.insert_header((RATE_LIMIT_POLICY, quota.policy()));
            response.insert_header((RATE_LIMIT, quota.rate()));
        }
        // What the log has and the caller is not told.
        let mut reason = None;
        let (status, body) = match outcome {
            Ok(answer) => {
                if answer.replayed {
                    response.insert_header(("idempotent-replayed", "true"));
                }
                (StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK), answer.body)
            }
            Err(error) => {
                reason = error.log_reason().map(str::to_owned);
                insert_error_headers(&error, &mut response);
                (error.status(), ResponseBody::Whole(error.body(self.request_id.shown())))
            }
        };
        let seal = self.seal.as_ref().filter(|_| self.wants_sealed || must_seal);
        let sealer = seal.and_then(|seal| seal.sealer(shared, status));
        let media = if sealer.is_some() { SEALED_JSON } else { "application/json" };
        let took = self.began.elapsed();
        shared.parts.metrics.record_response(self.operation, status.as_u16(), took);
        self.log_request(status, took, reason);
        response.status(status).insert_header((header::CONTENT_TYPE, media));
        match (body, sealer) {
            (ResponseBody::Whole(body), None) => response.body(body),
            (ResponseBody::Whole(body), Some(sealer)) => response.body(sealed_whole(sealer, &body)),
            (ResponseBody::Stream(chunks), None) => response.streaming(self.logged(chunks)),
            (ResponseBody::Stream(chunks), Some(sealer)) => {
                response.streaming(self.logged(sealed_chunks(sealer, chunks)))
            }
        }
    }

    /// `chunks` as the server takes them. It breaks the connection off at an error, of which the caller is told nothing:
    /// the log is.
    fn logged(&self, chunks: BodyStream) -> impl Stream<Item = Result<Bytes, StreamAborted>> + 'static {
        let (request_id, operation) = (self.request_id.clone(), self.operation);
        chunks.map(move |chunk| {
            chunk.map(Bytes::from).map_err(|error| {
                let (own, caller) = (request_id.own(), request_id.caller());
                let reason = error.log_reason().unwrap_or_default();
                log::error!(
                    request_id = own, caller_request_id = caller, operation, reason;
                    "an answer broke off"
                );
                StreamAborted
            })
        })
    }

    /// The one line of the request in the log. It says what the caller is not told too: why the service failed, and how
    /// many sealed values were refused and why the first of them was.
    fn log_request(&self, status: StatusCode, took: Duration, failure: Option<String>) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let partner = self.partner.map(|partner| partner.to_string());
        let reason = failure.or_else(|| self.refused.map(|refused| refused.reason.to_string()));
        let level = match &reason {
            Some(_) if status == StatusCode::INTERNAL_SERVER_ERROR => log::Level::Error,
            Some(_) => log::Level::Warn,
            None => log::Level::Info,
        };
        log::log!(
            target: "kopeck::access",
            level,
            request_id = self.request_id.own(),
            caller_request_id = self.request_id.caller(),
            method = self.method.as_str(),
            operation = self.operation,
            route = self.route,
            status = status.as_u16(),
            micros,
            address:% = self.address,
            partner = partner.as_deref().unwrap_or("-"),
            refused_seals = self.refused.map(|refused| refused.count),
            field = self.refused.map(|refused| refused.field),
            reason = reason.as_deref();
            "request"
        );
    }
}

/// Ends a body before its end.
#[derive(Debug, thiserror::Error)]
#[error("the answer broke off")]
struct StreamAborted;

/// The headers that only refusals have.
fn insert_error_headers(error: &ApiError, response: &mut HttpResponseBuilder) {
    if let Some(seconds) = error.retry_seconds() {
        response.insert_header((header::RETRY_AFTER, seconds));
    }
    if let Some(methods) = error.allowed_methods() {
        response.insert_header((header::ALLOW, methods));
    }
    if error.status() == StatusCode::UNAUTHORIZED {
        response.insert_header((header::WWW_AUTHENTICATE, "Bearer"));
    }
}
