//! Connection draining: clients close their connections before the server does.
//!
//! A server that closes a keep-alive connection cannot know whether a request is on its way. While it drains, each
//! response says `Connection: close`, so connections in use end after a response. A moment later the remaining
//! connections are idle, and the server closes them.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use socket2::SockRef;

use crate::connections::Connections;
use crate::server::HttpState;

/// How long the drain waits for the next request on open connections.
const GRACE: Duration = Duration::from_secs(1);

/// How long after the last new connection the server accepts connections from the kernel's queue.
const BACKLOG: Duration = Duration::from_millis(100);

/// Ends serving at a listener.
pub struct Drain {
    listener: TcpListener,
    connections: Arc<Connections>,
}

impl Drain {
    /// For the server that serves `state` at `listener`.
    ///
    /// # Errors
    /// If the process can open no more files.
    pub fn new(listener: &TcpListener, state: &HttpState) -> io::Result<Self> {
        Ok(Self { listener: listener.try_clone()?, connections: Arc::clone(&state.shared.connections) })
    }

    /// From now on every response says `Connection: close`.
    pub fn start(&self) {
        self.connections.start_draining();
    }

    /// Accepts no new connections, and waits about a second until connections in use are closed. The rest are idle, or
    /// have a long request in flight.
    pub async fn finish(&self) {
        refuse_connections(&self.listener).await;
        // The caller stops the server in either case.
        let _ = tokio::time::timeout(GRACE, self.closed()).await;
    }

    /// Waits until no connection is open. Connections in their TLS handshake do not count.
    pub async fn closed(&self) {
        self.connections.closed().await;
    }
}

/// Lets the kernel refuse new connections, without losing one that it has accepted and the server has not.
async fn refuse_connections(listener: &TcpListener) {
    let socket = SockRef::from(listener);
    // Closing a listener resets the connections in its queue. A socket filter first ignores new SYN segments until the
    // queue is empty; clients repeat them after a second and are refused then. Where the system has no such filter, a
    // connection may be reset.
    #[cfg(target_os = "linux")]
    if socket.attach_filter(&IGNORE_SYN).is_ok() {
        tokio::time::sleep(BACKLOG).await;
    }
    // The server holds another descriptor of the socket, so dropping this one would close nothing.
    let _ = socket.shutdown(std::net::Shutdown::Both);
}

/// Ignores TCP segments with SYN and without ACK, in classic BPF; offsets count from the TCP header.
#[cfg(target_os = "linux")]
static IGNORE_SYN: [socket2::SockFilter; 5] = {
    use socket2::SockFilter;
    [
        // The byte of the flags.
        SockFilter::new(0x30, 0, 0, 13),
        // SYN | ACK of it.
        SockFilter::new(0x54, 0, 0, 0x12),
        // If that is SYN, the next instruction, else the one after it.
        SockFilter::new(0x15, 0, 1, 0x02),
        // Keep nothing of the segment.
        SockFilter::new(0x06, 0, 0, 0),
        // Keep all of it.
        SockFilter::new(0x06, 0, 0, u32::MAX),
    ]
};
