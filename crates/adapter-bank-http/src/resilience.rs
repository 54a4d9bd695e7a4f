//! Concurrency limit, circuit breaker, retry.

use std::sync::Arc;
use std::time::Duration;

use backon::{BlockingRetryable as _, ExponentialBuilder};
use kopeck_port_system::Clock;
use serde::de::DeserializeOwned;

use crate::circuit_breaker::CircuitBreaker;
use crate::concurrency_limit::ConcurrencyLimit;
use crate::transport::{BankRequest, Transport};
use crate::transport_error::TransportError;

/// Settings of the gateway.
#[derive(Debug, Clone)]
pub struct HttpBankSettings {
    /// Whether the bank carries out an instruction once, however often it is sent under its key. The protocol demands
    /// `true`.
    pub repeat_is_safe: bool,
    /// Concurrency limit, circuit breaker and retries.
    pub resilience: ResilienceSettings,
}

impl Default for HttpBankSettings {
    fn default() -> Self {
        Self { repeat_is_safe: true, resilience: ResilienceSettings::default() }
    }
}

/// Settings of concurrency limit, circuit breaker and retries.
#[derive(Debug, Clone)]
pub struct ResilienceSettings {
    /// The most requests in flight.
    pub in_flight: usize,
    /// The retries of a read.
    pub retries: usize,
    /// The delay before the first retry; it doubles each time, with jitter.
    pub first_delay: Duration,
    /// The failures in a row that open the circuit breaker.
    pub failures: u32,
    /// How long it stays open.
    pub pause: Duration,
}

impl Default for ResilienceSettings {
    /// 64 requests in flight; two retries after 100 ms and 200 ms; 10 failures open the breaker for 5 s.
    fn default() -> Self {
        Self {
            in_flight: 64,
            retries: 2,
            first_delay: Duration::from_millis(100),
            failures: 10,
            pause: Duration::from_secs(5),
        }
    }
}

/// A transport with concurrency limit, circuit breaker and retries.
pub(crate) struct ResilientTransport {
    transport: Transport,
    limit: ConcurrencyLimit,
    breaker: CircuitBreaker,
    backoff: ExponentialBuilder,
}

impl ResilientTransport {
    pub(crate) fn new(transport: Transport, settings: &ResilienceSettings, clock: Arc<dyn Clock>) -> Self {
        let pause = settings.pause.try_into().unwrap_or(time::Duration::MAX);
        let backoff = ExponentialBuilder::new()
            .with_jitter()
            .with_min_delay(settings.first_delay)
            .with_max_times(settings.retries);
        Self {
            transport,
            limit: ConcurrencyLimit::new(settings.in_flight),
            breaker: CircuitBreaker::new(clock, settings.failures, pause),
            backoff,
        }
    }

    /// Sends a request once.
    pub(crate) fn once<T: DeserializeOwned>(&self, request: &BankRequest) -> Result<T, TransportError> {
        let Some(_permit) = self.limit.try_acquire() else {
            return Err(TransportError::NotAttempted("too many calls to the bank are on their way"));
        };
        let Some(attempt) = self.breaker.try_acquire() else {
            return Err(TransportError::NotAttempted("the bank has failed, and is left alone for a while"));
        };
        let answer = self.transport.send(request);
        attempt.finish(!answer.as_ref().is_err_and(TransportError::counts_as_failure));
        answer
    }

    /// Sends a request without effects, and retries it.
    pub(crate) fn read<T: DeserializeOwned>(&self, request: &BankRequest) -> Result<T, TransportError> {
        (|| self.once(request)).retry(self.backoff).when(TransportError::is_retryable).call()
    }
}
