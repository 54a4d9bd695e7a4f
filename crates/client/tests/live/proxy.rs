//! The proxy of `scripts/test-clients`, and calls past the client.

use kopeck_client::IdempotencyKey;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The proxy, by its address.
pub(crate) struct Proxy {
    pub(crate) url: String,
}

impl Proxy {
    pub(crate) fn new(url: &str) -> Self {
        Self { url: url.to_owned() }
    }

    /// Lets the next request that changes something go through, and loses its response.
    pub(crate) async fn cut_next(&self) {
        self.call("POST", "/control/cut", &[], Some(&json!({}))).await;
    }

    /// The requests since the last call.
    pub(crate) async fn seen(&self) -> Vec<Value> {
        let (_, body) = self.call("GET", "/control/seen", &[], None).await;
        serde_json::from_str(&body).unwrap()
    }

    /// Path and status of the requests since the last call.
    pub(crate) async fn statuses(&self) -> Vec<(String, u64)> {
        let seen = self.seen().await;
        let one =
            |call: &Value| (call["path"].as_str().unwrap().to_owned(), call["status"].as_u64().unwrap());
        seen.iter().map(one).collect()
    }

    /// A request past the client: status and body of its response.
    pub(crate) async fn call(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, String)],
        body: Option<&Value>,
    ) -> (u16, String) {
        let host = self.url.strip_prefix("http://").unwrap();
        let body = body.map(Value::to_string).unwrap_or_default();
        let nonce = IdempotencyKey::fresh();
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
        head += &format!(
            "x-nonce: {nonce}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        let mut stream = TcpStream::connect(host).await.unwrap();
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, body.to_owned())
    }
}
