//! The HTTP server: actix with one handler for all requests.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::{self, Server};
use actix_web::http::{ConnectionType, Method, header};
use actix_web::web::{self, Bytes, Payload, ServiceConfig};
use actix_web::{App, FromRequest as _, HttpRequest, HttpResponse};
use futures_util::stream::{self, StreamExt as _};
use kopeck_api::Code;

use crate::docs_page;
use crate::error::ApiError;
use crate::front_end::{self, FrontEnd};
use crate::http1::{self, ConnectionSettings, OverTls};
use crate::input::query;
use crate::operations;
use crate::pipeline;
use crate::pipeline::head::announced_length;
use crate::pipeline::response_builder::ResponseBuilder;
use crate::router::{RouteLookup, RouteTable};
use crate::settings::HttpSettings;
use crate::state::{HttpParts, Shared};

/// The timeout of an idle connection.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// The time for a request head to arrive.
const HEAD_DEADLINE: Duration = Duration::from_secs(10);

/// The time for a client to read the response if the server has not read its whole body.
const DISCONNECT_DEADLINE: Duration = Duration::from_secs(3);

/// The time for requests to complete once the server stops.
const STOP_SECONDS: u64 = 8;

/// The HTTP API, shared by all server threads. Cheap to clone.
#[derive(Clone)]
pub struct HttpState {
    pub(crate) shared: Arc<Shared>,
    routes: Arc<RouteTable>,
    front_end: Option<Arc<dyn FrontEnd>>,
}

impl HttpState {
    /// The API with these dependencies.
    #[must_use]
    pub fn new(parts: HttpParts) -> Self {
        let sandbox = parts.sandbox.is_some().then(operations::sandbox).into_iter().flatten();
        let routes = Arc::new(RouteTable::of(operations::interface().chain(sandbox)));
        Self { shared: Arc::new(Shared::new(parts)), routes, front_end: None }
    }

    /// The same with a front end for people.
    #[must_use]
    pub fn with_front_end(self, front_end: Arc<dyn FrontEnd>) -> Self {
        Self { front_end: Some(front_end), ..self }
    }
}

/// Adds the API to an actix application: every operation, the reference page, and JSON errors for unknown paths.
pub fn configure(config: &mut ServiceConfig, state: &HttpState) {
    let state = state.clone();
    config.default_service(web::to(move |request: HttpRequest, payload: Payload| {
        answer(state.clone(), request, payload)
    }));
}

/// Responds to a request, and decides whether its connection stays open.
async fn answer(
    state: HttpState,
    request: HttpRequest,
    mut payload: Payload,
) -> actix_web::Result<HttpResponse> {
    if request.headers().contains_key(header::UPGRADE) {
        payload = announced_body(&request, payload).await?;
    }
    let mut response = respond(&state, &request, payload).await;
    state.shared.connections.close_if_draining(&mut response);
    if request.head().upgrade() {
        // actix would respond `Connection: upgrade`, and close.
        response.head_mut().set_connection_type(ConnectionType::Close);
    }
    Ok(response)
}

/// The body of a request that offers an upgrade to another protocol, which the service never accepts. actix takes all
/// bytes after the head as the body of such a request.
async fn announced_body(request: &HttpRequest, payload: Payload) -> actix_web::Result<Payload> {
    if request.headers().contains_key(header::TRANSFER_ENCODING) {
        return Ok(payload);
    }
    let announced = announced_length(request.headers());
    let body = stream::unfold((payload, announced), |(mut payload, left)| async move {
        if left == 0 {
            return None;
        }
        let chunk = payload.next().await?.map(|mut chunk: Bytes| chunk.split_to(left.min(chunk.len())));
        let left = left - chunk.as_ref().map_or(0, Bytes::len);
        Some((chunk, (payload, left)))
    });
    let mut body = dev::Payload::Stream { payload: body.boxed_local() };
    Payload::from_request(request, &mut body).await
}

/// Routes a request.
async fn respond(state: &HttpState, request: &HttpRequest, payload: Payload) -> HttpResponse {
    let HttpState { shared, routes, front_end } = state;
    if !query::is_within_limits(request.query_string()) {
        return ResponseBuilder::new(shared, None, request).build(shared, Err(long_query()));
    }
    let method = request.method();
    // Percent-decoded by actix.
    let path = request.match_info().as_str();
    if let (Some(front_end), Some(below)) = (front_end, front_end::path_below(path)) {
        return front_end::serve(&**front_end, shared, request, below, payload).await;
    }
    let (operation, error) = match routes.find(method, path) {
        RouteLookup::Match(called) => return pipeline::serve(called, shared, request, payload).await,
        RouteLookup::OtherMethods(others) => {
            let methods: Vec<Method> = others.iter().flat_map(|operation| operation.allowed()).collect();
            let methods = methods.iter().map(Method::as_str).collect::<Vec<_>>().join(", ");
            (others.first().copied(), other_methods(methods))
        }
        RouteLookup::NotFound if path == "/" && docs_page::is_served(shared, method) => {
            return docs_page::redirect_to_docs(request.app_data::<OverTls>().is_some());
        }
        RouteLookup::NotFound if path == docs_page::SENDERS && docs_page::is_served(shared, method) => {
            return docs_page::senders(shared, request.app_data::<OverTls>().is_some());
        }
        RouteLookup::NotFound if path == docs_page::BANK && docs_page::is_served(shared, method) => {
            return docs_page::bank(shared, request.app_data::<OverTls>().is_some());
        }
        RouteLookup::NotFound => match docs_page::file(path, shared.parts.sandbox.is_some())
            .filter(|_| shared.parts.settings.docs)
        {
            Some(file) if [Method::GET, Method::HEAD].contains(method) => {
                match file.answer(shared, request).await {
                    Ok(response) => return response,
                    Err(error) => (None, error),
                }
            }
            Some(_) => (None, other_methods("GET, HEAD".to_owned())),
            None => (None, Code::NotFound.into()),
        },
    };
    ResponseBuilder::new(shared, operation, request).build(shared, Err(error))
}

fn long_query() -> ApiError {
    let (parameters, bytes) = (query::MAX_PARAMETERS, query::MAX_BYTES);
    let message = format!("a query has at most {parameters} parameters and {bytes} bytes");
    ApiError::new(Code::UriTooLong, message)
}

fn other_methods(allowed: String) -> ApiError {
    ApiError::from(Code::MethodNotAllowed).allow(allowed)
}

fn connection_settings(state: &HttpState) -> ConnectionSettings {
    let HttpSettings { workers, max_connections, .. } = state.shared.parts.settings;
    ConnectionSettings {
        workers,
        max_connections,
        keep_alive: KEEP_ALIVE,
        head_deadline: HEAD_DEADLINE,
        disconnect_deadline: DISCONNECT_DEADLINE,
        stop_seconds: STOP_SECONDS,
    }
}

/// Serves the API on `listener`.
///
/// Returns a future that ends with the server. It installs no signal handlers: take its [`handle`](Server::handle)
/// first and stop it with `handle.stop(true)`, which waits up to 8 seconds for running requests. A
/// [`Drain`](crate::Drain) before it keeps requests on idle connections from being lost.
///
/// # Errors
/// If the listener cannot be used.
pub fn serve(listener: TcpListener, state: HttpState) -> io::Result<Server> {
    close_if_unread(&listener, state.shared.parts.settings.answer_deadline)?;
    let (settings, connections) = (connection_settings(&state), Arc::clone(&state.shared.connections));
    let app = move || App::new().configure(|config| configure(config, &state));
    http1::listen(listener, settings, &connections, app)
}

/// Serves the API behind TLS, HTTP/1.1 only. `tls` chooses the certificate.
///
/// # Errors
/// If the listener cannot be used.
pub fn serve_tls(listener: TcpListener, state: HttpState, tls: rustls::ServerConfig) -> io::Result<Server> {
    close_if_unread(&listener, state.shared.parts.settings.answer_deadline)?;
    let (settings, connections) = (connection_settings(&state), Arc::clone(&state.shared.connections));
    let app = move || App::new().app_data(OverTls).configure(|config| configure(config, &state));
    http1::listen_tls(listener, settings, &connections, tls, app)
}

/// Lets the kernel close connections whose client does not read a response within `deadline`; accepted sockets inherit
/// the option. actix has no such timeout, and would keep response and connection for ever.
fn close_if_unread(listener: &TcpListener, deadline: Duration) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    socket2::SockRef::from(listener).set_tcp_user_timeout(Some(deadline))?;
    #[cfg(not(target_os = "linux"))]
    let _ = (listener, deadline);
    Ok(())
}
