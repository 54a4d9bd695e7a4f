//! The simulator as an HTTP server: the protocol of `docs/BANK.md`, and the sandbox's control.
//!
//! A request passes authentication, body and handler, in this order. Handlers are synchronous, like the simulator; a
//! bounded number of them runs on blocking threads, so that an injected latency does not keep clients from connecting.

mod auth;
mod control;
mod pipeline;
mod protocol;
mod request;
mod routes;

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::web::{self, Payload};
use actix_web::{App, HttpRequest, HttpServer, Resource};
use kopeck_port_bank::sandbox::SandboxClock;
use secrecy::SecretString;
use tokio::sync::Semaphore;

use crate::simulator::Simulator;
use auth::SharedSecret;
use request::ErrorResponse;

pub use routes::{BankOperation, OPERATIONS};

/// The idle timeout of a connection: longer than the gateway's, so that the gateway closes it.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// The time for a request head to arrive.
const HEAD_DEADLINE: Duration = Duration::from_secs(10);
/// The most running handlers.
const CONCURRENT_REQUESTS: usize = 128;

/// The dependencies of the server.
pub struct ServerParts {
    /// The bank.
    pub bank: Arc<Simulator>,
    /// The bank's clock.
    pub clock: Arc<dyn SandboxClock>,
    /// The shared secret of all clients.
    pub secret: SecretString,
    /// Threads that accept requests.
    pub threads: usize,
    /// Serves HTTPS; plain HTTP without it.
    pub tls: Option<rustls::ServerConfig>,
}

/// The state that all requests share.
struct Shared {
    context: Context,
    secret: SharedSecret,
    permits: Arc<Semaphore>,
}

/// The context of a handler.
struct Context {
    bank: Arc<Simulator>,
    clock: Arc<dyn SandboxClock>,
}

/// Serves the simulator on `listener`.
///
/// Returns a future that ends with the server; it installs no signal handlers.
///
/// # Errors
/// If the listener cannot be used.
pub fn serve(listener: TcpListener, parts: ServerParts) -> io::Result<Server> {
    let ServerParts { bank, clock, secret, threads, tls } = parts;
    let shared = Arc::new(Shared {
        context: Context { bank, clock },
        secret: SharedSecret::new(&secret),
        permits: Arc::new(Semaphore::new(CONCURRENT_REQUESTS)),
    });
    let app = move || {
        let shared = Arc::clone(&shared);
        App::new().configure(move |config| {
            for path in routes::paths() {
                config.service(resource(path, &shared));
            }
            config.default_service(web::to(async || ErrorResponse::no_such_path().response()));
        })
    };
    let server = HttpServer::new(app)
        .workers(threads.max(1))
        .keep_alive(KEEP_ALIVE)
        .client_request_timeout(HEAD_DEADLINE)
        .tcp_nodelay(true)
        .disable_signals();
    let server = match tls {
        Some(tls) => server.tls_handshake_timeout(HEAD_DEADLINE).listen_rustls_0_23(listener, tls)?,
        None => server.listen(listener)?,
    };
    Ok(server.run())
}

/// All operations of one path.
fn resource(path: &'static str, shared: &Arc<Shared>) -> Resource {
    let mut resource = web::resource(path);
    for operation in OPERATIONS.iter().filter(|operation| operation.path == path) {
        let shared = Arc::clone(shared);
        resource = resource.route(web::method(operation.method()).to(
            move |request: HttpRequest, payload: Payload| {
                pipeline::serve(operation, Arc::clone(&shared), request, payload)
            },
        ));
    }
    resource.default_service(web::to(async || ErrorResponse::method_not_allowed().response()))
}
