//! Errors of requests.

use std::fmt;
use std::time::Duration;

use kopeck_api::{ErrorCode, RequestState};
use serde::Deserialize;
use uuid::Uuid;

use crate::model::card_batch::CardRef;
use crate::tls_fault;

/// An error of an underlying library.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a request failed. No variant holds a token, a password or a sealing key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration is invalid; nothing was sent.
    #[error("the client is not set up properly: {0}")]
    Config(String),

    /// The network failed. If `sent`, the service may have received the request.
    #[error("the service could not be reached")]
    Transport {
        /// Whether the request may have reached the service.
        sent: bool,
        /// The underlying error.
        source: BoxError,
    },

    /// No TLS connection to the service can be made, and a retry will not change that; the service got no request. Its
    /// certificate is not accepted, or one side speaks TLS and the other does not.
    #[error("{reason}")]
    Tls {
        /// The reason, for people.
        reason: String,
        /// The error of the network.
        source: BoxError,
    },

    /// No complete response came in time. The service may have processed the request.
    #[error("the service did not answer in time")]
    Timeout,

    /// The service found faulty values (422). All faulty fields are listed at once.
    #[error("faulty values: {}{}", list(faults), note.as_ref().map(|note| format!("; {note}")).unwrap_or_default())]
    Invalid {
        /// The faulty fields.
        faults: Vec<FieldFault>,
        /// A reason that the client found: the clocks of client and service differ by minutes.
        note: Option<String>,
        /// The request id, to quote to the support.
        request_id: Option<String>,
    },

    /// Some of the cards of a request stand in its way (404 or 409 of a replenishment or limit change).
    #[error("status {status}, faulty cards: {}", list(faults))]
    Cards {
        /// The HTTP status.
        status: u16,
        /// The faulty cards.
        faults: Vec<CardFault>,
        /// The request id, to quote to the support.
        request_id: Option<String>,
    },

    /// The service refused the request for another reason.
    #[error("status {status}{}: {message}", code.as_ref().map(|code| format!(" {code}")).unwrap_or_default())]
    Api {
        /// The HTTP status.
        status: u16,
        /// The error code. `None` if the response has none, such as one of a proxy.
        code: Option<ErrorCode>,
        /// The reason, for people.
        message: String,
        /// The request id, to quote to the support.
        request_id: Option<String>,
        /// The service's `Retry-After`.
        retry_after: Option<Duration>,
    },

    /// The sealed response does not open: it was changed on its way, or belongs to another request, or the clocks of
    /// client and service differ by more than five minutes.
    #[error("the answer cannot be opened: {0}")]
    Sealing(String),

    /// The response does not have the expected form.
    #[error("the answer cannot be read")]
    Decode(#[source] BoxError),

    /// The request was not processed within the timeout of the wait.
    #[error("the request is not finished, last seen: {}", last.as_ref().map_or("nothing", RequestState::as_str))]
    Unfinished {
        /// The last seen state.
        last: Option<RequestState>,
    },
}

impl Error {
    /// The HTTP status code, if there was a response.
    #[must_use]
    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::Invalid { .. } => Some(422),
            Self::Cards { status, .. } | Self::Api { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// The error code; of a list of cards, that of the first.
    #[must_use]
    pub fn code(&self) -> Option<&ErrorCode> {
        match self {
            Self::Api { code, .. } => code.as_ref(),
            Self::Cards { faults, .. } => faults.first().and_then(|fault| fault.code.as_ref()),
            _ => None,
        }
    }

    /// The request id in the service's log.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        match self {
            Self::Invalid { request_id, .. }
            | Self::Cards { request_id, .. }
            | Self::Api { request_id, .. } => request_id.as_deref(),
            _ => None,
        }
    }

    /// The service's `Retry-After`.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Api { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Whether a retry may succeed a moment later. The client has then used up the retries of its
    /// [`RetryPolicy`](crate::RetryPolicy).
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Transport { .. } | Self::Timeout => true,
            Self::Api { status: 408 | 429 | 500 | 502 | 503 | 504, .. } => true,
            Self::Api { code, .. } => matches!(code, Some(ErrorCode::RequestInProgress)),
            _ => false,
        }
    }

    /// Whether the request may have had its effect without a response. Retry it under its key
    /// ([`Write::idempotency_key`](crate::Write::idempotency_key)) to learn its outcome.
    #[must_use]
    pub const fn may_have_happened(&self) -> bool {
        matches!(
            self,
            Self::Transport { sent: true, .. } | Self::Timeout | Self::Api { status: 500 | 502 | 504, .. }
        )
    }
}

impl From<reqwest::Error> for Error {
    fn from(error: reqwest::Error) -> Self {
        let in_clear = error.url().is_some_and(|url| url.scheme() == "http");
        // The URL may hold identifiers.
        let error = error.without_url();
        if error.is_builder() {
            Self::Config(error.to_string())
        } else if error.is_connect() {
            match tls_fault::of(&error) {
                Some(reason) => Self::Tls { reason, source: Box::new(error) },
                None => Self::Transport { sent: false, source: Box::new(error) },
            }
        } else if error.is_timeout() {
            Self::Timeout
        } else if in_clear && tls_fault::is_not_http(&error) {
            Self::Tls { reason: tls_fault::NOT_HTTP.to_owned(), source: Box::new(error) }
        } else {
            Self::Transport { sent: true, source: Box::new(error) }
        }
    }
}

/// A faulty field of a request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FieldFault {
    /// The name of the field; an item of a list is named `cards[3].idCard`.
    pub field: String,
    /// That the value is not correct; always the same text.
    pub message: String,
    /// The reason, for people.
    #[serde(default)]
    pub detail: Option<String>,
}

impl fmt::Display for FieldFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.detail.as_ref().unwrap_or(&self.message))
    }
}

/// A card that prevents a request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardFault {
    /// The reason, for people.
    pub message: String,
    /// The error code.
    #[serde(default)]
    pub code: Option<ErrorCode>,
    /// The card; `None` if the request named it otherwise and there is none.
    #[serde(default)]
    pub id_card: Option<Uuid>,
    /// Its number, if that is how the request named it.
    #[serde(default)]
    pub custom_id_card: Option<String>,
    /// The employee, if that is how the request named the card.
    #[serde(default)]
    pub id_employee: Option<Uuid>,
    /// The employee's `customId`, if that is how the request named the card.
    #[serde(default)]
    pub custom_id: Option<String>,
}

impl CardFault {
    /// How the request named the card.
    #[must_use]
    pub fn card(&self) -> Option<CardRef> {
        let by_employee = self.id_employee.map(CardRef::Employee);
        let by_number = self.custom_id_card.clone().map(CardRef::Number);
        let by_custom_id = self.custom_id.clone().map(CardRef::CustomId);
        by_number.or(by_employee).or(by_custom_id).or(self.id_card.map(CardRef::Id))
    }
}

impl fmt::Display for CardFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.card() {
            Some(card) => write!(f, "{card}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

fn list(faults: &[impl fmt::Display]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
