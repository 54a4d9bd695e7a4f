//! A database that is not on the same machine: a relay to the server's socket that delivers every byte later.

use std::path::PathBuf;
use std::time::Duration;

use actix_web::rt::System;
use kopeck_test_support::{Proxy, Target};
use tokio::signal::unix::{SignalKind, signal};

/// The server and its distance.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The socket of the database server.
    #[arg(long)]
    socket: PathBuf,
    /// The round trip that is added, in microseconds.
    #[arg(long, default_value_t = 500)]
    round_trip: u64,
}

/// Relays until SIGTERM.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let proxy = Proxy::open()?;
    proxy.lead_to(Target::Socket(args.socket.clone()));
    proxy.delay(Duration::from_micros(args.round_trip / 2));
    println!("kopeck-bench relays from http://{}", proxy.address());
    System::new().block_on(async {
        signal(SignalKind::terminate())?.recv().await;
        Ok(())
    })
}
