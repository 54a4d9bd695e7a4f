//! When each fault strikes, and how it is done.

mod carry_out;
mod schedule;

pub(crate) use carry_out::carry_out;
pub(crate) use schedule::{PlannedFault, Scene, plan};
