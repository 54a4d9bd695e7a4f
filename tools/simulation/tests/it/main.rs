//! Tests of the simulation: hundreds of seeds hold, and it bites.

mod bites;
mod seeds;
