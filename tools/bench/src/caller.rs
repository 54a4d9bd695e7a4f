//! One partner's calls, one after the other, on one connection: for mass work, where the number of requests is small and
//! answers are long.

use std::io::{Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context as _, bail};
use kopeck_sealing::{Clear, RequestContext, SealingKey, Slot, seal_request};
use serde_json::{Value, json};

use crate::machine;
use crate::targets::Target;

/// Longer than any response takes.
const PATIENCE: Duration = Duration::from_secs(120);
/// Headers that a response may have.
const HEADERS: usize = 32;
/// The longest head.
const LONGEST_HEAD: usize = 16 * 1024;
const CHUNK: usize = 64 * 1024;

/// A partner with its connection.
pub(crate) struct Caller {
    socket: TcpStream,
    token: String,
    key: SealingKey,
    /// What came and was not read yet.
    ahead: Vec<u8>,
}

/// A request that is rendered and sealed.
pub(crate) struct Sealed {
    path: &'static str,
    bytes: Vec<u8>,
}

/// How the body of a response ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Length(usize),
    Chunked,
}

impl Caller {
    /// Connects.
    pub(crate) fn connect(address: SocketAddr, target: &Target) -> anyhow::Result<Self> {
        let socket = TcpStream::connect(address).with_context(|| format!("cannot connect to {address}"))?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let (token, key) = (target.access_token.clone(), target.key()?);
        Ok(Self { socket, token, key, ahead: Vec::new() })
    }

    /// Reads, and hands the body over piece by piece; returns with the status.
    pub(crate) fn get(&mut self, path: &str, body: &mut dyn FnMut(&[u8])) -> anyhow::Result<u16> {
        let (token, nonce) = (&self.token, nonce());
        // In one piece: a server may answer and hang up when it has read the first.
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {token}\r\nx-nonce: {nonce}\r\n\r\n"
        );
        self.socket.write_all(head.as_bytes())?;
        self.answer(body)
    }

    /// Reads a page of the console with the session of a user, as [`Self::get`].
    pub(crate) fn page(
        &mut self,
        path: &str,
        session: &str,
        body: &mut dyn FnMut(&[u8]),
    ) -> anyhow::Result<u16> {
        let head = format!("GET {path} HTTP/1.1\r\nhost: bench\r\ncookie: __Host-kopeck={session}\r\n\r\n");
        self.socket.write_all(head.as_bytes())?;
        self.answer(body)
    }

    /// A request with a sealed body, ready to be sent.
    pub(crate) fn sealed_post(&self, path: &'static str, value: &Value) -> Sealed {
        let (nonce, now) = (nonce(), machine::unix_seconds());
        let context =
            RequestContext { method: "POST", path, nonce: &nonce, slot: Slot::Body, clear: Clear::none() };
        let sealed = seal_request(&self.key, &context, now, machine::random(), value.to_string().as_bytes());
        let text = json!({ "sealed": sealed }).to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {}\r\nx-nonce: {nonce}\r\n\
            content-type: application/sealed+json\r\ncontent-length: {}\r\n\r\n",
            self.token,
            text.len()
        );
        Sealed { path, bytes: [head.as_bytes(), text.as_bytes()].concat() }
    }

    /// Sends a request, and expects a JSON object under `status`.
    pub(crate) fn send(&mut self, call: &Sealed, status: u16) -> anyhow::Result<Value> {
        self.socket.write_all(&call.bytes)?;
        let mut body = Vec::new();
        let got = self.answer(&mut |piece| body.extend_from_slice(piece))?;
        anyhow::ensure!(
            got == status,
            "{} was answered {got}: {}",
            call.path,
            String::from_utf8_lossy(&body)
        );
        serde_json::from_slice(&body).context("an answer that is no JSON")
    }

    /// The key that the partner seals with.
    pub(crate) const fn key(&self) -> &SealingKey {
        &self.key
    }

    /// A request of the partner as bytes. `headers` are lines, each with its end.
    pub(crate) fn render(
        &self,
        method: &str,
        target: &str,
        headers: &str,
        nonce: &str,
        body: &[u8],
    ) -> Vec<u8> {
        let (token, length) = (&self.token, body.len());
        let head = format!(
            "{method} {target} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {token}\r\nx-nonce: {nonce}\r\n\
            {headers}content-length: {length}\r\n\r\n"
        );
        [head.as_bytes(), body].concat()
    }

    /// Sends a request as it is, and reads its response; returns with the status.
    pub(crate) fn send_raw(&mut self, request: &[u8]) -> anyhow::Result<u16> {
        self.socket.write_all(request)?;
        self.answer(&mut |_| {})
    }

    /// Reads a short answer, which has to be a 200.
    pub(crate) fn get_json(&mut self, path: &str) -> anyhow::Result<Value> {
        let mut body = Vec::new();
        let status = self.get(path, &mut |piece| body.extend_from_slice(piece))?;
        anyhow::ensure!(status == 200, "{path} was answered {status}: {}", String::from_utf8_lossy(&body));
        serde_json::from_slice(&body).context("an answer that is no JSON")
    }

    fn answer(&mut self, body: &mut dyn FnMut(&[u8])) -> anyhow::Result<u16> {
        let (status, framing) = loop {
            if let Some((status, framing, start)) = head(&self.ahead)? {
                self.ahead.drain(..start);
                break (status, framing);
            }
            anyhow::ensure!(self.ahead.len() < LONGEST_HEAD, "a head without an end");
            self.read_on()?;
        };
        match framing {
            Framing::Length(length) => self.pieces(length, body)?,
            Framing::Chunked => loop {
                let length = self.line()?;
                let length = usize::from_str_radix(length.trim(), 16).context("the length of a chunk")?;
                self.pieces(length, body)?;
                // What ends the chunk, or all of them: this server sends no trailers.
                self.line()?;
                if length == 0 {
                    break;
                }
            },
        }
        Ok(status)
    }

    /// Hands `length` bytes over.
    fn pieces(&mut self, length: usize, body: &mut dyn FnMut(&[u8])) -> anyhow::Result<()> {
        let mut left = length;
        while left > 0 {
            if self.ahead.is_empty() {
                self.read_on()?;
            }
            let count = left.min(self.ahead.len());
            body(self.ahead.get(..count).unwrap_or_default());
            self.ahead.drain(..count);
            left -= count;
        }
        Ok(())
    }

    /// The text up to the end of the line, which is read too.
    fn line(&mut self) -> anyhow::Result<String> {
        loop {
            if let Some(end) = self.ahead.windows(2).position(|pair| pair == b"\r\n") {
                let line = self.ahead.drain(..end + 2).collect::<Vec<_>>();
                return Ok(String::from_utf8_lossy(line.get(..end).unwrap_or_default()).into_owned());
            }
            anyhow::ensure!(self.ahead.len() < LONGEST_HEAD, "a line without an end");
            self.read_on()?;
        }
    }

    fn read_on(&mut self) -> anyhow::Result<()> {
        let start = self.ahead.len();
        self.ahead.resize(start + CHUNK, 0);
        let count = self.socket.read(self.ahead.get_mut(start..).unwrap_or_default())?;
        self.ahead.truncate(start + count);
        if count == 0 {
            bail!("the server closed the connection");
        }
        Ok(())
    }
}

/// 32 hexadecimal digits.
pub(crate) fn nonce() -> String {
    machine::random::<16>().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Status, framing and length of a head that is whole.
fn head(bytes: &[u8]) -> anyhow::Result<Option<(u16, Framing, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(start) = response.parse(bytes).context("the answer is no HTTP")? else {
        return Ok(None);
    };
    let header = |name: &str| {
        let header = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        header.map(|header| String::from_utf8_lossy(header.value).into_owned())
    };
    let framing = match header("content-length") {
        Some(length) => Framing::Length(length.parse().context("content-length")?),
        None if header("transfer-encoding").as_deref() == Some("chunked") => Framing::Chunked,
        None => bail!("an answer without a length"),
    };
    Ok(Some((response.code.context("an answer without a status")?, framing, start)))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use kopeck_sealing::KeyId;

    use super::*;

    /// What a caller reads of these bytes.
    fn read(answer: &'static [u8]) -> anyhow::Result<(u16, Vec<u8>)> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            let mut head = [0; 1_024];
            let _ = socket.read(&mut head).unwrap();
            socket.write_all(answer).unwrap();
        });
        let key = SealingKey::new(KeyId::from_bytes([1; 8]), [2; 32]);
        let mut caller = Caller::connect(address, &Target::new(1, "t".to_owned(), &key)).unwrap();
        let mut body = Vec::new();
        let status = caller.get("/x", &mut |piece| body.extend_from_slice(piece));
        server.join().unwrap();
        Ok((status?, body))
    }

    #[test]
    fn a_body_of_known_length_is_read() {
        let answer = read(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").unwrap();
        assert_eq!(answer, (200, b"hello".to_vec()));
    }

    #[test]
    fn a_streamed_body_is_put_together() {
        let answer =
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n";
        assert_eq!(read(answer).unwrap(), (200, b"hello!".to_vec()));
    }

    #[test]
    fn an_answer_that_breaks_off_is_an_error() {
        assert!(read(b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nhello").is_err());
    }
}
