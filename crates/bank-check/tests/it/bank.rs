//! A simulator behind its HTTP server.

use std::net::TcpListener;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use kopeck_adapter_bank_http::{BankAddress, BankTls};
use kopeck_adapter_bank_simulator::Simulator;
use kopeck_adapter_bank_simulator::server::{ServerParts, serve};
use kopeck_adapter_system::{OsEntropy, ServiceClock, SystemClock, TimeOrderedIds};
use kopeck_bank_check::CheckSettings;
use kopeck_domain::calendar::Zone;
use kopeck_port_bank::Capabilities;
use kopeck_port_system::IdSource as _;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use secrecy::SecretString;

pub const SECRET: &str = "correct-horse-battery";

pub struct Bank {
    pub simulator: Arc<Simulator>,
    url: String,
    /// PEM of its certificate.
    authority: Option<String>,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
    _folder: tempfile::TempDir,
}

impl Bank {
    pub fn new(capabilities: Capabilities) -> Self {
        Self::serving(capabilities, None)
    }

    /// By HTTPS, with a certificate that [`Bank::settings`] trust.
    pub fn with_tls() -> Self {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::from_pem_slice(made.signing_key.serialize_pem().as_bytes()).unwrap();
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let mut bank = Self::serving(Capabilities::EVERYTHING, Some(config));
        bank.authority = Some(made.cert.pem());
        bank
    }

    fn serving(capabilities: Capabilities, tls: Option<ServerConfig>) -> Self {
        let scheme = if tls.is_some() { "https" } else { "http" };
        let folder = tempfile::tempdir().unwrap();
        let wall = Arc::new(SystemClock::default());
        let clock = Arc::new(ServiceClock::open(wall, folder.path().join("clock")).unwrap());
        let path = folder.path().join("bank.sqlite");
        let zone = Zone::parse("+03:00").unwrap();
        let simulator = Simulator::open(&path, Arc::clone(&clock) as _, Arc::new(OsEntropy), zone).unwrap();
        let simulator = Arc::new(simulator.with_capabilities(capabilities));
        let bank = Arc::clone(&simulator);
        let parts = ServerParts { bank, clock, secret: SecretString::from(SECRET), threads: 1, tls };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let server = serve(listener, parts).unwrap();
                sender.send(server.handle()).unwrap();
                server.await.unwrap();
            });
        });
        let handle = receiver.recv().unwrap();
        Self { simulator, url, authority: None, handle, thread: Some(thread), _folder: folder }
    }

    pub fn settings(&self, secret: &str) -> CheckSettings {
        let address =
            BankAddress::new(&self.url, SecretString::from(secret), Duration::from_secs(60)).unwrap();
        let authorities = self.authority.clone().map(String::into_bytes);
        let address = address.with_tls(BankTls { authorities, ..BankTls::default() });
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
