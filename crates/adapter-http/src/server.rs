//! Puts the routes into actix, and serves them.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::http::{Method, StatusCode};
use actix_web::web::{self, Payload, ServiceConfig};
use actix_web::{App, HttpRequest, HttpServer, Resource};

use crate::code::Code;
use crate::error::ApiError;
use crate::pipeline;
use crate::reply::Told;
use crate::route::Route;
use crate::routes;
use crate::site;
use crate::state::{HttpState, Shared};

/// How long an idle connection is kept.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// How long a head may take to arrive.
const HEAD_DEADLINE: Duration = Duration::from_secs(10);

/// How long a client whose body was not read to its end has time to read the answer.
const DISCONNECT_DEADLINE: Duration = Duration::from_secs(3);

/// Adds every operation to an actix application, their description, and JSON answers for what is neither.
pub fn configure(config: &mut ServiceConfig, state: &HttpState) {
    let HttpState(shared) = state;
    let sandbox = shared.parts.sandbox.is_some().then(routes::sandbox).unwrap_or_default();
    let mut paths: Vec<(&'static str, Vec<&'static Route>)> = Vec::new();
    for route in routes::interface().iter().chain(sandbox) {
        match paths.iter_mut().find(|(path, _)| *path == route.path) {
            Some((_, same)) => same.push(route),
            None => paths.push((route.path, vec![route])),
        }
    }
    for (path, routes) in paths {
        config.service(resource(path, routes, shared));
    }
    if shared.parts.settings.docs {
        for resource in site::resources() {
            config.service(refusing_others(resource, "GET, HEAD".to_owned(), None, shared));
        }
    }
    let shared = Arc::clone(shared);
    config.default_service(web::to(move |request: HttpRequest| {
        let shared = Arc::clone(&shared);
        async move {
            let error = ApiError::new(StatusCode::NOT_FOUND, Code::NotFound, "there is no such path");
            Told::new(&shared, None, &request).answer(&shared, Err(error))
        }
    }));
}

/// All operations of one path, with and without a slash at its end.
fn resource(path: &'static str, routes: Vec<&'static Route>, shared: &Arc<Shared>) -> Resource {
    let mut resource = web::resource(vec![path.to_owned(), format!("{path}/")]);
    for route in &routes {
        for method in route.methods() {
            resource = resource.route(web::method(method).to(operation(route, Arc::clone(shared))));
        }
    }
    let methods: Vec<Method> = routes.iter().flat_map(|route| route.methods()).collect();
    let methods = methods.iter().map(Method::as_str).collect::<Vec<_>>().join(", ");
    refusing_others(resource, methods, routes.first().copied(), shared)
}

/// The resource with an answer for all but these methods.
fn refusing_others(
    resource: Resource,
    methods: String,
    route: Option<&'static Route>,
    shared: &Arc<Shared>,
) -> Resource {
    let shared = Arc::clone(shared);
    resource.default_service(web::to(move |request: HttpRequest| {
        let (shared, methods) = (Arc::clone(&shared), methods.clone());
        async move {
            let message = "the path does not take this method";
            let error = ApiError::new(StatusCode::METHOD_NOT_ALLOWED, Code::MethodNotAllowed, message);
            Told::new(&shared, route, &request).answer(&shared, Err(error.allow(methods)))
        }
    }))
}

fn operation(
    route: &'static Route,
    shared: Arc<Shared>,
) -> impl Fn(HttpRequest, Payload) -> std::pin::Pin<Box<dyn Future<Output = actix_web::HttpResponse>>> + Clone
{
    move |request, payload| Box::pin(pipeline::serve(route, Arc::clone(&shared), request, payload))
}

/// The server of `$state`, not listening yet. Its type has no name that could be written, so it is no function.
macro_rules! http_server {
    ($state:expr) => {{
        let state: HttpState = $state;
        let workers = state.0.parts.settings.workers.max(1);
        HttpServer::new(move || {
            let state = state.clone();
            App::new().configure(move |config| configure(config, &state))
        })
        .workers(workers)
        .keep_alive(KEEP_ALIVE)
        .client_request_timeout(HEAD_DEADLINE)
        .client_disconnect_timeout(DISCONNECT_DEADLINE)
        .tcp_nodelay(true)
        .disable_signals()
    }};
}

/// Serves the API on `listener`.
///
/// The answer is a future that ends with the server. It installs no signal handlers: whoever awaits it takes its
/// [`handle`](Server::handle) first and stops it with `handle.stop(true)`, which lets running calls come to their end.
///
/// # Errors
/// If the listener cannot be used.
pub fn serve(listener: TcpListener, state: HttpState) -> io::Result<Server> {
    close_if_unread(&listener, state.0.parts.settings.answer_deadline)?;
    Ok(http_server!(state).listen(listener)?.run())
}

/// The same behind TLS, with HTTP/2 for clients that ask for it. Which certificate is shown is `tls`'s affair.
///
/// # Errors
/// If the listener cannot be used.
pub fn serve_tls(listener: TcpListener, state: HttpState, tls: rustls::ServerConfig) -> io::Result<Server> {
    close_if_unread(&listener, state.0.parts.settings.answer_deadline)?;
    Ok(http_server!(state).tls_handshake_timeout(HEAD_DEADLINE).listen_rustls_0_23(listener, tls)?.run())
}

/// Lets the system close connections whose client does not read for so long what it is sent; what is accepted from the
/// listener inherits that. The framework has no deadline for it, and would keep answer and connection for ever.
fn close_if_unread(listener: &TcpListener, deadline: Duration) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    socket2::SockRef::from(listener).set_tcp_user_timeout(Some(deadline))?;
    #[cfg(not(target_os = "linux"))]
    let _ = (listener, deadline);
    Ok(())
}
