#![doc = include_str!("../README.md")]

mod bank;
mod checks;
mod cluster;
mod database;
mod fault_kind;
mod faults;
mod fleet;
mod installation;
mod journal;
mod load;
mod person;
mod process;
mod receiver;
mod run;
mod settings;
mod table;

use std::process::ExitCode;

use clap::Parser as _;
use tokio::signal::unix::{SignalKind, signal};

use crate::settings::Settings;

#[tokio::main]
async fn main() -> ExitCode {
    let settings = Settings::parse();
    // Dropping the run kills its processes.
    let ended = tokio::select! {
        ended = run::run(&settings) => ended,
        stopped = told_to_stop() => stopped,
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("chaos: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn told_to_stop() -> anyhow::Result<bool> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    anyhow::bail!("told to stop")
}
