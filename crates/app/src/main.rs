//! `kopeck`: see `kopeck --help`.

use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let code = kopeck::run(kopeck::cli::Cli::parse()).unwrap_or_else(|error| {
        kopeck::report(&error);
        ExitCode::FAILURE
    });
    kopeck::flush();
    code
}
