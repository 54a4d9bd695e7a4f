//! Measures a running service as its partners meet it. `scripts/bench-waiting` starts one for it.
//!
//! Secrets come by the environment, never by the command line, which others can read:
//!
//! | variable | what it is |
//! |---|---|
//! | `KOPECK_BENCH_URL` | the service, such as `http://127.0.0.1:8080` |
//! | `KOPECK_BENCH_BUSY` | what `kopeck partner create --json` printed for the partner with much to do |
//! | `KOPECK_BENCH_QUIET` | the same for the partner with little to do |

mod partner;
mod waiting;

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    match waiting::run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the measurement could not go on: {error:#}");
            ExitCode::FAILURE
        }
    }
}
