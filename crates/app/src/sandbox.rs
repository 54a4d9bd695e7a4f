//! The sandbox's power over the simulator.

use std::sync::Arc;

use kopeck_adapter_bank_simulator::{SandboxError, Simulator};
use kopeck_adapter_http::{SandboxPower, SandboxRefusal};
use kopeck_domain::card_number::CardNumber;

/// Lets the HTTP API act on the simulator; the two adapters do not know each other.
pub struct SimulatorPower(pub Arc<Simulator>);

impl SandboxPower for SimulatorPower {
    fn block(&self, card: CardNumber) -> Result<(), SandboxRefusal> {
        self.0.block(card).map_err(refusal)
    }

    fn unblock(&self, card: CardNumber) -> Result<(), SandboxRefusal> {
        self.0.unblock(card).map_err(refusal)
    }

    fn expire(&self, card: CardNumber) -> Result<(), SandboxRefusal> {
        self.0.expire(card).map_err(refusal)
    }

    fn activate(&self, card: CardNumber, code: Option<&str>) -> Result<(), SandboxRefusal> {
        self.0.activate(card, code).map_err(refusal)
    }
}

fn refusal(error: SandboxError) -> SandboxRefusal {
    match error {
        SandboxError::UnknownCard => SandboxRefusal::UnknownCard,
        SandboxError::WrongCode | SandboxError::CodeExpired => SandboxRefusal::WrongCode,
        SandboxError::UnknownPayment
        | SandboxError::Amount
        | SandboxError::OverPayment { .. }
        | SandboxError::Books(_) => SandboxRefusal::Failed(error.to_string()),
    }
}
