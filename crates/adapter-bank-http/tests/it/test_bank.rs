//! A simulator behind its HTTP server, and a gateway to it.

use std::net::TcpListener;
use std::ops::Deref;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use kopeck_adapter_bank_http::{
    BankAddress, HttpBank, HttpBankSettings, ResilienceSettings, SimulatorControl,
};
use kopeck_adapter_bank_simulator::Simulator;
use kopeck_adapter_bank_simulator::server::{ServerParts, serve};
use kopeck_domain::calendar::Zone;
use kopeck_port_bank::sandbox::{CommandKey, SandboxClock, SandboxError};
use kopeck_port_system::Clock;
use kopeck_port_system::fake::{FakeClock, SeededEntropy};
use secrecy::SecretString;
use time::OffsetDateTime;
use time::macros::datetime;

pub const SECRET: &str = "correct-horse-battery";
pub const START: OffsetDateTime = datetime!(2026-03-02 09:00 UTC);
/// Longer than any test takes.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A running server.
pub struct TestBank {
    pub gateway: HttpBank,
    pub control: SimulatorControl,
    pub simulator: Arc<Simulator>,
    pub clock: Arc<TestClock>,
    pub url: String,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
    _folder: tempfile::TempDir,
}

/// A clock that only the sandbox moves.
pub struct TestClock {
    clock: FakeClock,
    offset_micros: AtomicI64,
}

impl Clock for TestClock {
    fn now(&self) -> OffsetDateTime {
        self.clock.now()
    }

    fn steady(&self) -> time::Duration {
        self.clock.steady()
    }
}

impl SandboxClock for TestClock {
    fn offset_micros(&self) -> Result<i64, SandboxError> {
        Ok(self.offset_micros.load(Ordering::SeqCst))
    }

    fn advance(&self, by: Duration, _: &CommandKey) -> Result<i64, SandboxError> {
        let by = time::Duration::try_from(by).map_err(|_| SandboxError::ClockTooFar)?;
        if by > time::Duration::days(1_000) {
            return Err(SandboxError::ClockTooFar);
        }
        self.clock.advance(by);
        self.offset_micros.fetch_add(i64::try_from(by.whole_microseconds()).unwrap(), Ordering::SeqCst);
        self.offset_micros()
    }
}

impl TestBank {
    pub fn new() -> Self {
        Self::serving(None)
    }

    /// By HTTPS, if there is a configuration for it. Its own gateway and control do not trust the certificate.
    pub fn serving(tls: Option<rustls::ServerConfig>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock =
            Arc::new(TestClock { clock: FakeClock::starting_at(START), offset_micros: AtomicI64::new(0) });
        let zone = Zone::parse("+03:00").unwrap();
        let entropy = Arc::new(SeededEntropy::new(7));
        let path = folder.path().join("bank.sqlite");
        let simulator = Arc::new(Simulator::open(&path, Arc::clone(&clock) as _, entropy, zone).unwrap());
        let parts = ServerParts {
            bank: Arc::clone(&simulator),
            clock: Arc::clone(&clock) as _,
            secret: SecretString::from(SECRET),
            threads: 1,
            tls,
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let scheme = if parts.tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let server = serve(listener, parts).unwrap();
                sender.send(server.handle()).unwrap();
                server.await.unwrap();
            });
        });
        Self {
            gateway: gateway(&url, PATIENCE),
            control: SimulatorControl::new(address(&url, PATIENCE)).unwrap(),
            simulator,
            clock,
            url,
            handle: receiver.recv().unwrap(),
            thread: Some(thread),
            _folder: folder,
        }
    }
}

impl Drop for TestBank {
    fn drop(&mut self) {
        // `stop` answers by a future that need not be waited for: the thread below ends with the server.
        drop(self.handle.stop(false));
        let _ = self.thread.take().unwrap().join();
    }
}

impl Deref for TestBank {
    type Target = HttpBank;

    fn deref(&self) -> &HttpBank {
        &self.gateway
    }
}

pub fn address(url: &str, timeout: Duration) -> BankAddress {
    BankAddress::new(url, SecretString::from(SECRET), timeout).unwrap()
}

/// Without delays between retries.
pub fn settings() -> HttpBankSettings {
    let resilience = ResilienceSettings { first_delay: Duration::ZERO, ..ResilienceSettings::default() };
    HttpBankSettings { resilience, ..HttpBankSettings::default() }
}

pub fn gateway(url: &str, timeout: Duration) -> HttpBank {
    let clock = Arc::new(FakeClock::starting_at(START));
    HttpBank::new(address(url, timeout), &settings(), clock).unwrap()
}
