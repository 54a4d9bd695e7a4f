//! Who does something in a run.

mod calls;
mod client;
mod compose;
mod deliverer;
mod keeper;
mod payday;
mod process;
mod terms;

pub(crate) use calls::{ClientView, Command};
pub(crate) use client::Client;
pub(crate) use deliverer::{Deliverer, Endpoint};
pub(crate) use keeper::Keeper;
pub(crate) use payday::Payday;
pub(crate) use process::Process;
