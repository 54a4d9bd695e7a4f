//! Control of a simulator across the network, for the sandbox.

use std::time::Duration;

use kopeck_bank_protocol::ErrorCode;
use kopeck_bank_protocol::simulator::{
    ADVANCE, ActivateRequest, AdvanceRequest, BEHAVIOUR, BehaviourDto, CARDS, CLOCK, ClockResponse, Empty,
    PurchaseRequest, PurchaseResponse, RefundRequest, RefundResponse,
};
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::BankError;
use kopeck_port_bank::sandbox::{
    BankFaults, CommandKey, Purchase, PurchaseOutcome, Refund, SandboxClock, SandboxControl, SandboxError,
};
use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::address::{BankAddress, ConfigError};
use crate::transport::{BankRequest, Transport};
use crate::transport_error::TransportError;

/// Controls a simulator across the network. All functions block. They bypass concurrency limit and circuit breaker,
/// because they end the injected faults that these react to.
pub struct SimulatorControl {
    transport: Transport,
}

impl SimulatorControl {
    /// The simulator at `address`. Sends nothing yet.
    ///
    /// # Errors
    /// [`ConfigError`] for an invalid address.
    pub fn new(address: BankAddress) -> Result<Self, ConfigError> {
        Ok(Self { transport: Transport::new(address)? })
    }

    fn on_card<T: DeserializeOwned>(
        &self,
        card: CardNumber,
        command: &str,
        request: &impl Serialize,
    ) -> Result<T, SandboxError> {
        self.call(BankRequest::with_body(Method::POST, format!("{CARDS}/{card}/{command}"), request))
    }

    fn call<T: DeserializeOwned>(
        &self,
        call: Result<BankRequest, TransportError>,
    ) -> Result<T, SandboxError> {
        call.and_then(|call| self.transport.send(&call)).map_err(sandbox_error)
    }
}

impl SandboxControl for SimulatorControl {
    fn purchase(&self, card: CardNumber, purchase: &Purchase) -> Result<PurchaseOutcome, SandboxError> {
        let request = PurchaseRequest::from(purchase.clone());
        self.on_card::<PurchaseResponse>(card, "purchase", &request).map(PurchaseOutcome::from)
    }

    fn refund(&self, card: CardNumber, refund: &Refund) -> Result<i64, SandboxError> {
        let request = RefundRequest::from(refund.clone());
        self.on_card::<RefundResponse>(card, "refund", &request).map(|refund| refund.transaction)
    }

    fn block(&self, card: CardNumber) -> Result<(), SandboxError> {
        self.on_card::<Empty>(card, "block", &Empty {}).map(drop)
    }

    fn unblock(&self, card: CardNumber) -> Result<(), SandboxError> {
        self.on_card::<Empty>(card, "unblock", &Empty {}).map(drop)
    }

    fn expire(&self, card: CardNumber) -> Result<(), SandboxError> {
        self.on_card::<Empty>(card, "expire", &Empty {}).map(drop)
    }

    fn activate(&self, card: CardNumber, code: Option<&str>) -> Result<(), SandboxError> {
        let request = ActivateRequest { code: code.map(str::to_owned) };
        self.on_card::<Empty>(card, "activate", &request).map(drop)
    }

    fn inject_faults(&self, faults: BankFaults) -> Result<(), SandboxError> {
        let behaviour = BehaviourDto::from(faults);
        self.call::<Empty>(BankRequest::with_body(Method::PUT, BEHAVIOUR, &behaviour)).map(drop)
    }
}

/// The clock of the simulator.
impl SandboxClock for SimulatorControl {
    fn offset_micros(&self) -> Result<i64, SandboxError> {
        self.call::<ClockResponse>(Ok(BankRequest::get(CLOCK))).map(|clock| clock.offset_micros)
    }

    fn advance(&self, by: Duration, key: &CommandKey) -> Result<i64, SandboxError> {
        let request = AdvanceRequest { seconds: by.as_secs(), once: key.clone().into() };
        let moved = self.call::<ClockResponse>(BankRequest::with_body(Method::POST, ADVANCE, &request));
        moved.map(|clock| clock.offset_micros)
    }
}

/// A refusal of this client's request is a fault of configuration or of this program, which no retry mends.
fn sandbox_error(failure: TransportError) -> SandboxError {
    let TransportError::Rejected { status, body } = failure else {
        return SandboxError::Unreachable(BankError::from(failure).to_string());
    };
    let refused = || SandboxError::NotASimulator(format!("status {status}"));
    let Some(body) = body else { return refused() };
    match (body.code, body.left) {
        (ErrorCode::UnknownCard, _) => SandboxError::UnknownCard,
        (ErrorCode::UnknownPayment, _) => SandboxError::UnknownPayment,
        (ErrorCode::OverPayment, Some(left)) => SandboxError::OverPayment(left),
        (ErrorCode::WrongCode, _) => SandboxError::WrongCode,
        (ErrorCode::CodeExpired, _) => SandboxError::CodeExpired,
        (ErrorCode::ClockTooFar, _) => SandboxError::ClockTooFar,
        _ => refused(),
    }
}
