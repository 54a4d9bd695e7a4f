//! Liveness, readiness and metrics, on a separate port.

mod bank;
mod capabilities;
mod health;
mod metrics;
mod server;
mod snapshot;
mod status;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;

use actix_web::dev::ServerHandle;
use anyhow::Context;
use kopeck_adapter_workers::PeriodicCheck;
use kopeck_port_bank::BankGateway;
use rustls::ServerConfig;

pub use bank::InstrumentedBank;
pub use health::Health;
pub use metrics::{ClockLabel, Metrics};
pub use snapshot::StoreSnapshot;
pub use status::ProcessStatus;

/// Metrics and health of the process. Both work before the port is open.
#[derive(Clone)]
pub struct Operations {
    /// The metrics.
    pub metrics: Arc<Metrics>,
    /// The health.
    pub health: Arc<Health>,
}

/// Serves them over HTTP, on a separate thread, until it is dropped.
pub struct OperationsServer {
    address: SocketAddr,
    is_https: bool,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
}

impl Operations {
    /// All counters at zero.
    ///
    /// # Errors
    /// If two metrics have one name.
    pub fn new() -> anyhow::Result<Self> {
        Ok(Self { metrics: Arc::new(Metrics::new()?), health: Arc::default() })
    }

    /// The bank with metrics, whose capabilities are followed until the check is dropped.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn observe_bank(
        &self,
        bank: &Arc<dyn BankGateway>,
    ) -> anyhow::Result<(Arc<dyn BankGateway>, PeriodicCheck)> {
        let bank: Arc<dyn BankGateway> =
            Arc::new(InstrumentedBank::new(Arc::clone(bank), Arc::clone(&self.metrics)));
        self.health.bank_is_set(&bank);
        let capabilities = capabilities::follow(Arc::clone(&bank))?;
        Ok((bank, capabilities))
    }

    /// Serves them at `listen`, by HTTPS with `tls`.
    ///
    /// # Errors
    /// If the address cannot be listened on.
    pub fn serve(&self, listen: SocketAddr, tls: Option<ServerConfig>) -> anyhow::Result<OperationsServer> {
        let is_https = tls.is_some();
        let listener = TcpListener::bind(listen).with_context(|| format!("cannot listen on {listen}"))?;
        let address = listener.local_addr()?;
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        let operations = self.clone();
        let serve = move || {
            actix_web::rt::System::new().block_on(async move {
                let server = server::serve(listener, operations, tls);
                let handle = server.as_ref().map(|server| server.handle());
                // The thread that started this one waits for it.
                let _ = sender.send(handle.map_err(|error| error.to_string()));
                if let Ok(server) = server
                    && let Err(error) = server.await
                {
                    log::error!(error:% = error; "the operations port failed");
                }
            });
        };
        let thread = std::thread::Builder::new().name("operations".to_owned()).spawn(serve)?;
        let handle = receiver.recv().context("the operations thread ended")?.map_err(anyhow::Error::msg)?;
        log::info!(address:% = address; "operations endpoint listening");
        Ok(OperationsServer { address, is_https, handle, thread: Some(thread) })
    }
}

impl OperationsServer {
    /// Its address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}", if self.is_https { "https" } else { "http" }, self.address)
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
