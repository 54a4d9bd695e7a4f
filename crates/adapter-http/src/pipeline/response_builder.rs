//! Builds the response to a request: headers, sealing, and the access log line.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::http::{StatusCode, header};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use futures_util::stream::{self, Stream, StreamExt as _};
use kopeck_domain::ids::{CredentialId, PartnerId, UserId};
use kopeck_domain::partner::SealingPolicy;
use kopeck_sealing::{KeyId, ResponseContext, ResponseSealer};

use super::head::{self, Head, SEALED_JSON};
use super::value_opener::RefusedSeals;
use crate::caller_cache::Identity;
use crate::client_address::ClientAddress;
use crate::error::ApiError;
use crate::http1::OverTls;
use crate::ignored::IGNORED;
use crate::operation::Operation;
use crate::rate_limit::{RATE_LIMIT, RATE_LIMIT_POLICY, RemainingQuota};
use crate::request_id::RequestId;
use crate::response::{BodyStream, HandlerResult, ResponseBody};
use crate::state::Shared;

/// Over TLS every response tells browsers to use HTTPS only, for two years, for subdomains too.
pub(crate) const STRICT_TRANSPORT_SECURITY: (header::HeaderName, &str) =
    (header::STRICT_TRANSPORT_SECURITY, "max-age=63072000; includeSubDomains");

/// No response loads resources or is shown in a frame.
const CONTENT_SECURITY_POLICY: (header::HeaderName, &str) =
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'; base-uri 'none'; frame-ancestors 'none'");

/// Request data for the response and the access log.
pub(crate) struct ResponseBuilder {
    /// The ids of the request.
    pub(crate) request_id: RequestId,
    /// The client's address.
    pub(crate) address: ClientAddress,
    /// The partner, once authenticated.
    pub(crate) partner: Option<PartnerId>,
    /// The scoped credential that acted, if it was one.
    pub(crate) credential: Option<CredentialId>,
    /// The user that acted, if it was one.
    pub(crate) user: Option<UserId>,
    /// Keys and context to seal the response, once authenticated.
    pub(crate) seal: Option<ResponseSeal>,
    /// The rest of the partner's rate limit.
    pub(crate) quota: Option<RemainingQuota>,
    /// The sealed values that did not open, for the log.
    pub(crate) refused: Option<RefusedSeals>,
    /// The names that were ignored, as a header has them.
    pub(crate) ignored: Option<String>,
    method: String,
    /// The pattern: the path itself may hold an identifier.
    pub(crate) route: Cow<'static, str>,
    operation: &'static str,
    wants_sealed: bool,
    /// Whether a success shows secrets of the partner.
    discloses: bool,
    over_tls: bool,
    /// For log and metrics; every rule uses the service's clock.
    began: Instant,
}

/// Keys and context to seal a response.
#[derive(Debug, Clone)]
pub(crate) struct ResponseSeal {
    method: String,
    path: String,
    nonce: String,
    identity: Arc<Identity>,
    /// The key of the sealed request.
    used: Option<KeyId>,
}

impl ResponseSeal {
    /// For the response to the request with this head, sealed with the key `used`.
    pub(crate) fn new(head: &Head, nonce: &str, identity: Arc<Identity>, used: Option<KeyId>) -> Self {
        let (method, path) = (head.method.as_str().to_owned(), head.path.clone());
        Self { method, path, nonce: nonce.to_owned(), identity, used }
    }

    /// The sealer of a body and the text before the sealed body; `None` if the partner has no key.
    fn sealer(&self, shared: &Shared, status: StatusCode) -> Option<(ResponseSealer, String)> {
        let key = self.identity.response_key(self.used)?;
        let mut salt = [0; 16];
        shared.parts.env.entropy.fill(&mut salt);
        let (method, path, nonce) = (self.method.as_str(), self.path.as_str(), self.nonce.as_str());
        let context = ResponseContext { method, path, nonce, status: status.as_u16() };
        let now = u64::try_from(shared.parts.wall.now().unix_timestamp()).unwrap_or(0);
        // Sealed text needs no escapes in JSON.
        let mut prefix = String::from("{\"sealed\":\"");
        let sealer = ResponseSealer::start(key, &context, now, salt, &mut prefix);
        Some((sealer, prefix))
    }
}

/// The text after a sealed body.
const SEALED_END: &str = "\"}";

fn sealed_whole((mut sealer, mut out): (ResponseSealer, String), body: &[u8]) -> Vec<u8> {
    out.reserve(body.len() / 3 * 4 + 128);
    sealer.push(body, &mut out);
    sealer.finish(&mut out);
    out.push_str(SEALED_END);
    out.into_bytes()
}

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
    pub(crate) fn new(shared: &Shared, operation: Option<&Operation>, request: &HttpRequest) -> Self {
        let headers = request.headers();
        let request_id = RequestId::new(shared.parts.env.ids.next_id(), head::request_id(headers));
        let settings = &shared.parts.settings;
        Self {
            request_id,
            address: ClientAddress::of(request, &settings.trusted_proxies, settings.proxy_header),
            partner: None,
            credential: None,
            user: None,
            seal: None,
            quota: None,
            refused: None,
            ignored: None,
            method: request.method().as_str().to_owned(),
            route: operation.map_or("-", |operation| operation.path).into(),
            operation: operation.map_or("-", |operation| operation.name),
            wants_sealed: head::wants_sealed(headers),
            discloses: operation.is_some_and(|operation| operation.discloses),
            over_tls: request.app_data::<OverTls>().is_some(),
            began: Instant::now(),
        }
    }

    /// For a request to the front end under `path`, whose pages set their own policies.
    pub(crate) fn of_front_end(self, path: &'static str) -> Self {
        Self { route: path.into(), operation: "console", ..self }
    }

    /// Completes a response of the front end, and logs it with the reason of a failure.
    pub(crate) fn finish(
        &self,
        shared: &Shared,
        mut response: HttpResponse,
        failure: Option<String>,
    ) -> HttpResponse {
        let headers = response.headers_mut();
        if let Ok(id) = header::HeaderValue::from_str(self.request_id.shown()) {
            headers.insert(header::HeaderName::from_static("x-request-id"), id);
        }
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, header::HeaderValue::from_static("nosniff"));
        // A refusal without a page, such as 405, comes without these.
        for (name, value) in [CONTENT_SECURITY_POLICY, (header::CACHE_CONTROL, "no-store")] {
            if !headers.contains_key(&name) {
                headers.insert(name, header::HeaderValue::from_static(value));
            }
        }
        if self.over_tls {
            let (name, value) = STRICT_TRANSPORT_SECURITY;
            headers.insert(name, header::HeaderValue::from_static(value));
        }
        let took = self.began.elapsed();
        shared.parts.metrics.record_response(self.operation, response.status().as_u16(), took);
        self.log_request(response.status(), took, failure);
        response
    }

    fn can_seal(&self) -> bool {
        self.seal.as_ref().is_some_and(|seal| seal.identity.response_key(seal.used).is_some())
    }

    /// Whether a success is sealed whatever `Accept` says: an attacker on the way could change that header.
    fn must_seal(&self) -> bool {
        self.discloses
            && self.seal.as_ref().is_some_and(|seal| seal.identity.policy == SealingPolicy::Required)
    }

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
        if let Some(names) = &self.ignored {
            response.insert_header((IGNORED, names.as_str()));
        }
        // Logged, and not sent.
        let mut reason = None;
        let mut file = None;
        let (status, body) = match outcome {
            Ok(answer) => {
                file = answer.file;
                if let Some(tag) = answer.tag {
                    response.insert_header((header::ETAG, tag));
                }
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
        let seal = self.seal.as_ref().filter(|_| (self.wants_sealed && file.is_none()) || must_seal);
        let sealer = seal.and_then(|seal| seal.sealer(shared, status));
        let media = match &file {
            Some(file) => {
                let disposition = format!("attachment; filename=\"{}\"", file.name);
                response.insert_header((header::CONTENT_DISPOSITION, disposition));
                file.media_type
            }
            None if sealer.is_some() => SEALED_JSON,
            None => "application/json",
        };
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

    /// Logs an error of `chunks`. The server aborts the connection then, and the client gets no reason.
    fn logged(&self, chunks: BodyStream) -> impl Stream<Item = Result<Bytes, StreamAborted>> + 'static {
        let (request_id, operation) = (self.request_id.clone(), self.operation);
        chunks.map(move |chunk| {
            chunk.map(Bytes::from).map_err(|error| {
                let (own, caller) = (request_id.own(), request_id.caller());
                let reason = error.log_reason().unwrap_or_default();
                log::error!(
                    request_id = own, caller_request_id = caller, operation, reason;
                    "a response was cut off"
                );
                StreamAborted
            })
        })
    }

    /// Writes the access log line, with the reason of a failure and the refused sealed values, which the response does
    /// not show.
    fn log_request(&self, status: StatusCode, took: Duration, failure: Option<String>) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let partner = self.partner.map(|partner| partner.to_string());
        let credential = self.credential.map(|credential| credential.to_string());
        let user = self.user.map(|user| user.to_string());
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
            route = &*self.route,
            status = status.as_u16(),
            micros,
            address:% = self.address,
            partner = partner.as_deref().unwrap_or("-"),
            credential = credential.as_deref(),
            user = user.as_deref(),
            refused_seals = self.refused.map(|refused| refused.count),
            field = self.refused.map(|refused| refused.field),
            reason = reason.as_deref();
            "request"
        );
    }
}

/// Aborts a body that has begun.
#[derive(Debug, thiserror::Error)]
#[error("the response ended early")]
struct StreamAborted;

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
