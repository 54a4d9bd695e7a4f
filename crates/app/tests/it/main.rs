//! The service from outside: over HTTP, by its commands, and killed.

mod architecture;
mod commands;
mod kill;
mod process;
mod server;
