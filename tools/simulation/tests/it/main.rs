//! Tests of the simulation: its store keeps the contract, thousands of seeds hold, and it bites.

mod bites;
mod contract;
mod seeds;
