//! A simulator behind its HTTP server.

use std::net::TcpListener;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use kopeck_adapter_bank_http::BankAddress;
use kopeck_adapter_bank_simulator::Simulator;
use kopeck_adapter_bank_simulator::server::{ServerParts, serve};
use kopeck_adapter_system::{OsEntropy, ServiceClock, SystemClock, TimeOrderedIds};
use kopeck_bank_check::CheckSettings;
use kopeck_domain::calendar::Zone;
use kopeck_port_bank::Capabilities;
use kopeck_port_system::IdSource as _;
use secrecy::SecretString;

pub const SECRET: &str = "correct-horse-battery";

pub struct Bank {
    pub simulator: Arc<Simulator>,
    url: String,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
    _folder: tempfile::TempDir,
}

impl Bank {
    pub fn new(capabilities: Capabilities) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let wall = Arc::new(SystemClock::default());
        let clock = Arc::new(ServiceClock::open(wall, folder.path().join("clock")).unwrap());
        let path = folder.path().join("bank.sqlite");
        let zone = Zone::parse("+03:00").unwrap();
        let simulator = Simulator::open(&path, Arc::clone(&clock) as _, Arc::new(OsEntropy), zone).unwrap();
        let simulator = Arc::new(simulator.with_capabilities(capabilities));
        let bank = Arc::clone(&simulator);
        let parts = ServerParts { bank, clock, secret: SecretString::from(SECRET), threads: 1, tls: None };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let server = serve(listener, parts).unwrap();
                sender.send(server.handle()).unwrap();
                server.await.unwrap();
            });
        });
        Self { simulator, url, handle: receiver.recv().unwrap(), thread: Some(thread), _folder: folder }
    }

    pub fn settings(&self, secret: &str) -> CheckSettings {
        let address =
            BankAddress::new(&self.url, SecretString::from(secret), Duration::from_secs(60)).unwrap();
        let patience = Duration::from_secs(60);
        let run = TimeOrderedIds.next_id();
        CheckSettings { address, run, patience, clock: Arc::new(SystemClock::default()) }
    }
}

impl Drop for Bank {
    fn drop(&mut self) {
        // The thread ends with the server.
        drop(self.handle.stop(false));
        let _ = self.thread.take().unwrap().join();
    }
}
