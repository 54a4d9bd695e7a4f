//! Requests as they are, for a check of a connector.

use reqwest::Method;
use zeroize::Zeroizing;

use crate::address::{BankAddress, ConfigError};
use crate::transport::{BankRequest, Transport};
use crate::transport_error::TransportError;

/// Sends single requests to a bank, valid or not, without concurrency limit, circuit breaker and retries.
pub struct BankProbe {
    transport: Transport,
}

/// A response.
pub struct ProbeResponse {
    /// The status code.
    pub status: u16,
    /// The body.
    pub body: Zeroizing<Vec<u8>>,
}

/// Why there is no response. The texts show nothing of the request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoResponse {
    /// No connection.
    #[error("{0}")]
    NoConnection(String),
    /// The bank took longer than the timeout.
    #[error("no response within {} s", .0.as_secs())]
    Timeout(std::time::Duration),
    /// The connection broke.
    #[error("{0}")]
    Broken(String),
}

impl BankProbe {
    /// The bank at `address`. Sends nothing yet.
    ///
    /// # Errors
    /// [`ConfigError`] for invalid settings.
    pub fn new(address: BankAddress) -> Result<Self, ConfigError> {
        Ok(Self { transport: Transport::new(address)? })
    }

    /// Sends a `GET`.
    ///
    /// # Errors
    /// [`NoResponse`].
    pub fn get(&self, path: &str, query: &[(&'static str, String)]) -> Result<ProbeResponse, NoResponse> {
        self.exchange(&BankRequest::raw(Method::GET, path, query, None))
    }

    /// Sends a `POST`.
    ///
    /// # Errors
    /// [`NoResponse`].
    pub fn post(&self, path: &str, body: &str) -> Result<ProbeResponse, NoResponse> {
        self.exchange(&BankRequest::raw(Method::POST, path, &[], Some(body)))
    }

    fn exchange(&self, request: &BankRequest) -> Result<ProbeResponse, NoResponse> {
        match self.transport.exchange(request) {
            Ok((status, body)) => Ok(ProbeResponse { status, body }),
            Err(TransportError::NotSent(why)) => Err(NoResponse::NoConnection(why)),
            Err(TransportError::Timeout(timeout)) => Err(NoResponse::Timeout(timeout)),
            Err(TransportError::ResponseLost(why)) => Err(NoResponse::Broken(why)),
            Err(TransportError::NotAttempted(why)) => Err(NoResponse::Broken(why.to_owned())),
            Err(TransportError::Rejected { status, .. }) => {
                Err(NoResponse::Broken(format!("status {status}")))
            }
        }
    }
}
