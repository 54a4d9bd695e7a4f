//! The stream between a socket and the dispatcher.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::exchange::Exchange;

/// A connection that passes one request at a time. It keeps `K` until it is closed.
pub(super) struct RequestStream<IO, K> {
    io: IO,
    exchange: Rc<Exchange>,
    _kept: K,
}

impl<IO, K> RequestStream<IO, K> {
    pub(super) fn new(io: IO, kept: K) -> Self {
        Self { io, exchange: Rc::default(), _kept: kept }
    }

    /// The state of the connection, for the service that answers.
    pub(super) fn exchange(&self) -> Rc<Exchange> {
        Rc::clone(&self.exchange)
    }
}

impl<IO: AsyncRead + Unpin, K: Unpin> AsyncRead for RequestStream<IO, K> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { io, exchange, _kept } = self.get_mut();
        exchange.poll_read(Pin::new(io), context, buffer)
    }
}

impl<IO: AsyncWrite + Unpin, K: Unpin> AsyncWrite for RequestStream<IO, K> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let Self { io, exchange, _kept } = self.get_mut();
        let written = Pin::new(io).poll_write(context, bytes);
        exchange.written(&written);
        written
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { io, exchange, _kept } = self.get_mut();
        let flushed = Pin::new(io).poll_flush(context);
        exchange.written(&flushed);
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().io).poll_shutdown(context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let Self { io, exchange, _kept } = self.get_mut();
        let written = Pin::new(io).poll_write_vectored(context, slices);
        exchange.written(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}
