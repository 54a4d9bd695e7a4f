#![doc = include_str!("../README.md")]

use std::fmt;
use std::pin::Pin;

use time::{Duration, OffsetDateTime};

/// A future that a trait object returns.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Why nothing is sent to an address. The text tells nothing of the service's own network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressRefused {
    /// It is no URL.
    #[error("must be a URL")]
    NotUrl,
    /// Another scheme than `https`.
    #[error("must begin with https://")]
    Scheme,
    /// It has a user or a password.
    #[error("must not hold a user or a password")]
    UserInfo,
    /// It has a fragment.
    #[error("must not hold a fragment")]
    Fragment,
    /// Its name has no address. Its text is that of [`Network`](Self::Network): which names there are within the service's network
    /// is not told.
    #[error("must name a host with public addresses alone")]
    UnknownHost,
    /// It leads into a network that is not public.
    #[error("must name a host with public addresses alone")]
    Network,
}

/// One attempt to deliver an event.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookRequest {
    /// Where to.
    pub url: String,
    /// The event's identifier, the same at each attempt.
    pub id: String,
    /// When the attempt is made.
    pub at: OffsetDateTime,
    /// The signatures, with blanks between.
    pub signature: String,
    /// The event, JSON.
    pub body: Vec<u8>,
}

/// An address may hold a token of the receiver, so it stays out of logs, as the event does.
impl fmt::Debug for WebhookRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookRequest").field("id", &self.id).finish_non_exhaustive()
    }
}

/// What an attempt came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attempt {
    /// The receiver answered with a status code.
    Answered {
        /// The status code.
        status: u16,
        /// The `Retry-After` of the answer.
        retry_after: Option<Duration>,
    },
    /// There was no answer.
    Failed(AttemptError),
}

/// Why there was no answer, in words that a partner may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AttemptError {
    /// The address is refused now.
    #[error("the address is refused: {0}")]
    Address(#[from] AddressRefused),
    /// No answer in time.
    #[error("no answer within the time limit")]
    Timeout,
    /// No connection, or no TLS.
    #[error("no connection, or the certificate is not trusted")]
    Connection,
    /// The connection broke before an answer.
    #[error("the connection broke before an answer came")]
    Broken,
}

/// Sends events to their receivers.
pub trait WebhookSender: Send + Sync {
    /// Whether deliveries may go to this address now.
    fn check<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<(), AddressRefused>>;

    /// Makes one attempt.
    fn send(&self, request: WebhookRequest) -> BoxFuture<'_, Attempt>;
}

#[cfg(feature = "fake")]
pub mod fake {
    //! A sender for tests that deliver nothing.

    use super::{AddressRefused, Attempt, AttemptError, BoxFuture, WebhookRequest, WebhookSender};

    /// Accepts every address but those with the word `refused`, and reaches none.
    #[derive(Debug, Clone, Copy)]
    pub struct FakeSender;

    impl WebhookSender for FakeSender {
        fn check<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<(), AddressRefused>> {
            let is_refused = url.contains("refused");
            Box::pin(async move { if is_refused { Err(AddressRefused::Network) } else { Ok(()) } })
        }

        fn send(&self, _: WebhookRequest) -> BoxFuture<'_, Attempt> {
            Box::pin(async { Attempt::Failed(AttemptError::Connection) })
        }
    }
}
