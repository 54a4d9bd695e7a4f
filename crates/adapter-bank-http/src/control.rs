//! Control of a simulator across the network, for the sandbox.

use std::fmt::Display;

use kopeck_bank_protocol::ErrorCode;
use kopeck_bank_protocol::simulator::{
    ADVANCE, ActivateRequest, AdvanceRequest, BEHAVIOUR, BehaviourDto, CARDS, CLOCK, ClockResponse, Empty,
    PurchaseRequest, PurchaseResponse, RefundRequest, RefundResponse,
};
use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::BankError;
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

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    /// The bank has no such card.
    #[error("the simulator has no such card")]
    UnknownCard,
    /// The card has no such payment.
    #[error("the card has no such payment")]
    UnknownPayment,
    /// More than the refundable rest of the payment.
    #[error("only {0} of the payment can still be refunded")]
    OverPayment(Kopecks),
    /// Not the card's activation code.
    #[error("the activation code is wrong")]
    WrongCode,
    /// The card's code, after its last day.
    #[error("the activation code has expired")]
    CodeExpired,
    /// Beyond the range of the clock.
    #[error("the clock does not go that far")]
    ClockTooFar,
    /// The bank refused the request: it is no simulator, or the secret is wrong. With the status code.
    #[error("the bank refused the call: {0}")]
    Refused(u16),
    /// No usable response. A request with a key can be sent again.
    #[error("the simulator failed: {0}")]
    Failed(String),
}

impl SimulatorControl {
    /// The simulator at `address`. Sends nothing yet.
    ///
    /// # Errors
    /// [`ConfigError`] for an invalid address.
    pub fn new(address: BankAddress) -> Result<Self, ConfigError> {
        Ok(Self { transport: Transport::new(address)? })
    }

    /// Makes a purchase with a card.
    ///
    /// # Errors
    /// [`ControlError`].
    pub fn purchase(
        &self,
        card: CardNumber,
        request: &PurchaseRequest,
    ) -> Result<PurchaseResponse, ControlError> {
        self.on_card(card, "purchase", request)
    }

    /// Refunds all or part of a payment.
    ///
    /// # Errors
    /// [`ControlError`].
    pub fn refund(&self, card: CardNumber, request: &RefundRequest) -> Result<RefundResponse, ControlError> {
        self.on_card(card, "refund", request)
    }

    /// Activates a card, by its code or by the bank itself.
    ///
    /// # Errors
    /// [`ControlError`].
    pub fn activate(&self, card: CardNumber, code: Option<&str>) -> Result<(), ControlError> {
        let request = ActivateRequest { code: code.map(str::to_owned) };
        self.on_card::<Empty>(card, "activate", &request).map(drop)
    }

    /// Blocks a card.
    ///
    /// # Errors
    /// [`ControlError`].
    pub fn block(&self, card: CardNumber) -> Result<(), ControlError> {
        self.on_card::<Empty>(card, "block", &Empty {}).map(drop)
    }

    /// Lifts the block of a card.
    ///
    /// # Errors
    /// [`ControlError`].
    pub fn unblock(&self, card: CardNumber) -> Result<(), ControlError> {
        self.on_card::<Empty>(card, "unblock", &Empty {}).map(drop)
    }

    /// Makes a card expire.
    ///
    /// # Errors
    /// [`ControlError`].
    pub fn expire(&self, card: CardNumber) -> Result<(), ControlError> {
        self.on_card::<Empty>(card, "expire", &Empty {}).map(drop)
    }

    /// Sets the bank's faults. Rates have to be probabilities.
    ///
    /// # Errors
    /// [`ControlError`].
    pub fn set_behaviour(&self, behaviour: &BehaviourDto) -> Result<(), ControlError> {
        self.call::<Empty>(BankRequest::with_body(Method::PUT, BEHAVIOUR, behaviour)).map(drop)
    }

    /// The offset of the simulator's clock.
    ///
    /// # Errors
    /// [`ControlError`].
    pub fn clock(&self) -> Result<ClockResponse, ControlError> {
        self.call(Ok(BankRequest::get(CLOCK)))
    }

    /// Moves the simulator's clock forward.
    ///
    /// # Errors
    /// [`ControlError`].
    pub fn advance(&self, request: &AdvanceRequest) -> Result<ClockResponse, ControlError> {
        self.call(BankRequest::with_body(Method::POST, ADVANCE, request))
    }

    fn on_card<T: DeserializeOwned>(
        &self,
        card: CardNumber,
        what: impl Display,
        request: &impl Serialize,
    ) -> Result<T, ControlError> {
        self.call(BankRequest::with_body(Method::POST, format!("{CARDS}/{card}/{what}"), request))
    }

    fn call<T: DeserializeOwned>(
        &self,
        call: Result<BankRequest, TransportError>,
    ) -> Result<T, ControlError> {
        call.and_then(|call| self.transport.send(&call)).map_err(ControlError::from)
    }
}

impl From<TransportError> for ControlError {
    fn from(failure: TransportError) -> Self {
        let TransportError::Rejected { status, body } = failure else {
            return Self::Failed(BankError::from(failure).to_string());
        };
        let Some(body) = body else { return Self::Refused(status) };
        match (body.code, body.left) {
            (ErrorCode::UnknownCard, _) => Self::UnknownCard,
            (ErrorCode::UnknownPayment, _) => Self::UnknownPayment,
            (ErrorCode::OverPayment, Some(left)) => Self::OverPayment(left),
            (ErrorCode::WrongCode, _) => Self::WrongCode,
            (ErrorCode::CodeExpired, _) => Self::CodeExpired,
            (ErrorCode::ClockTooFar, _) => Self::ClockTooFar,
            _ => Self::Refused(status),
        }
    }
}
