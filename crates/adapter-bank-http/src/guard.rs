//! What stands between the gateway and the wire: the bound, the rest, the second try.

use std::sync::Arc;
use std::time::Duration;

use backon::{BlockingRetryable as _, ExponentialBuilder};
use kopeck_port_system::Clock;
use serde::de::DeserializeOwned;

use crate::breaker::Breaker;
use crate::failure::Failure;
use crate::gate::Gate;
use crate::transport::{Call, Transport};

/// How a gateway behaves.
#[derive(Debug, Clone)]
pub struct HttpBankSettings {
    /// Whether the bank does an instruction once however often it is sent under its key. `true` is what the protocol
    /// demands.
    pub repeat_is_safe: bool,
    /// How it holds back.
    pub guard: GuardSettings,
}

impl Default for HttpBankSettings {
    fn default() -> Self {
        Self { repeat_is_safe: true, guard: GuardSettings::default() }
    }
}

/// How a gateway holds back, and when it tries again.
#[derive(Debug, Clone)]
pub struct GuardSettings {
    /// The most calls that are on their way at once.
    pub in_flight: usize,
    /// How often a read is tried again.
    pub retries: usize,
    /// How long before the first of these; it doubles from one to the next, with a random part.
    pub first_delay: Duration,
    /// After how many failures in a row no call is made for a while.
    pub failures: u32,
    /// How long that is.
    pub pause: Duration,
}

impl Default for GuardSettings {
    /// 64 calls at once, two retries 100 ms and 200 ms apart, a rest of 5 s after 10 failures.
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

/// A transport that holds back.
pub(crate) struct Guard {
    transport: Transport,
    gate: Gate,
    breaker: Breaker,
    backoff: ExponentialBuilder,
}

impl Guard {
    pub(crate) fn new(transport: Transport, settings: &GuardSettings, clock: Arc<dyn Clock>) -> Self {
        let pause = settings.pause.try_into().unwrap_or(time::Duration::MAX);
        let backoff = ExponentialBuilder::new()
            .with_jitter()
            .with_min_delay(settings.first_delay)
            .with_max_times(settings.retries);
        Self {
            transport,
            gate: Gate::new(settings.in_flight),
            breaker: Breaker::new(clock, settings.failures, pause),
            backoff,
        }
    }

    /// Makes a call once.
    pub(crate) fn once<T: DeserializeOwned>(&self, call: &Call) -> Result<T, Failure> {
        let Some(_permit) = self.gate.enter() else {
            return Err(Failure::Barred("too many calls to the bank are on their way"));
        };
        let Some(leave) = self.breaker.enter() else {
            return Err(Failure::Barred("the bank has failed, and is left alone for a while"));
        };
        let answer = self.transport.send(call);
        leave.end(!answer.as_ref().is_err_and(Failure::is_trouble));
        answer
    }

    /// Makes a call that has no effect, and makes it again if it fails.
    pub(crate) fn read<T: DeserializeOwned>(&self, call: &Call) -> Result<T, Failure> {
        (|| self.once(call)).retry(self.backoff).when(Failure::may_pass).call()
    }
}
