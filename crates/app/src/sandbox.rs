//! The sandbox's power over the simulator and the clock.

use std::sync::Arc;
use std::time::Duration;

use kopeck_adapter_bank_simulator::{
    Behaviour, CommandRetry, Purchase, PurchaseDecision, Refund, SandboxError, Simulator,
};
use kopeck_adapter_http::{
    CommandKey, PurchaseOutcome, SandboxControl, SandboxFaults, SandboxPurchase, SandboxRefusal,
};
use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;

use crate::clock::{MoveError, ServiceClock};

/// Lets the HTTP API act on the simulator; the two adapters do not know each other.
pub struct SimulatorPower {
    /// The bank.
    pub bank: Arc<Simulator>,
    /// The service's clock, which is the bank's too.
    pub clock: Arc<ServiceClock>,
}

impl SandboxControl for SimulatorPower {
    fn purchase(
        &self,
        card: CardNumber,
        purchase: &SandboxPurchase,
        key: &CommandKey,
    ) -> Result<PurchaseOutcome, SandboxRefusal> {
        let SandboxPurchase { amount, place, mcc, merchant_id, at } = purchase;
        let purchase = Purchase {
            amount: *amount,
            place: place.as_deref(),
            mcc: mcc.as_deref(),
            merchant_id: merchant_id.as_deref(),
            at: *at,
            once: Some(once(key)),
        };
        Ok(match self.bank.purchase(card, &purchase).map_err(refusal)? {
            PurchaseDecision::Approved { transaction } => PurchaseOutcome::Approved(transaction),
            PurchaseDecision::Refused(refusal) => PurchaseOutcome::Declined(refusal),
        })
    }

    fn refund(
        &self,
        card: CardNumber,
        transaction: i64,
        amount: Kopecks,
        key: &CommandKey,
    ) -> Result<i64, SandboxRefusal> {
        let refund = Refund { payment: transaction, amount, once: Some(once(key)) };
        self.bank.refund(card, &refund).map_err(refusal)
    }

    fn block(&self, card: CardNumber) -> Result<(), SandboxRefusal> {
        self.bank.block(card).map_err(refusal)
    }

    fn unblock(&self, card: CardNumber) -> Result<(), SandboxRefusal> {
        self.bank.unblock(card).map_err(refusal)
    }

    fn expire(&self, card: CardNumber) -> Result<(), SandboxRefusal> {
        self.bank.expire(card).map_err(refusal)
    }

    fn activate(&self, card: CardNumber, code: Option<&str>) -> Result<(), SandboxRefusal> {
        self.bank.activate(card, code).map_err(refusal)
    }

    fn inject_faults(&self, faults: SandboxFaults) -> Result<(), SandboxRefusal> {
        let SandboxFaults { latency, error_rate, lose_answer_rate, duplicate_rate, down } = faults;
        let latency_ms = u64::try_from(latency.as_millis()).unwrap_or(u64::MAX);
        let behaviour = Behaviour { latency_ms, error_rate, lose_answer_rate, duplicate_rate, down };
        self.bank.set_behaviour(behaviour).map_err(|error| SandboxRefusal::Rate(error.0))
    }

    fn advance_clock(&self, by: Duration, key: &CommandKey) -> Result<(), SandboxRefusal> {
        self.clock.advance(by, &key.text, key.since).map_err(|error| match error {
            MoveError::TooFar => SandboxRefusal::ClockTooFar,
            MoveError::File(_) => SandboxRefusal::Failed(error.to_string()),
        })
    }
}

fn once(key: &CommandKey) -> CommandRetry<'_> {
    CommandRetry { key: &key.text, since: key.since }
}

fn refusal(error: SandboxError) -> SandboxRefusal {
    match error {
        SandboxError::UnknownCard => SandboxRefusal::UnknownCard,
        SandboxError::UnknownPayment => SandboxRefusal::UnknownPayment,
        SandboxError::OverPayment { left } => SandboxRefusal::OverPayment(left),
        SandboxError::WrongCode => SandboxRefusal::WrongCode,
        SandboxError::CodeExpired => SandboxRefusal::CodeExpired,
        SandboxError::Amount | SandboxError::Database(_) => SandboxRefusal::Failed(error.to_string()),
    }
}
