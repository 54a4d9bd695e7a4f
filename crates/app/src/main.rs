//! `kopeck`: see `kopeck --help`.

use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    match kopeck::run(kopeck::cli::Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("kopeck: {error:#}");
            ExitCode::FAILURE
        }
    }
}
