//! Serving until the process is told to stop.

use std::time::Duration;

use actix_web::dev::Server;
use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::operations::Health;

/// Lets `server` serve until `end`; then what was accepted is answered.
pub(super) async fn serve(server: Server, end: impl Future<Output = ()>) -> anyhow::Result<()> {
    let handle = server.handle();
    let serving = actix_web::rt::spawn(server);
    end.await;
    handle.stop(true).await;
    serving.await.context("the server panicked")??;
    Ok(())
}

/// SIGTERM and SIGINT, which do not end the process any more once this is there.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Listens from now on. Has to be called within a runtime.
    pub(super) fn listen() -> anyhow::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for one of them; one that came before counts.
    pub(super) async fn told(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => log::info!("SIGTERM: stopping"),
            _ = self.interrupt.recv() => log::info!("SIGINT: stopping"),
        }
    }

    /// Waits for one of them, tells whoever asks for the health that the end is near, and leaves them the time of `pause`
    /// to send their calls elsewhere. A second signal ends that.
    pub(super) async fn told_and_known(mut self, health: &Health, pause: Duration) {
        self.told().await;
        health.is_stopping();
        if !pause.is_zero() {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.told() => {}
            }
        }
    }
}
