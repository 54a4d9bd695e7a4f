//! The receiver of webhooks: an HTTP server that keeps every delivery, and is down, slow or loses responses on request.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Deliveries to a path with this end are kept, and get no response.
pub(crate) const SILENT: &str = "/silent";

/// How the receiver treats deliveries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Behaviour {
    /// Keeps them and responds with 204.
    #[default]
    Works,
    /// Ends connections before it reads a request.
    Down,
    /// Keeps them and ends the connection without a response.
    LosesResponses,
    /// Keeps them and responds after this time.
    Slow(Duration),
}

/// A delivery as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Arrival {
    /// By their names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
    /// Unix seconds.
    pub(crate) at: u64,
}

/// Listens until it is dropped.
pub(crate) struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    _listening: JoinSet<()>,
}

#[derive(Default)]
struct Shared {
    behaviour: Mutex<Behaviour>,
    /// By path.
    arrivals: Mutex<BTreeMap<String, Vec<Arrival>>>,
}

impl Receiver {
    /// Starts to listen on a free port of this machine.
    pub(crate) fn start() -> anyhow::Result<Self> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").context("no port for the receiver")?;
        listener.set_nonblocking(true)?;
        let (address, shared) = (listener.local_addr()?, Arc::<Shared>::default());
        let listener = TcpListener::from_std(listener)?;
        let mut listening = JoinSet::new();
        listening.spawn(Arc::clone(&shared).listen(listener));
        Ok(Self { address, shared, _listening: listening })
    }

    /// The URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Sets how it treats deliveries that arrive from now on.
    pub(crate) fn behave(&self, behaviour: Behaviour) {
        *self.shared.behaviour.lock().unwrap_or_else(PoisonError::into_inner) = behaviour;
    }

    /// Everything that arrived at a path.
    pub(crate) fn arrivals(&self, path: &str) -> Vec<Arrival> {
        self.shared.arrivals().get(path).cloned().unwrap_or_default()
    }
}

impl Shared {
    fn arrivals(&self) -> MutexGuard<'_, BTreeMap<String, Vec<Arrival>>> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn listen(self: Arc<Self>, listener: TcpListener) {
        let mut serving = JoinSet::new();
        loop {
            // An error is that of one connection.
            let Ok((stream, _)) = listener.accept().await else { continue };
            while serving.try_join_next().is_some() {}
            let shared = Arc::clone(&self);
            // The service judges a connection that breaks, so its error is of no interest here.
            serving.spawn(async move { drop(shared.serve(stream).await) });
        }
    }

    /// Serves one delivery.
    async fn serve(&self, stream: TcpStream) -> anyhow::Result<()> {
        let behaviour = *self.behaviour.lock().unwrap_or_else(PoisonError::into_inner);
        if behaviour == Behaviour::Down {
            return Ok(());
        }
        let mut stream = BufReader::new(stream);
        let (path, arrival) = read(&mut stream).await?;
        let is_silent = path.ends_with(SILENT);
        self.arrivals().entry(path).or_default().push(arrival);
        if is_silent {
            // Until the service gives up.
            stream.read_to_end(&mut Vec::new()).await?;
            return Ok(());
        }
        match behaviour {
            Behaviour::LosesResponses => return Ok(()),
            Behaviour::Slow(latency) => tokio::time::sleep(latency).await,
            Behaviour::Works | Behaviour::Down => {}
        }
        stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").await?;
        Ok(())
    }
}

/// Reads a request: its path, and the rest.
async fn read(stream: &mut BufReader<TcpStream>) -> anyhow::Result<(String, Arrival)> {
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let path = line.split_whitespace().nth(1).context("no request line")?.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").context("no content-length")?.parse()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok((path, Arrival { headers, body, at: unix_now()? }))
}

/// Unix seconds.
#[expect(clippy::disallowed_methods, reason = "a receiver has the machine's clock only")]
fn unix_now() -> anyhow::Result<u64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Delivers a request and returns the response of the receiver.
    async fn deliver(receiver: &Receiver, path: &str) -> String {
        let mut stream = TcpStream::connect(receiver.address).await.unwrap();
        let request = format!("POST {path} HTTP/1.1\r\nWebhook-Id: 7\r\nContent-Length: 2\r\n\r\n{{}}");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = Vec::new();
        // A connection that the receiver ended may be reset.
        let _ = stream.read_to_end(&mut response).await;
        String::from_utf8(response).unwrap()
    }

    #[tokio::test]
    async fn deliveries_are_kept_unless_the_receiver_is_down() {
        let receiver = Receiver::start().unwrap();
        assert!(deliver(&receiver, "/a").await.starts_with("HTTP/1.1 204 "));
        receiver.behave(Behaviour::Down);
        assert_eq!(deliver(&receiver, "/a").await, "");
        assert_eq!(receiver.arrivals("/a").len(), 1);
        receiver.behave(Behaviour::LosesResponses);
        assert_eq!(deliver(&receiver, "/a").await, "");
        receiver.behave(Behaviour::Slow(Duration::from_millis(1)));
        assert!(deliver(&receiver, "/a").await.starts_with("HTTP/1.1 204 "));
        let arrivals = receiver.arrivals("/a");
        assert_eq!(arrivals.len(), 3);
        assert!(arrivals.iter().all(|one| one.headers["webhook-id"] == "7" && one.body == b"{}"));
    }
}
