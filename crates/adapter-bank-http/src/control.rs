//! The calls by which a sandbox rules a simulator across the network.

use std::fmt::Display;

use kopeck_bank_protocol::ErrorCode;
use kopeck_bank_protocol::simulator::{
    ADVANCE, ActivateRequest, AdvanceRequest, BEHAVIOUR, BehaviourDto, CARDS, CLOCK, ClockAnswer, Empty,
    PurchaseAnswer, PurchaseRequest, RefundAnswer, RefundRequest,
};
use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::BankError;
use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::address::{BankAddress, ConfigError};
use crate::failure::Failure;
use crate::transport::{Call, Transport};

/// Power over a simulator across the network. Calls block. They go past the bound and the rest of the gateway: they are
/// what ends the misbehaviour that these answer.
pub struct SimulatorControl {
    transport: Transport,
}

/// Why the simulator did not do as told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    /// The bank has no such card.
    #[error("the simulator has no such card")]
    UnknownCard,
    /// The card has no such payment.
    #[error("the card has no such payment")]
    UnknownPayment,
    /// More than is left of the payment.
    #[error("only {0} of the payment can still be refunded")]
    OverPayment(Kopecks),
    /// Not the card's activation code.
    #[error("the activation code is wrong")]
    WrongCode,
    /// The card's code, but after its last day.
    #[error("the activation code has expired")]
    CodeExpired,
    /// Further than the clock goes.
    #[error("the clock does not go that far")]
    ClockTooFar,
    /// The bank took no such call: it is no simulator, or it was shown the wrong secret. With the HTTP status.
    #[error("the bank refused the call: {0}")]
    Refused(u16),
    /// No answer, or one that says something else. A call under a key can be made again.
    #[error("the simulator failed: {0}")]
    Failed(String),
}

impl SimulatorControl {
    /// The simulator at `address`. Nothing is sent yet.
    ///
    /// # Errors
    /// [`ConfigError`] if no call can be made with this address.
    pub fn new(address: BankAddress) -> Result<Self, ConfigError> {
        Ok(Self { transport: Transport::new(address)? })
    }

    /// Buys something with a card.
    ///
    /// # Errors
    /// [`ControlError`].
    pub fn purchase(
        &self,
        card: CardNumber,
        request: &PurchaseRequest,
    ) -> Result<PurchaseAnswer, ControlError> {
        self.on_card(card, "purchase", request)
    }

    /// Gives all or part of a payment back.
    ///
    /// # Errors
    /// [`ControlError`].
    pub fn refund(&self, card: CardNumber, request: &RefundRequest) -> Result<RefundAnswer, ControlError> {
        self.on_card(card, "refund", request)
    }

    /// Activates a card, by its code or by the bank's own hand.
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

    /// Ends the block of a card.
    ///
    /// # Errors
    /// [`ControlError`].
    pub fn unblock(&self, card: CardNumber) -> Result<(), ControlError> {
        self.on_card::<Empty>(card, "unblock", &Empty {}).map(drop)
    }

    /// Lets a card expire.
    ///
    /// # Errors
    /// [`ControlError`].
    pub fn expire(&self, card: CardNumber) -> Result<(), ControlError> {
        self.on_card::<Empty>(card, "expire", &Empty {}).map(drop)
    }

    /// Decides how the bank misbehaves from now on. Rates have to be probabilities.
    ///
    /// # Errors
    /// [`ControlError`].
    pub fn behave(&self, behaviour: &BehaviourDto) -> Result<(), ControlError> {
        self.call::<Empty>(Call::with_body(Method::PUT, BEHAVIOUR, behaviour)).map(drop)
    }

    /// How far the simulator's clock was moved.
    ///
    /// # Errors
    /// [`ControlError`].
    pub fn clock(&self) -> Result<ClockAnswer, ControlError> {
        self.call(Ok(Call::get(CLOCK)))
    }

    /// Moves the simulator's clock forward.
    ///
    /// # Errors
    /// [`ControlError`].
    pub fn advance(&self, request: &AdvanceRequest) -> Result<ClockAnswer, ControlError> {
        self.call(Call::with_body(Method::POST, ADVANCE, request))
    }

    fn on_card<T: DeserializeOwned>(
        &self,
        card: CardNumber,
        what: impl Display,
        request: &impl Serialize,
    ) -> Result<T, ControlError> {
        self.call(Call::with_body(Method::POST, format!("{CARDS}/{card}/{what}"), request))
    }

    fn call<T: DeserializeOwned>(&self, call: Result<Call, Failure>) -> Result<T, ControlError> {
        call.and_then(|call| self.transport.send(&call)).map_err(ControlError::from)
    }
}

impl From<Failure> for ControlError {
    fn from(failure: Failure) -> Self {
        let Failure::Refused { status, body } = failure else {
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
