//! A connection that stays open: one request at a time.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use mio::net::TcpStream;

/// Headers that a response may have.
const HEADERS: usize = 32;
/// The most that is read at once.
const CHUNK: usize = 16 * 1024;

/// A request on its way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentRequest {
    /// From when on it is timed: when it was sent, or should have been.
    pub(crate) since: Instant,
    /// The status that its response should have.
    pub(crate) status: u16,
}

/// A response as far as it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Head {
    status: u16,
    /// Bytes of head and body.
    length: usize,
}

/// A connection.
pub(crate) struct Connection {
    socket: TcpStream,
    /// The request, and how much of it is written.
    out: Vec<u8>,
    written: usize,
    /// The response as far as it has come.
    input: Vec<u8>,
    filled: usize,
    head: Option<Head>,
    sent: Option<SentRequest>,
}

impl Connection {
    /// Connects, and waits until that is done.
    pub(crate) fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let socket = std::net::TcpStream::connect_timeout(&address, Duration::from_secs(5))
            .with_context(|| format!("cannot connect to {address}"))?;
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        Ok(Self {
            socket: TcpStream::from_std(socket),
            out: Vec::new(),
            written: 0,
            input: vec![0; CHUNK],
            filled: 0,
            head: None,
            sent: None,
        })
    }

    /// What the poll looks at.
    pub(crate) const fn socket(&mut self) -> &mut TcpStream {
        &mut self.socket
    }

    /// Whether a request waits for its response.
    pub(crate) const fn is_busy(&self) -> bool {
        self.sent.is_some()
    }

    /// Sends the request that `render` writes.
    pub(crate) fn send(
        &mut self,
        sent: SentRequest,
        render: impl FnOnce(&mut Vec<u8>),
    ) -> anyhow::Result<()> {
        self.out.clear();
        render(&mut self.out);
        (self.written, self.filled, self.head, self.sent) = (0, 0, None, Some(sent));
        self.write()
    }

    /// Writes what is left of the request, as far as the socket takes it.
    pub(crate) fn write(&mut self) -> anyhow::Result<()> {
        while let Some(rest @ [_, ..]) = self.out.get(self.written..) {
            match self.socket.write(rest) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error).context("a call could not be written"),
            }
        }
        Ok(())
    }

    /// Reads on; returns with the request and its status once the response is whole.
    pub(crate) fn read(&mut self) -> anyhow::Result<Option<(SentRequest, u16)>> {
        loop {
            if self.input.len() - self.filled < CHUNK / 2 {
                self.input.resize(self.input.len() * 2, 0);
            }
            let free = self.input.get_mut(self.filled..).unwrap_or_default();
            match self.socket.read(free) {
                Ok(0) => bail!("the server closed a connection"),
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error).context("an answer could not be read"),
            }
            let come = self.input.get(..self.filled).unwrap_or_default();
            if self.head.is_none() {
                self.head = head(come)?;
            }
            if let Some(Head { status, length }) = self.head
                && self.filled >= length
            {
                anyhow::ensure!(self.filled == length, "an answer is longer than it says");
                let sent = self.sent.take().context("an answer came without a call")?;
                return Ok(Some((sent, status)));
            }
        }
    }
}

/// Status and length of a response whose head is whole.
fn head(bytes: &[u8]) -> anyhow::Result<Option<Head>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(start) = response.parse(bytes).context("the answer is no HTTP")? else {
        return Ok(None);
    };
    let status = response.code.context("an answer without a status")?;
    let length = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.context("an answer without content-length")?.value;
    let body: usize = std::str::from_utf8(length)?.parse().context("content-length")?;
    Ok(Some(Head { status, length: start + body }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_ends_where_its_length_says() {
        let bytes = b"HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\nx: y\r\n\r\n{}";
        assert_eq!(head(bytes).unwrap(), Some(Head { status: 202, length: bytes.len() }));
    }

    #[test]
    fn a_head_that_is_not_whole_is_waited_for() {
        assert_eq!(head(b"HTTP/1.1 200 OK\r\ncontent-le").unwrap(), None);
    }

    #[test]
    fn an_answer_without_a_length_is_refused() {
        assert!(head(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").is_err());
    }
}
