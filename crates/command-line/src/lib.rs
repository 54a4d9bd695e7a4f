#![doc = include_str!("../README.md")]

mod arguments;
mod commands;
mod context;
mod csv_file;
mod examples;
mod exit;
mod export;
mod failure;
mod import;
mod money;
mod names;
mod output;
mod pages;
mod private_file;
mod profile;
mod progress;
mod prompt;
mod requests;
mod system;
mod table;
mod terminal;
mod times;
mod token;

use std::process::ExitCode;

use clap::{Args as _, Command};

pub use commands::args::CallArgs;
pub use money::parse as roubles;
pub use private_file::create as create_private_file;
pub use times::seconds;

/// Runs a command: its output goes to standard output, everything else to standard error.
#[must_use]
pub fn run(args: CallArgs) -> ExitCode {
    let json = args.json;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let answered = match runtime {
        Ok(runtime) => runtime.block_on(until_interrupted(args)),
        Err(error) => Err(failure::Failure::local(format!("no runtime: {error}"))),
    };
    match answered.and_then(|answer| answer.print(json)) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            let failure = failure.naming(|field| {
                let call = CallArgs::augment_args(Command::new("call"));
                arguments::argument_of(field, call, std::env::args_os())
            });
            failure.print(json);
            failure.exit().into()
        }
    }
}

/// Runs a command. What is interrupted within it has more to say, so it comes first.
async fn until_interrupted(args: CallArgs) -> Result<output::Output, failure::Failure> {
    tokio::select! {
        biased;
        answer = commands::run(args) => answer,
        Ok(()) = tokio::signal::ctrl_c() => Err(failure::Failure::interrupted()),
    }
}
