//! The contract that every gateway keeps, across the network.

use crate::bench::Bench;

kopeck_port_bank::contract_tests!(new_bench);

fn new_bench() -> Bench {
    Bench::new()
}
