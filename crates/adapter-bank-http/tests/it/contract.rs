//! The contract that every gateway keeps, across the network.

use crate::test_bank::TestBank;

kopeck_port_bank::contract_tests!(new_bench);

fn new_bench() -> TestBank {
    TestBank::new()
}
