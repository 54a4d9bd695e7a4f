//! The sandbox's power over a simulator across the network.

use std::sync::Arc;
use std::time::Duration;

use kopeck_adapter_bank_http::{ControlError, SimulatorControl};
use kopeck_adapter_http::{
    CommandKey, PurchaseOutcome, SandboxControl, SandboxFaults, SandboxPurchase, SandboxRefusal,
};
use kopeck_bank_protocol::simulator::{
    AdvanceRequest, BehaviourDto, IdempotencyKeyDto, PurchaseRequest, PurchaseResponse, RefundRequest,
};
use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;

use crate::clock::ServiceClock;

/// Lets the HTTP API act on a simulator in another process. What is done once under its key is so there: a call whose
/// answer got lost fails here, and finds what was done when it comes again.
pub struct RemotePower {
    /// The simulator.
    pub control: Arc<SimulatorControl>,
    /// The service's clock, which follows the simulator's.
    pub clock: Arc<ServiceClock>,
}

impl SandboxControl for RemotePower {
    fn purchase(
        &self,
        card: CardNumber,
        purchase: &SandboxPurchase,
        key: &CommandKey,
    ) -> Result<PurchaseOutcome, SandboxRefusal> {
        let SandboxPurchase { amount, place, mcc, merchant_id, at } = purchase.clone();
        let request = PurchaseRequest { amount, place, mcc, merchant_id, at, once: Some(once(key)) };
        Ok(match self.control.purchase(card, &request).map_err(refusal)? {
            PurchaseResponse::Approved { transaction } => PurchaseOutcome::Approved(transaction),
            PurchaseResponse::Refused { reason } => PurchaseOutcome::Declined(reason.into()),
        })
    }

    fn refund(
        &self,
        card: CardNumber,
        transaction: i64,
        amount: Kopecks,
        key: &CommandKey,
    ) -> Result<i64, SandboxRefusal> {
        let request = RefundRequest { payment: transaction, amount, once: Some(once(key)) };
        self.control.refund(card, &request).map(|answer| answer.transaction).map_err(refusal)
    }

    fn block(&self, card: CardNumber) -> Result<(), SandboxRefusal> {
        self.control.block(card).map_err(refusal)
    }

    fn unblock(&self, card: CardNumber) -> Result<(), SandboxRefusal> {
        self.control.unblock(card).map_err(refusal)
    }

    fn expire(&self, card: CardNumber) -> Result<(), SandboxRefusal> {
        self.control.expire(card).map_err(refusal)
    }

    fn activate(&self, card: CardNumber, code: Option<&str>) -> Result<(), SandboxRefusal> {
        self.control.activate(card, code).map_err(refusal)
    }

    fn inject_faults(&self, faults: SandboxFaults) -> Result<(), SandboxRefusal> {
        let SandboxFaults { latency, error_rate, lose_answer_rate, duplicate_rate, down } = faults;
        let latency_ms = u64::try_from(latency.as_millis()).unwrap_or(u64::MAX);
        let behaviour = BehaviourDto { latency_ms, error_rate, lose_answer_rate, duplicate_rate, down };
        self.control.set_behaviour(&behaviour).map_err(refusal)
    }

    /// The simulator's clock moves, and the service's goes with it at once.
    fn advance_clock(&self, by: Duration, key: &CommandKey) -> Result<(), SandboxRefusal> {
        let request = AdvanceRequest { seconds: by.as_secs(), once: once(key) };
        let answer = self.control.advance(&request).map_err(refusal)?;
        self.clock.follow(answer.offset_micros).map_err(|error| SandboxRefusal::Failed(error.to_string()))
    }
}

fn once(key: &CommandKey) -> IdempotencyKeyDto {
    IdempotencyKeyDto { key: key.text.clone(), since: key.since }
}

fn refusal(error: ControlError) -> SandboxRefusal {
    match error {
        ControlError::UnknownCard => SandboxRefusal::UnknownCard,
        ControlError::UnknownPayment => SandboxRefusal::UnknownPayment,
        ControlError::OverPayment(left) => SandboxRefusal::OverPayment(left),
        ControlError::WrongCode => SandboxRefusal::WrongCode,
        ControlError::CodeExpired => SandboxRefusal::CodeExpired,
        ControlError::ClockTooFar => SandboxRefusal::ClockTooFar,
        ControlError::Refused(_) => SandboxRefusal::Failed(error.to_string()),
        ControlError::Failed(reason) => SandboxRefusal::Unreachable(reason),
    }
}
