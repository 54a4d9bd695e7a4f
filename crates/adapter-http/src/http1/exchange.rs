//! One request of a connection at a time: which bytes the dispatcher may have, and which are held back.

use std::cell::RefCell;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use actix_web::dev::RequestHead;
use actix_web::web::{Buf as _, BytesMut};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::Instant;

use super::framing::{Announced, Body, HeadScan, Malformed};

/// Bytes of later requests from which on the rest stays in the socket.
const MOST_HELD: usize = 8 * 1024;

/// Bytes read at once while none may be passed: the end of the connection, or a part of a later request.
const LOOK: usize = 2 * 1024;

/// The state of a connection, shared by its stream and the service that answers.
#[derive(Default)]
pub(super) struct Exchange(RefCell<ExchangeState>);

#[derive(Default)]
struct ExchangeState {
    phase: Phase,
    /// Bytes of later requests.
    held: BytesMut,
    /// Whether the client reads too slowly for what was written.
    is_write_blocked: bool,
    /// When the client ended its side of the connection.
    closed_at: Option<Instant>,
    /// Wakes the dispatcher, which waits for held bytes.
    waiting: Option<Waker>,
}

enum Phase {
    /// The next request has not been passed to the end of its head.
    Head(HeadScan),
    /// The head of a request has been passed.
    Request(Passed),
    /// The dispatcher gets no further byte.
    Ended,
}

impl Default for Phase {
    fn default() -> Self {
        Self::Head(HeadScan::default())
    }
}

/// A request whose head has been passed.
struct Passed {
    announced: Announced,
    /// `None` until it is known how the body ends.
    body: Option<Body>,
    is_answered: bool,
}

impl Exchange {
    /// The dispatcher has parsed a request and calls the service.
    pub(super) fn begin(&self, head: &RequestHead) {
        let mut state = self.0.borrow_mut();
        let Phase::Request(request) = &mut state.phase else {
            // The dispatcher sees a request where this sees none.
            state.phase = Phase::Ended;
            return;
        };
        match (request.announced, Body::of(head)) {
            // The usual case: its bytes may have been passed already.
            (Announced::Length(announced), Body::Length(length)) if announced == length => {}
            (Announced::Length(0) | Announced::Unknown, body) => request.body = Some(body),
            (Announced::Length(_), _) => state.phase = Phase::Ended,
        }
        state.wake();
    }

    /// The response to the present request was passed to the dispatcher as a whole, or will never be.
    pub(super) fn finish(&self) {
        let mut state = self.0.borrow_mut();
        if let Phase::Request(request) = &mut state.phase {
            request.is_answered = true;
            state.end_request();
            state.wake();
        }
    }

    /// When the client ended its side of the connection.
    pub(super) fn closed_at(&self) -> Option<Instant> {
        self.0.borrow().closed_at
    }

    /// Notes whether the client takes what is written.
    pub(super) fn written<T>(&self, written: &Poll<io::Result<T>>) {
        let mut state = self.0.borrow_mut();
        let was_blocked = std::mem::replace(&mut state.is_write_blocked, written.is_pending());
        if was_blocked && !state.is_write_blocked {
            state.wake();
        }
    }

    /// Reads what the dispatcher may have of `io`. Looks for the end of the connection in any case, so that a client
    /// that is gone is noticed.
    pub(super) fn poll_read(
        &self,
        mut io: Pin<&mut impl AsyncRead>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut state = self.0.borrow_mut();
        if state.pass_held(buffer) {
            return Poll::Ready(Ok(()));
        }
        loop {
            if state.is_at_end() {
                return Poll::Ready(Ok(()));
            }
            let polled = if state.closed_at.is_some() || state.held.len() >= MOST_HELD {
                Poll::Pending
            } else if state.is_open() {
                state.poll_pass(io.as_mut(), context, buffer)?
            } else {
                state.poll_hold(io.as_mut(), context)?
            };
            match polled {
                Poll::Ready(0) => {}
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending => {
                    if !state.held.is_empty() {
                        state.waiting = Some(context.waker().clone());
                    }
                    return Poll::Pending;
                }
            }
        }
    }
}

impl ExchangeState {
    /// Whether the dispatcher may have the next byte.
    fn is_open(&self) -> bool {
        match &self.phase {
            Phase::Head(head) => !(head.is_before() && self.is_write_blocked),
            Phase::Request(request) => request.body.as_ref().is_some_and(|body| !body.is_over()),
            Phase::Ended => false,
        }
    }

    /// Whether the dispatcher has all bytes that it will ever get.
    fn is_at_end(&self) -> bool {
        matches!(self.phase, Phase::Ended) || (self.closed_at.is_some() && self.held.is_empty())
    }

    /// Reads into `buffer` what the dispatcher may have, and holds the rest; the number of bytes that it gets.
    fn poll_pass(
        &mut self,
        io: Pin<&mut impl AsyncRead>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        let before = buffer.filled().len();
        ready!(io.poll_read(context, buffer))?;
        let new = buffer.filled().get(before..).unwrap_or_default();
        self.note_end(new);
        let passed = self.pass(new);
        self.held.extend_from_slice(new.get(passed..).unwrap_or_default());
        buffer.set_filled(before + passed);
        Poll::Ready(Ok(passed))
    }

    /// Reads what may not be passed yet.
    fn poll_hold(
        &mut self,
        io: Pin<&mut impl AsyncRead>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let mut look = [const { MaybeUninit::uninit() }; LOOK];
        let mut look = ReadBuf::uninit(&mut look);
        ready!(io.poll_read(context, &mut look))?;
        self.note_end(look.filled());
        self.held.extend_from_slice(look.filled());
        Poll::Ready(Ok(0))
    }

    /// A read without bytes is the end of the connection.
    fn note_end(&mut self, read: &[u8]) {
        if read.is_empty() {
            self.closed_at = Some(Instant::now());
        }
    }

    /// Passes held bytes; whether there were any.
    fn pass_held(&mut self, buffer: &mut ReadBuf<'_>) -> bool {
        if self.held.is_empty() {
            return false;
        }
        let held = std::mem::take(&mut self.held);
        let most = held.get(..buffer.remaining()).unwrap_or(&held);
        let passed = self.pass(most);
        buffer.put_slice(most.get(..passed).unwrap_or_default());
        self.held = held;
        self.held.advance(passed);
        if self.held.is_empty() {
            self.held = BytesMut::new();
        }
        passed > 0
    }

    /// How many of `bytes` the dispatcher may have, which it then gets.
    fn pass(&mut self, bytes: &[u8]) -> usize {
        let mut passed = 0;
        while let Some(rest) = bytes.get(passed..).filter(|rest| !rest.is_empty() && self.is_open()) {
            match &mut self.phase {
                Phase::Head(head) => {
                    let Some(end) = head.end_in(rest) else { return bytes.len() };
                    let announced = head.announced();
                    let body = match announced {
                        Announced::Length(length) => Some(Body::Length(length)),
                        Announced::Unknown => None,
                    };
                    self.phase = Phase::Request(Passed { announced, body, is_answered: false });
                    passed += end;
                }
                Phase::Request(request) => match request.body.as_mut().map(|body| body.pass(rest)) {
                    Some(Ok(of_body)) => passed += of_body,
                    // The dispatcher gets the fault, refuses it and ends the connection.
                    Some(Err(Malformed)) => {
                        self.phase = Phase::Ended;
                        return bytes.len();
                    }
                    None => break,
                },
                Phase::Ended => break,
            }
            self.end_request();
        }
        passed
    }

    /// Begins the next request if the present one was passed and answered.
    fn end_request(&mut self) {
        if let Phase::Request(Passed { body: Some(body), is_answered: true, .. }) = &self.phase
            && body.is_over()
        {
            self.phase = Phase::default();
        }
    }

    /// Lets the dispatcher read again if it waits for held bytes and may have them.
    fn wake(&mut self) {
        if (self.is_open() || self.is_at_end())
            && let Some(waiting) = self.waiting.take()
        {
            waiting.wake();
        }
    }
}

#[cfg(test)]
mod tests;
