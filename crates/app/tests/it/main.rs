//! The service from outside: over HTTP, by its commands, and killed.

#![expect(unreachable_pub, reason = "a test binary has no outside")]

mod architecture;
mod commands;
mod kill;
mod process;
mod server;
