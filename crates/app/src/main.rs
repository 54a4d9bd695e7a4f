//! `kopeck`: see `kopeck --help`.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match kopeck::run(kopeck::cli::Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("kopeck: {error:#}");
            ExitCode::FAILURE
        }
    }
}
