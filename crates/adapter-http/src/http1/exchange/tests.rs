use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;

use actix_http::Request;
use actix_web::http::header::{CONTENT_LENGTH, HeaderValue, TRANSFER_ENCODING};

use super::*;

/// The pieces that a client sends before it waits, or ends the connection.
#[derive(Default)]
struct Client {
    pieces: VecDeque<Vec<u8>>,
    is_gone: bool,
}

impl AsyncRead for Client {
    fn poll_read(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let Some(mut piece) = this.pieces.pop_front() else {
            return if this.is_gone { Poll::Ready(Ok(())) } else { Poll::Pending };
        };
        let rest = piece.split_off(piece.len().min(buffer.remaining()));
        buffer.put_slice(&piece);
        if !rest.is_empty() {
            this.pieces.push_front(rest);
        }
        Poll::Ready(Ok(()))
    }
}

/// Counts how often the dispatcher is woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A connection, as the dispatcher sees it.
#[derive(Default)]
struct Connection {
    exchange: Exchange,
    client: Client,
    woken: Arc<Woken>,
}

impl Connection {
    fn sends(&mut self, pieces: &[&str]) {
        self.client.pieces.extend(pieces.iter().map(|piece| piece.as_bytes().to_vec()));
    }

    /// Reads as the dispatcher does: up to the first wait. Whether the connection has ended then.
    fn read(&mut self) -> (String, bool) {
        let waker = Arc::clone(&self.woken).into();
        let mut context = Context::from_waker(&waker);
        let mut all = String::new();
        loop {
            let mut space = [0; 8 * 1024];
            let mut buffer = ReadBuf::new(&mut space);
            let polled = self.exchange.poll_read(Pin::new(&mut self.client), &mut context, &mut buffer);
            all.push_str(std::str::from_utf8(buffer.filled()).unwrap());
            match polled {
                Poll::Ready(read) => {
                    read.unwrap();
                    if buffer.filled().is_empty() {
                        return (all, true);
                    }
                }
                Poll::Pending => return (all, false),
            }
        }
    }

    /// [`Self::read`] of a connection that goes on.
    fn text(&mut self) -> String {
        let (text, is_over) = self.read();
        assert!(!is_over);
        text
    }

    fn begin(&self, length: u64) {
        let mut request = Request::new();
        if length > 0 {
            request.headers_mut().insert(CONTENT_LENGTH, length.into());
        }
        self.exchange.begin(request.head());
    }

    fn begin_chunked(&self) {
        let mut request = Request::new();
        request.headers_mut().insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        self.exchange.begin(request.head());
    }

    fn times_woken(&self) -> usize {
        self.woken.0.load(Ordering::Relaxed)
    }

    fn held(&self) -> usize {
        self.exchange.0.borrow().held.capacity()
    }
}

const GET: &str = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
const POST: &str = "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhello";
const CHUNKED: &str = "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";

#[test]
fn a_single_request_is_neither_copied_nor_waited_for() {
    let mut connection = Connection::default();
    for _ in 0..3 {
        for (request, length) in [(GET, 0), (POST, 5)] {
            connection.sends(&[request]);
            assert_eq!(connection.text(), request);
            connection.begin(length);
            assert_eq!((connection.text(), connection.held()), (String::new(), 0));
            connection.exchange.finish();
            assert_eq!((connection.text(), connection.held()), (String::new(), 0));
        }
    }
    assert_eq!(connection.times_woken(), 0);
}

#[test]
fn the_next_request_is_passed_behind_the_response() {
    let requests = [(GET, 0), (POST, 5), (GET, 0), (POST, 5), (POST, 5)];
    let all: String = requests.iter().map(|(text, _)| *text).collect();
    for size in 1..all.len() {
        let mut connection = Connection::default();
        let pieces: Vec<&str> =
            all.as_bytes().chunks(size).map(|piece| std::str::from_utf8(piece).unwrap()).collect();
        connection.sends(&pieces);
        for (request, length) in requests {
            let mut passed = connection.text();
            connection.begin(length);
            passed += &connection.text();
            assert_eq!(passed, request, "by {size}");
            connection.exchange.finish();
        }
        assert_eq!((connection.text(), connection.held()), (String::new(), 0));
    }
}

#[test]
fn held_bytes_wake_the_dispatcher_once() {
    let mut connection = Connection::default();
    connection.sends(&[&GET.repeat(2)]);
    assert_eq!(connection.text(), GET);
    connection.begin(0);
    assert_eq!(connection.times_woken(), 0, "there is nothing to read yet");
    connection.exchange.finish();
    assert_eq!((connection.times_woken(), connection.text()), (1, GET.to_owned()));
}

/// The end of a chunked body is looked for once the dispatcher has parsed the head.
#[test]
fn a_chunked_body_is_passed_to_its_end() {
    let body = "5;a=b\r\nhello\r\n0\r\nx: y\r\n\r\n";
    for size in 1..80 {
        let mut connection = Connection::default();
        let all = [CHUNKED, body, GET].concat();
        let pieces: Vec<&str> =
            all.as_bytes().chunks(size).map(|piece| std::str::from_utf8(piece).unwrap()).collect();
        connection.sends(&pieces);
        assert_eq!(connection.text(), CHUNKED);
        connection.begin_chunked();
        assert_eq!(connection.text(), body);
        connection.exchange.finish();
        assert_eq!(connection.text(), GET);
    }
}

/// The client may send the rest of a body that the service does not want.
#[test]
fn a_response_may_precede_the_end_of_the_body() {
    let mut connection = Connection::default();
    connection.sends(&[&POST[..POST.len() - 3]]);
    assert_eq!(connection.text(), POST[..POST.len() - 3]);
    connection.begin(5);
    connection.exchange.finish();
    connection.sends(&["ll", &format!("o{GET}")]);
    assert_eq!(connection.text(), format!("llo{GET}"));
}

#[test]
fn a_malformed_chunk_is_passed_and_nothing_behind_it() {
    let mut connection = Connection::default();
    connection.sends(&[CHUNKED]);
    assert_eq!(connection.text(), CHUNKED);
    connection.begin_chunked();
    connection.sends(&["5\r\nhello!", GET, GET]);
    assert_eq!(connection.read(), ("5\r\nhello!".to_owned(), true));
}

/// The connection ends where the two parsers differ: nothing more is passed.
#[test]
fn a_request_that_the_dispatcher_reads_otherwise_is_the_last() {
    let mut connection = Connection::default();
    connection.sends(&[POST, GET]);
    assert_eq!(connection.text(), POST);
    connection.begin(3);
    assert_eq!(connection.read(), (String::new(), true));

    let mut connection = Connection::default();
    connection.sends(&["GET / HTTP/1.1\r\n", GET]);
    connection.begin(0);
    assert_eq!(connection.read(), (String::new(), true));
}

#[test]
fn a_client_that_does_not_read_sends_no_further_request() {
    let mut connection = Connection::default();
    connection.sends(&[GET]);
    assert_eq!(connection.text(), GET);
    connection.begin(0);
    connection.exchange.written(&Poll::<io::Result<usize>>::Pending);
    connection.exchange.finish();
    connection.sends(&[&GET.repeat(2)]);
    assert_eq!((connection.text(), connection.times_woken()), (String::new(), 0));
    connection.exchange.written(&Poll::Ready(Ok(())));
    assert_eq!((connection.times_woken(), connection.text()), (1, GET.to_owned()));
}

#[test]
fn little_is_held() {
    let mut connection = Connection::default();
    connection.sends(&[&GET.repeat(100_000)]);
    assert_eq!(connection.text(), GET);
    assert!(connection.held() <= 4 * MOST_HELD, "{}", connection.held());
    let unread: usize = connection.client.pieces.iter().map(Vec::len).sum();
    assert!(unread > GET.len() * 100_000 - 8 * 1024 - MOST_HELD - LOOK, "{unread}");
}

#[test]
fn the_end_of_the_connection_is_seen_at_once_and_passed_last() {
    let mut connection = Connection::default();
    connection.sends(&[&GET.repeat(2)]);
    connection.client.is_gone = true;
    assert!(connection.exchange.closed_at().is_none());
    assert_eq!(connection.text(), GET);
    assert!(connection.exchange.closed_at().is_some());
    connection.begin(0);
    connection.exchange.finish();
    assert_eq!(connection.read(), (GET.to_owned(), true));

    let mut connection = Connection::default();
    connection.sends(&[GET]);
    assert_eq!(connection.text(), GET);
    connection.begin(0);
    connection.client.is_gone = true;
    assert_eq!(connection.read(), (String::new(), true), "while the request is being answered");
}
