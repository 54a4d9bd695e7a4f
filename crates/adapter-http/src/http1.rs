//! An HTTP/1.1 server: actix's dispatcher behind a stream that passes one request at a time.
//!
//! The dispatcher of actix-http 3.20 parses all requests in its buffer, at 190 times their size, and applies what it read
//! last, such as `HEAD` or `Connection: close`, to the response that it writes. It never sees a second request here
//! (ADR 49).

mod answer;
mod exchange;
mod framing;
mod stream;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use actix_http::error::DispatchError;
use actix_http::{HttpService, Request};
use actix_service::{IntoServiceFactory, Service, ServiceFactory, ServiceFactoryExt as _};
use actix_service::{apply_fn_factory, fn_service, map_config};
use actix_web::Error;
use actix_web::dev::{AppConfig, Server, ServiceResponse};
use actix_web::rt::net::TcpStream;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;

use crate::connections::{Connections, NetworkPermit, OpenConnection};
use answer::{AnswerBody, Underway};
use stream::RequestStream;

/// Marks an application that is served over TLS, among its data.
pub(crate) struct OverTls;

/// Limits of the connections of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionSettings {
    /// Threads that serve connections.
    pub workers: usize,
    /// The most open connections. Further connections wait.
    pub max_connections: usize,
    /// The timeout of an idle connection.
    pub keep_alive: Duration,
    /// The time for a TLS handshake, and for the first request head to arrive.
    pub head_deadline: Duration,
    /// The time for a client to read the response if the server has not read its whole body.
    pub disconnect_deadline: Duration,
    /// The time for requests to complete once the server stops, in seconds.
    pub stop_seconds: u64,
}

/// Serves the applications of `app`, one for each worker, on `listener`, by HTTPS with `tls`. For the operations port.
///
/// # Errors
/// If the listener cannot be used.
pub fn serve_app<F, I, S>(
    listener: TcpListener,
    settings: ConnectionSettings,
    tls: Option<rustls::ServerConfig>,
    app: F,
) -> io::Result<Server>
where
    F: Fn() -> I + Clone + Send + 'static,
    I: IntoServiceFactory<S, Request>,
    S: Application,
    <S::Service as Service<Request>>::Future: 'static,
{
    match tls {
        Some(tls) => listen_tls(listener, settings, &Arc::default(), tls, app),
        None => listen(listener, settings, &Arc::default(), app),
    }
}

/// [`serve_app`], with counted connections.
pub(crate) fn listen<F, I, S>(
    listener: TcpListener,
    settings: ConnectionSettings,
    connections: &Arc<Connections>,
    app: F,
) -> io::Result<Server>
where
    F: Fn() -> I + Clone + Send + 'static,
    I: IntoServiceFactory<S, Request>,
    S: Application,
    <S::Service as Service<Request>>::Future: 'static,
{
    listen_with(listener, settings, connections, |socket| async { Ok(socket) }, app)
}

/// [`listen`] behind TLS, HTTP/1.1 only. `tls` chooses the certificate.
pub(crate) fn listen_tls<F, I, S>(
    listener: TcpListener,
    settings: ConnectionSettings,
    connections: &Arc<Connections>,
    mut tls: rustls::ServerConfig,
    app: F,
) -> io::Result<Server>
where
    F: Fn() -> I + Clone + Send + 'static,
    I: IntoServiceFactory<S, Request>,
    S: Application,
    <S::Service as Service<Request>>::Future: 'static,
{
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    let open = move |socket| {
        let handshake = acceptor.accept(socket);
        async move { tokio::time::timeout(settings.head_deadline, handshake).await? }
    };
    listen_with(listener, settings, connections, open, app)
}

/// An application of actix-web that answers with plain bodies.
pub trait Application:
    ServiceFactory<
        Request,
        Config = AppConfig,
        Response = ServiceResponse,
        Error = Error,
        InitError = (),
        Service: 'static,
    > + 'static
{
}

impl<S> Application for S
where
    S: ServiceFactory<Request, Config = AppConfig, Response = ServiceResponse, Error = Error, InitError = ()>
        + 'static,
    S::Service: 'static,
{
}

/// Serves what `open` makes of a socket.
fn listen_with<F, I, S, Open, Opening, IO>(
    listener: TcpListener,
    settings: ConnectionSettings,
    connections: &Arc<Connections>,
    open: Open,
    app: F,
) -> io::Result<Server>
where
    F: Fn() -> I + Clone + Send + 'static,
    I: IntoServiceFactory<S, Request>,
    S: Application,
    <S::Service as Service<Request>>::Future: 'static,
    Open: Fn(TcpStream) -> Opening + Clone + Send + 'static,
    Opening: Future<Output = io::Result<IO>> + 'static,
    IO: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let workers = settings.workers.max(1);
    let server = Server::build()
        .workers(workers)
        // actix counts per worker, and hands a connection to another worker if one is full.
        .max_concurrent_connections(settings.max_connections.div_ceil(workers))
        .shutdown_timeout(settings.stop_seconds)
        .disable_signals();
    let stopping = server.graceful_shutdown_signal();
    let connections = Arc::clone(connections);
    let server = server.listen("http", listener, move || {
        let (stopping, connections, open) = (stopping.clone(), Arc::clone(&connections), open.clone());
        let app = map_config(app(), |()| AppConfig::default());
        let observed = apply_fn_factory(app, |request: Request, app: &S::Service| {
            let underway = Underway::begin(&request);
            underway.end(app.call(request))
        });
        let http = HttpService::build()
            .graceful_shutdown_signal(move || {
                let stopping = stopping.clone();
                async move { stopping.notified().await }
            })
            .keep_alive(settings.keep_alive)
            .client_request_timeout(settings.head_deadline)
            .client_disconnect_timeout(settings.disconnect_deadline)
            // `answer` decides when a request of a client that is gone ends.
            .h1_allow_half_closed(true)
            .on_connect_ext(|stream: &RequestStream<IO, Kept>, data| drop(data.insert(stream.exchange())))
            .h1::<_, AnswerBody>(observed);
        let opened = move |socket| {
            let (connections, open) = (Arc::clone(&connections), open.clone());
            async move { accept(socket, &connections, open).await.map_err(DispatchError::Io) }
        };
        fn_service(opened).and_then(http)
    })?;
    Ok(server.run())
}

/// Held until a connection is closed.
type Kept = (Option<NetworkPermit>, OpenConnection);

/// A new connection, unless its network has its share: a reset tells the client so at once.
async fn accept<Opening, IO>(
    socket: TcpStream,
    connections: &Arc<Connections>,
    open: impl Fn(TcpStream) -> Opening,
) -> io::Result<(RequestStream<IO, Kept>, Option<SocketAddr>)>
where
    Opening: Future<Output = io::Result<IO>>,
{
    let peer = socket.peer_addr()?;
    let Some(permit) = connections.admit(peer.ip()) else {
        SockRef::from(&socket).set_linger(Some(Duration::ZERO))?;
        return Err(io::ErrorKind::QuotaExceeded.into());
    };
    socket.set_nodelay(true)?;
    let io = open(socket).await?;
    Ok((RequestStream::new(io, (permit, connections.open())), Some(peer)))
}
