#![doc = include_str!("../README.md")]

use std::fmt;
use std::pin::Pin;

use time::{Duration, OffsetDateTime};
use uuid::Uuid;

/// A future that a trait object returns.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Why nothing is sent to an address. The text tells nothing of the service's own network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressRefused {
    /// It is no URL.
    #[error("must be a URL")]
    NotUrl,
    /// Another scheme than `https`.
    #[error("must begin with https:// (http only to this machine, in a sandbox)")]
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

/// Why an address is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// It is refused.
    #[error(transparent)]
    Refused(#[from] AddressRefused),
    /// Too many names are being looked up, for its partner or for all of them.
    #[error("too many names of hosts are being looked up")]
    Busy,
}

/// One attempt to deliver an event.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookRequest {
    /// The partner, who has a share of the look-ups of names.
    pub partner: Uuid,
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
        /// The beginning of the body, of an answer other than 2xx.
        body: Vec<u8>,
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
    /// Whether deliveries of this partner may go to an address now. Returns the address as it is understood.
    fn check<'a>(&'a self, partner: Uuid, url: &'a str) -> BoxFuture<'a, Result<String, CheckError>>;

    /// Makes one attempt.
    fn send(&self, request: WebhookRequest) -> BoxFuture<'_, Attempt>;
}

#[cfg(feature = "fake")]
pub mod fake {
    //! A sender for tests that deliver nothing.

    use uuid::Uuid;

    use super::{
        AddressRefused, Attempt, AttemptError, BoxFuture, CheckError, WebhookRequest, WebhookSender,
    };

    /// Accepts every address but those with the word `refused` or `busy`, and reaches none.
    #[derive(Debug, Clone, Copy)]
    pub struct FakeSender;

    impl WebhookSender for FakeSender {
        fn check<'a>(&'a self, _: Uuid, url: &'a str) -> BoxFuture<'a, Result<String, CheckError>> {
            Box::pin(async move {
                match url {
                    url if url.contains("refused") => Err(AddressRefused::Network.into()),
                    url if url.contains("busy") => Err(CheckError::Busy),
                    url => Ok(url.to_owned()),
                }
            })
        }

        fn send(&self, _: WebhookRequest) -> BoxFuture<'_, Attempt> {
            Box::pin(async { Attempt::Failed(AttemptError::Connection) })
        }
    }
}
