//! A front end for people beside the API: it gets the requests under its path, and calls operations in this process.
//!
//! An operation that a front end calls goes through the pipeline of a request behind authentication: rate limit, scopes,
//! values, idempotency key, audit entry. So nothing that a page does differs from what the API does.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use actix_web::http::{Method, StatusCode};
use actix_web::web::{Bytes, Payload};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::{FutureExt as _, StreamExt as _};
use kopeck_audit::Entry;
use kopeck_domain::ids::{PartnerId, UserId};
use kopeck_fair_queue::Rank;

use crate::body::{self, BodyLimits};
use crate::caller_cache::Identity;
use crate::client_address::ClientAddress;
use crate::error::ApiError;
use crate::local_request::{FileChunks, FileCutOff, LocalRequest, LocalResponse, LocalUser};
use crate::operations;
use crate::pipeline::head::{Head, announced_length, language};
use crate::pipeline::response_builder::ResponseBuilder;
use crate::pipeline::{LocalClient, TOKEN_BODY_LIMIT, serve_local};
use crate::request_id::RequestId;
use crate::request_source::RequestSource;
use crate::response::{BodyStream, HandlerResult, ResponseBody};
use crate::settings::HttpSettings;
use crate::state::Shared;
use crate::wording::Language;

/// The path under which the front end is served.
const PATH: &str = "/console";

/// A front end, served by the server of the API.
pub trait FrontEnd: Send + Sync {
    /// Whether a path below that of the front end is for people who are not logged in. A body there has as few bytes as one
    /// of a token request.
    fn is_login(&self, path: &str) -> bool;

    /// The response to a request.
    fn respond<'a>(
        &'a self,
        request: FrontEndRequest<'a>,
    ) -> Pin<Box<dyn Future<Output = FrontEndResponse> + 'a>>;
}

/// The response of the front end, and what the log says of its request.
pub struct FrontEndResponse {
    /// The response.
    pub response: HttpResponse,
    /// The partner of the user.
    pub partner: Option<PartnerId>,
    /// The user, once authenticated.
    pub user: Option<UserId>,
    /// The pattern of the path below that of the front end: the path itself may hold an identifier.
    pub route: String,
}

/// A request to the front end.
pub struct FrontEndRequest<'a> {
    /// Its head.
    pub head: &'a HttpRequest,
    /// Its path below that of the front end, percent-decoded.
    pub path: &'a str,
    /// Its body, or the status code that refuses it: too large, too slow, broken off, no memory for it.
    pub body: Result<Bytes, StatusCode>,
    /// The language that its `Accept-Language` prefers.
    pub language: Language,
    /// What it can call.
    pub operations: LocalOperations,
}

/// The operations of the API, for one request to the front end.
#[derive(Clone)]
pub struct LocalOperations {
    shared: Arc<Shared>,
    address: ClientAddress,
    request_id: RequestId,
}

/// The error of work that found no permit in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the service is busy")]
pub struct Busy;

impl LocalOperations {
    /// Sends a request in the name of `user`.
    pub async fn call(&self, user: &LocalUser, mut request: LocalRequest) -> LocalResponse {
        let called = operations::interface().find(|operation| operation.name == request.operation);
        let outcome = match called {
            Some(operation) => {
                let identity = Arc::new(Identity::of_user(user.partner, user.authority.clone()));
                let body = Bytes::from(std::mem::take(&mut request.body));
                let head = Head::local(operation, request, self.request_id.own());
                let (session, address, request_id) = (user.session, self.address, &self.request_id);
                let client = LocalClient { identity, session, address, request_id };
                serve_local(&self.shared, operation, head, body, client).await
            }
            None => Err(ApiError::internal("there is no such operation")),
        };
        self.response(outcome).await
    }

    async fn response(&self, outcome: HandlerResult) -> LocalResponse {
        let response = match outcome {
            Ok(response) => response,
            Err(error) => return self.refusal(&error),
        };
        let (status, file) = (response.status, response.file.map(|file| (file.media_type, file.name)));
        let (body, chunks) = match (response.body, &file) {
            (ResponseBody::Whole(body), _) => (body, None),
            (ResponseBody::Stream(chunks), Some(_)) => (Vec::new(), Some(self.file_chunks(chunks))),
            (ResponseBody::Stream(mut chunks), None) => {
                let mut whole = Vec::new();
                while let Some(chunk) = chunks.next().await {
                    match chunk {
                        Ok(chunk) => whole.extend(chunk),
                        Err(error) => return self.refusal(&error),
                    }
                }
                (whole, None)
            }
        };
        LocalResponse { status, body, chunks, file, retry_after: None }
    }

    /// The chunks of a file, with a log line for an error.
    fn file_chunks(&self, chunks: BodyStream) -> FileChunks {
        let request_id = self.request_id.clone();
        Box::pin(chunks.map(move |chunk| {
            chunk.map_err(|error| {
                let reason = error.log_reason().unwrap_or_default();
                log::error!(request_id = request_id.own(), reason; "a file of a page was cut off");
                FileCutOff
            })
        }))
    }

    fn refusal(&self, error: &ApiError) -> LocalResponse {
        if let Some(reason) = error.log_reason() {
            log::warn!(request_id = self.request_id.own(), reason; "an operation of a page failed");
        }
        LocalResponse {
            status: error.status().as_u16(),
            body: error.body(self.request_id.shown()),
            chunks: None,
            file: None,
            retry_after: error.retry_seconds(),
        }
    }

    /// Runs the check of a password on a blocking thread, in the queue of logins: first in a session, which a login has
    /// begun, and otherwise in the rank of its address.
    ///
    /// # Errors
    /// [`Busy`] if no permit is free in time.
    pub async fn check_password<T: Send + 'static>(
        &self,
        in_session: bool,
        check: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let network = self.address.network();
        let (source, rank) = if in_session {
            (RequestSource::Network(network), Rank::First)
        } else {
            self.shared.known_addresses.priority(network, self.shared.parts.wall.steady())
        };
        self.shared.logins.run(source, rank, check).await.map_err(|_| Busy)
    }

    /// Remembers the address of a login, so that the next one from it does not wait for those of strangers.
    pub fn remember_login(&self) {
        if let Some(network) = self.address.network() {
            self.shared.known_addresses.remember(network, self.shared.parts.wall.steady());
        }
    }

    /// Runs the reading of a file on a blocking thread, in the queue of spreadsheets: a small workbook may hold much.
    ///
    /// # Errors
    /// [`Busy`] if no permit is free in time.
    pub async fn read_file<T: Send + 'static>(
        &self,
        partner: PartnerId,
        read: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let source = RequestSource::Partner(partner);
        self.shared.spreadsheets.run(source, Rank::First, read).await.map_err(|_| Busy)
    }

    /// The client's address, if it is known.
    #[must_use]
    pub fn address(&self) -> Option<String> {
        self.address.is_known().then(|| self.address.to_string())
    }

    /// The client's network, which failures are counted by, if its address is known.
    #[must_use]
    pub fn network(&self) -> Option<String> {
        self.address.network().map(|network| network.to_string())
    }

    /// An audit entry of this request, without actor and outcome.
    #[must_use]
    pub fn audit_entry(&self, action: &'static str) -> Entry {
        let now = self.shared.parts.wall.now();
        let request_id = Some(self.request_id.audited());
        Entry { request_id, ..Entry::new(now, self.address.to_string(), action) }
    }

    /// Queues an audit entry, within the budget of its source.
    pub fn record(&self, entry: Entry) {
        self.shared.parts.audit.push(entry);
    }
}

/// The path below that of the front end, if `path` is under it.
pub(crate) fn path_below(path: &str) -> Option<&str> {
    path.strip_prefix(PATH).filter(|below| below.is_empty() || below.starts_with('/'))
}

/// Serves a request under the path of the front end.
pub(crate) async fn serve(
    front_end: &dyn FrontEnd,
    shared: &Arc<Shared>,
    request: &HttpRequest,
    path: &str,
    mut payload: Payload,
) -> HttpResponse {
    let mut builder = ResponseBuilder::new(shared, None, request).of_front_end(PATH);
    let most = shared.parts.settings.body_limit;
    let limit = if front_end.is_login(path) { most.min(TOKEN_BODY_LIMIT) } else { most };
    let body = read_body(shared, request, &builder, (&mut payload, limit)).await;
    let body = body.map_err(|error| error.status());
    if body == Err(StatusCode::PAYLOAD_TOO_LARGE) {
        drain(payload, &shared.parts.settings).await;
    }
    let operations = LocalOperations {
        shared: Arc::clone(shared),
        address: builder.address,
        request_id: builder.request_id.clone(),
    };
    let language = language(request.headers());
    let page = front_end.respond(FrontEndRequest { head: request, path, body, language, operations });
    match AssertUnwindSafe(page).catch_unwind().await {
        Ok(FrontEndResponse { response, partner, user, route }) => {
            (builder.partner, builder.user) = (partner, user);
            builder.route = format!("{PATH}{route}").into();
            builder.finish(shared, response, None)
        }
        Err(_) => {
            let reason = "a page panicked".to_owned();
            builder.finish(shared, HttpResponse::InternalServerError().finish(), Some(reason))
        }
    }
}

/// The body of a request whose sender is not known yet.
async fn read_body(
    shared: &Shared,
    request: &HttpRequest,
    builder: &ResponseBuilder,
    (payload, limit): (&mut Payload, usize),
) -> Result<Bytes, ApiError> {
    if request.method() != Method::POST {
        return Ok(Bytes::new());
    }
    let settings = &shared.parts.settings;
    let announced = announced_length(request.headers());
    if announced > limit {
        return Err(body::too_large(limit));
    }
    let limits = BodyLimits {
        announced,
        limit,
        budget: shared.body_memory.token_calls.clone(),
        source: RequestSource::Network(builder.address.network()),
        deadline: settings.body_deadline,
    };
    body::read(payload, limits).await
}

/// Bodies up to so many times the limit are read to their end before they are refused.
const DRAINED: usize = 8;

/// Reads what is left of a body that is too large: a browser that is still sending would show an error of the connection, not
/// the page that says why.
async fn drain(mut payload: Payload, settings: &HttpSettings) {
    let mut left = settings.body_limit.saturating_mul(DRAINED);
    let rest = async {
        while let Some(Ok(chunk)) = payload.next().await {
            left = left.saturating_sub(chunk.len());
            if left == 0 {
                break;
            }
        }
    };
    // A client that sends more slowly sees that error.
    let _ = tokio::time::timeout(settings.body_deadline, rest).await;
}
