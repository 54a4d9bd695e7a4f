//! Serving until the process is told to stop.

use std::time::Duration;

use actix_web::dev::Server;
use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};

use crate::operations::Health;

/// Lets `server` serve until `end`; then what was accepted is answered.
pub(super) async fn serve(
    server: Server,
    end: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<()> {
    let handle = server.handle();
    let serving = actix_web::rt::spawn(server);
    end.await?;
    handle.stop(true).await;
    serving.await.context("the server panicked")??;
    Ok(())
}

/// Waits for SIGTERM or SIGINT, tells whoever asks for the health that the end is near, and leaves them the time of
/// `pause` to send their calls elsewhere. A second signal ends that.
pub(super) async fn told_and_known(health: &Health, pause: Duration) -> anyhow::Result<()> {
    told().await?;
    health.is_stopping();
    if pause.is_zero() {
        return Ok(());
    }
    tokio::select! {
        () = tokio::time::sleep(pause) => Ok(()),
        again = told() => again,
    }
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
