//! What the process tells of itself, on a port of its own: whether it lives, whether it is ready, and figures.

mod bank;
mod health;
mod metrics;
mod server;
mod snapshot;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;

use actix_web::dev::ServerHandle;
use anyhow::Context;

pub use bank::InstrumentedBank;
pub use health::Health;
pub use metrics::{ClockLabel, Metrics};
pub use snapshot::StoreSnapshot;

/// What a process can tell of itself. Everything of it can be measured and asked before anybody listens.
#[derive(Clone)]
pub struct Operations {
    /// Gauges.
    pub metrics: Arc<Metrics>,
    /// Life and readiness.
    pub health: Arc<Health>,
}

/// Tells it over HTTP, on a thread of its own, until it is dropped.
pub struct OperationsServer {
    address: SocketAddr,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
}

impl Operations {
    /// Nothing has happened yet.
    ///
    /// # Errors
    /// If two figures have one name.
    pub fn new() -> anyhow::Result<Self> {
        Ok(Self { metrics: Arc::new(Metrics::new()?), health: Arc::default() })
    }

    /// Tells it to whoever asks at `listen`.
    ///
    /// # Errors
    /// If the address cannot be listened on.
    pub fn serve(&self, listen: SocketAddr) -> anyhow::Result<OperationsServer> {
        let listener = TcpListener::bind(listen).with_context(|| format!("cannot listen on {listen}"))?;
        let address = listener.local_addr()?;
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        let operations = self.clone();
        let tell = move || {
            actix_web::rt::System::new().block_on(async move {
                let server = server::serve(listener, operations);
                let handle = server.as_ref().map(|server| server.handle());
                // Whoever started this thread waits for it.
                let _ = sender.send(handle.map_err(|error| error.to_string()));
                if let Ok(server) = server
                    && let Err(error) = server.await
                {
                    log::error!(error:% = error; "the operations port failed");
                }
            });
        };
        let thread = std::thread::Builder::new().name("operations".to_owned()).spawn(tell)?;
        let handle = receiver.recv().context("the operations thread ended")?.map_err(anyhow::Error::msg)?;
        log::info!(address:% = address; "operations endpoint listening");
        Ok(OperationsServer { address, handle, thread: Some(thread) })
    }
}

impl OperationsServer {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for OperationsServer {
    fn drop(&mut self) {
        // `stop` answers by a future that need not be waited for: the thread ends with the server.
        drop(self.handle.stop(false));
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::error!("the operations thread panicked");
        }
    }
}
