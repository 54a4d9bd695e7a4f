//! Tests of the simulation: thousands of seeds hold, and it bites.

mod bites;
mod seeds;
