//! Signals, and graceful shutdown.

use std::time::Duration;

use actix_web::dev::Server;
use anyhow::Context;
use kopeck_adapter_http::Drain;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::operations::Health;

/// Runs `server` until `end`, then finishes the accepted requests.
pub(super) async fn serve(server: Server, end: impl Future<Output = ()>) -> anyhow::Result<()> {
    let handle = server.handle();
    let serving = actix_web::rt::spawn(server);
    end.await;
    handle.stop(true).await;
    serving.await.context("the server panicked")??;
    Ok(())
}

/// [`serve`] for a server whose connections are drained.
pub(super) async fn serve_and_drain(
    server: Server,
    drain: &Drain,
    end: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let handle = server.handle();
    let serving = actix_web::rt::spawn(server);
    end.await;
    drain.finish().await;
    tokio::select! {
        () = handle.stop(true) => serving.await.context("the server panicked")??,
        // Only TLS handshakes are left. The server would poll for their end once a second.
        () = drain.closed() => serving.abort(),
    }
    Ok(())
}

/// SIGTERM and SIGINT, which no longer end the process by default.
pub(super) struct TerminationSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl TerminationSignals {
    /// Starts to listen. Call it within a runtime.
    pub(super) fn listen() -> anyhow::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for one of them; an earlier one counts.
    pub(super) async fn recv(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => log::info!("SIGTERM: stopping"),
            _ = self.interrupt.recv() => log::info!("SIGINT: stopping"),
        }
    }

    /// Waits for one of them, reports the process as not ready, and waits for `pause`, so that a load balancer sends
    /// requests elsewhere. A second signal ends the pause.
    pub(super) async fn recv_and_drain(mut self, health: &Health, drain: Option<&Drain>, pause: Duration) {
        self.recv().await;
        health.is_stopping();
        if let Some(drain) = drain {
            drain.start();
        }
        if !pause.is_zero() {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.recv() => {}
            }
        }
    }
}

/// Signals that end a process by default and must not end this one: SIGHUP, which administrators send for a reload and
/// a closing terminal sends, and SIGUSR1 and SIGUSR2, which rotators of logs send.
pub(super) struct IgnoredSignals {
    hangup: Signal,
    user: [Signal; 2],
}

impl IgnoredSignals {
    /// Starts to listen. Call it within a runtime.
    pub(super) fn listen() -> anyhow::Result<Self> {
        let user = [signal(SignalKind::user_defined1())?, signal(SignalKind::user_defined2())?];
        Ok(Self { hangup: signal(SignalKind::hangup())?, user })
    }

    /// Calls `reload` at each SIGHUP, earlier ones included, as long as the runtime runs.
    pub(super) fn handle(self, reload: impl Fn() + 'static) {
        let Self { mut hangup, user: [mut first, mut second] } = self;
        actix_web::rt::spawn(async move {
            loop {
                tokio::select! {
                    _ = hangup.recv() => reload(),
                    _ = first.recv() => log::info!("SIGUSR1: ignored"),
                    _ = second.recv() => log::info!("SIGUSR2: ignored"),
                }
            }
        });
    }
}
