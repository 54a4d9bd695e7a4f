//! A service that responds as a test tells it to, and remembers what it was sent.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kopeck_client::{Client, ClientBuilder, RetryPolicy};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct RecordedRequest {
    pub(crate) method: String,
    /// With the query.
    pub(crate) target: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
}

impl RecordedRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap()
    }

    pub(crate) fn is_token_call(&self) -> bool {
        matches!(self.path(), "/v1/get_access_token" | "/v1/get_refresh_token")
    }
}

pub(crate) enum Reply {
    Answer {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: String,
    },
    /// Hangs up after the request was read, without a response.
    HangUp,
}

impl Reply {
    pub(crate) fn json(status: u16, body: impl Into<String>) -> Self {
        Self::Answer {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            body: body.into(),
        }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        if let Self::Answer { headers, .. } = &mut self {
            headers.push((name, value.into()));
        }
        self
    }
}

/// A running service.
pub(crate) struct Stub {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<RecordedRequest>>>,
}

impl Stub {
    pub(crate) async fn start(handler: impl Fn(&RecordedRequest) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (log, handler) = (Arc::clone(&seen), Arc::new(handler));
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (log, handler) = (Arc::clone(&log), Arc::clone(&handler));
                tokio::spawn(async move { serve(stream, &log, &*handler).await });
            }
        });
        Self { url, seen }
    }

    /// A client whose retries do not wait.
    pub(crate) fn builder(&self) -> ClientBuilder {
        Client::builder(&self.url)
            .api_key("ak_test")
            .login("partner-1")
            .password("secret")
            .retry(RetryPolicy::default().delays(Duration::ZERO, Duration::ZERO))
    }

    pub(crate) fn client(&self) -> Client {
        self.builder().build().unwrap()
    }

    /// Everything that arrived, in order.
    pub(crate) fn seen(&self) -> Vec<RecordedRequest> {
        self.seen.lock().unwrap().clone()
    }

    /// The requests so far, without logins and refreshes.
    pub(crate) fn calls(&self) -> Vec<RecordedRequest> {
        self.seen().into_iter().filter(|seen| !seen.is_token_call()).collect()
    }

    pub(crate) fn count(&self, path: &str) -> usize {
        self.seen().iter().filter(|seen| seen.path() == path).count()
    }
}

/// Token pair number `n`, which expires at `expires`.
pub(crate) fn pair(n: usize, expires: u64) -> Reply {
    Reply::json(
        200,
        format!(
            r#"{{"tokenType":"bearer","accessToken":"access-{n}","accessExpireAt":{expires},
                "refreshToken":"refresh-{n}","refreshExpireAt":{}}}"#,
            expires + 1_000_000
        ),
    )
}

/// Answers token calls with a pair that outlives any test, all else by `handler`.
pub(crate) async fn logged_in(handler: impl Fn(&RecordedRequest) -> Reply + Send + Sync + 'static) -> Stub {
    Stub::start(move |seen| if seen.is_token_call() { pair(1, 4_000_000_000) } else { handler(seen) }).await
}

async fn serve(
    stream: TcpStream,
    log: &Mutex<Vec<RecordedRequest>>,
    handler: &impl Fn(&RecordedRequest) -> Reply,
) {
    let mut stream = BufReader::new(stream);
    let Some(seen) = read(&mut stream).await else { return };
    log.lock().unwrap().push(seen.clone());
    let Reply::Answer { status, headers, body } = handler(&seen) else { return };
    let mut answer =
        format!("HTTP/1.1 {status} Status\r\ncontent-length: {}\r\nconnection: close\r\n", body.len());
    for (name, value) in headers {
        answer.push_str(&format!("{name}: {value}\r\n"));
    }
    answer.push_str("\r\n");
    answer.push_str(&body);
    // A client that gave up meanwhile does not matter here.
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

/// The next request, or `None` if the client left.
async fn read(stream: &mut BufReader<TcpStream>) -> Option<RecordedRequest> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(RecordedRequest { method, target, headers, body: String::from_utf8(body).unwrap() })
}
