//! What stands between two processes, so that the way between them can be cut or blocked, and so that a process that
//! comes back on another port is found where it was.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Bytes that are passed on at a time.
const CHUNK: usize = 16 * 1024;

/// A way to a process that may have moved, or be gone.
pub(crate) struct Proxy {
    address: SocketAddr,
    way: Arc<Way>,
    _accepting: JoinSet<()>,
}

/// Where a way leads.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// A port.
    Port(SocketAddr),
    /// A socket in the file system.
    Socket(PathBuf),
}

struct Way {
    target: Mutex<Option<Target>>,
    /// Counts the cuts; a connection ends when it changes.
    cuts: watch::Sender<u64>,
    blocked: watch::Sender<bool>,
}

impl Proxy {
    /// A way that leads nowhere yet.
    pub(crate) async fn open() -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let way = Arc::new(Way {
            target: Mutex::new(None),
            cuts: watch::Sender::new(0),
            blocked: watch::Sender::new(false),
        });
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(listener, Arc::clone(&way)));
        Ok(Self { address, way, _accepting: accepting })
    }

    /// Where it listens, for good.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where new connections lead from now on.
    pub(crate) fn lead_to(&self, target: Target) {
        *self.way.target.lock().unwrap_or_else(PoisonError::into_inner) = Some(target);
    }

    /// Ends every connection; new ones can be made at once.
    pub(crate) fn cut(&self) {
        self.way.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// Lets nothing pass until it is told otherwise; connections stay open, and nothing is lost.
    pub(crate) fn block(&self, blocked: bool) {
        self.way.blocked.send_replace(blocked);
    }
}

async fn accept(listener: TcpListener, way: Arc<Way>) {
    let mut connections = JoinSet::new();
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            connections.spawn(connect(stream, Arc::clone(&way)));
        }
        while connections.try_join_next().is_some() {}
    }
}

/// Leads one connection to where the way leads now, until a side or a cut ends it.
async fn connect(near: TcpStream, way: Arc<Way>) {
    let mut cuts = way.cuts.subscribe();
    let target = way.target.lock().unwrap_or_else(PoisonError::into_inner).clone();
    // Without it small messages wait for each other; a failure makes it slow and no more.
    let _ = near.set_nodelay(true);
    let relayed = async {
        match target {
            Some(Target::Port(address)) => {
                let far = TcpStream::connect(address).await?;
                far.set_nodelay(true)?;
                relay(near, far, &way).await
            }
            Some(Target::Socket(path)) => relay(near, UnixStream::connect(path).await?, &way).await,
            None => Ok(()),
        }
    };
    // However it ends, what it led to notices.
    tokio::select! {
        _ = relayed => {}
        _ = cuts.changed() => {}
    }
}

/// Passes on what comes from either side.
async fn relay(
    near: impl AsyncRead + AsyncWrite,
    far: impl AsyncRead + AsyncWrite,
    way: &Way,
) -> std::io::Result<()> {
    let (mut near_reads, mut near_writes) = tokio::io::split(near);
    let (mut far_reads, mut far_writes) = tokio::io::split(far);
    let there = pump(&mut near_reads, &mut far_writes, way.blocked.subscribe());
    let back = pump(&mut far_reads, &mut near_writes, way.blocked.subscribe());
    tokio::try_join!(there, back).map(drop)
}

async fn pump(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    mut blocked: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    loop {
        let count = from.read(&mut buffer).await?;
        // The sender lives as long as the connection.
        let _ = blocked.wait_for(|blocked| !blocked).await;
        if count == 0 {
            return to.shutdown().await;
        }
        to.write_all(buffer.get(..count).unwrap_or_default()).await?;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A way to a server that sends back what it gets.
    async fn echo() -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Proxy::open().await.unwrap();
        proxy.lead_to(Target::Port(listener.local_addr().unwrap()));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut reads, mut writes) = stream.split();
                    tokio::io::copy(&mut reads, &mut writes).await
                });
            }
        });
        proxy
    }

    async fn said_back(stream: &mut TcpStream) -> Option<u8> {
        stream.write_all(&[7]).await.ok()?;
        stream.read_u8().await.ok()
    }

    #[tokio::test]
    async fn a_cut_ends_connections_and_lets_new_ones_through() {
        let proxy = echo().await;
        let mut old = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(said_back(&mut old).await, Some(7));
        proxy.cut();
        assert!(old.read_u8().await.is_err());
        let mut new = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(said_back(&mut new).await, Some(7));
    }

    #[tokio::test]
    async fn a_block_delays_and_loses_nothing() {
        let proxy = echo().await;
        let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
        proxy.block(true);
        stream.write_all(&[1, 2, 3]).await.unwrap();
        let early = tokio::time::timeout(Duration::from_millis(50), stream.read_u8()).await;
        assert!(early.is_err(), "nothing passes");
        proxy.block(false);
        let mut got = [0; 3];
        stream.read_exact(&mut got).await.unwrap();
        assert_eq!(got, [1, 2, 3]);
    }
}
