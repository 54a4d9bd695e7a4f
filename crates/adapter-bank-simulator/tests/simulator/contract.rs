//! The contract that every gateway keeps.

use std::ops::Deref;

use kopeck_adapter_bank_simulator::Simulator;

use crate::bank::Bank;

impl Deref for Bank {
    type Target = Simulator;

    fn deref(&self) -> &Simulator {
        &self.bank
    }
}

kopeck_port_bank::contract_tests!(new_bank);

fn new_bank() -> Bank {
    Bank::new()
}
