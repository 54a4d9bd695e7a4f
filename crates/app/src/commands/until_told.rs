//! Serving until the process is told to stop.

use actix_web::dev::Server;
use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};

/// Lets `server` serve until SIGTERM or SIGINT; then what was accepted is answered.
pub(super) async fn serve(server: Server) -> anyhow::Result<()> {
    let handle = server.handle();
    let serving = actix_web::rt::spawn(server);
    told().await?;
    handle.stop(true).await;
    serving.await.context("the server panicked")??;
    Ok(())
}

/// Waits for SIGTERM or SIGINT.
pub(super) async fn told() -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => log::info!("SIGTERM: stopping"),
        _ = interrupt.recv() => log::info!("SIGINT: stopping"),
    }
    Ok(())
}
