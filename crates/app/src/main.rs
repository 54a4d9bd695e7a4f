//! `kopeck`: see `kopeck --help`.

use std::process::ExitCode;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let code = kopeck::run(kopeck::cli::parse()).unwrap_or_else(|error| {
        kopeck::report(&error);
        ExitCode::FAILURE
    });
    kopeck::flush();
    code
}
