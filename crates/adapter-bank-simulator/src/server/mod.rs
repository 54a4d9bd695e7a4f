//! The simulator as an HTTP server: the protocol of `docs/BANK.md`, and the calls by which a sandbox rules it.
//!
//! A call goes through the shared secret, its body and its handler, in this order. Handlers are synchronous, like the
//! simulator itself; a bounded number of them runs on threads of their own, so that a simulator that is told to be slow
//! keeps nobody from connecting.

mod auth;
mod call;
mod control;
mod pipeline;
mod protocol;
mod routes;

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::web::{self, Payload};
use actix_web::{App, HttpRequest, HttpServer, Resource};
use secrecy::SecretString;
use time::OffsetDateTime;
use tokio::sync::Semaphore;

use crate::simulator::Simulator;
use auth::Lock;
use call::Refusal;

pub use routes::{OPERATIONS, Operation};

/// How long an idle connection is kept: longer than the gateway keeps it, so that the gateway is who closes it.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// How long a head may take to arrive.
const HEAD_DEADLINE: Duration = Duration::from_secs(10);
/// The most calls that are carried out at once.
const AT_ONCE: usize = 128;

/// The clock that the simulator goes by, as far as a sandbox moves it.
pub trait MovableClock: Send + Sync {
    /// Microseconds by which it is ahead of the machine's.
    fn offset_micros(&self) -> i64;

    /// Moves it forward, unless the move under `key` was made at or after `since`.
    ///
    /// # Errors
    /// [`ClockRefusal`]; then nothing was moved.
    fn advance(&self, by: Duration, key: &str, since: OffsetDateTime) -> Result<(), ClockRefusal>;
}

/// Why a clock was not moved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClockRefusal {
    /// Further than it goes.
    #[error("the clock does not go that far")]
    TooFar,
    /// It failed.
    #[error("the clock failed: {0}")]
    Failed(String),
}

/// What a server is made of.
pub struct ServerParts {
    /// The bank.
    pub bank: Arc<Simulator>,
    /// The bank's clock.
    pub clock: Arc<dyn MovableClock>,
    /// What every caller has to show.
    pub secret: SecretString,
    /// Threads that take calls.
    pub threads: usize,
    /// Serves by HTTPS; without it by plain HTTP.
    pub tls: Option<rustls::ServerConfig>,
}

/// What all calls share.
struct Shared {
    desk: Desk,
    lock: Lock,
    turns: Arc<Semaphore>,
}

/// What a handler works with.
struct Desk {
    bank: Arc<Simulator>,
    clock: Arc<dyn MovableClock>,
}

/// Serves the simulator on `listener`.
///
/// The answer is a future that ends with the server; it installs no signal handlers.
///
/// # Errors
/// If the listener cannot be used.
pub fn serve(listener: TcpListener, parts: ServerParts) -> io::Result<Server> {
    let ServerParts { bank, clock, secret, threads, tls } = parts;
    let shared = Arc::new(Shared {
        desk: Desk { bank, clock },
        lock: Lock::new(&secret),
        turns: Arc::new(Semaphore::new(AT_ONCE)),
    });
    let app = move || {
        let shared = Arc::clone(&shared);
        App::new().configure(move |config| {
            for path in routes::paths() {
                config.service(resource(path, &shared));
            }
            config.default_service(web::to(async || Refusal::no_such_path().response()));
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
    resource.default_service(web::to(async || Refusal::method_not_allowed().response()))
}
