//! The environment of a test server: data that outlive its process, and ports that a test may wrap.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use kopeck::compose::SystemAdapters;
use kopeck_adapter_http::HttpSettings;
use kopeck_adapter_store_diesel::StoreKind;
use kopeck_adapter_store_diesel::testing::{Roles, TestDatabase};
use kopeck_adapter_system::DataFolder;
use kopeck_domain::ids::PartnerId;
use kopeck_port_bank::BankGateway;
use kopeck_port_bank::sandbox::Sandbox;
use kopeck_port_store::Store;
use kopeck_port_system::Clock;
use kopeck_port_system::fake::{FakeClock, SeededEntropy, SeededIds};
use kopeck_service::worker::WorkerSettings;
use kopeck_test_support::Proxy;
use time::{Duration, OffsetDateTime};

use crate::database::{Database, store_kind};

/// The data that outlive a process: database, simulator's database, the clock's file, and the machine.
pub struct Deployment {
    pub url: String,
    pub store_kind: StoreKind,
    pub data: DataFolder,
    /// The machine's clock.
    pub clock: Arc<FakeClock>,
    /// The partners that were made here.
    pub partners: Mutex<Vec<PartnerId>>,
    /// How many snapshots came before it. Each generation counts its identifiers from another seed.
    generation: u64,
    ids: Arc<SeededIds>,
    entropy: Arc<SeededEntropy>,
    database: Database,
    _folder: tempfile::TempDir,
}

/// A deployment as it was at a moment when no server stood on it, kept in memory.
pub struct Snapshot {
    files: Vec<(PathBuf, Vec<u8>)>,
    /// A copy of a database that is in no file.
    database: Option<TestDatabase>,
    started_at: OffsetDateTime,
    /// How far its clock was moved. A database server's clock has only this offset, so that due work stays due.
    ahead: Duration,
    partners: Vec<PartnerId>,
    generation: u64,
}

/// How a server is to be started.
pub struct Plan {
    pub sandbox: bool,
    pub http: HttpSettings,
    pub worker: WorkerSettings,
    pub ports: Box<dyn FnOnce(Ports) -> Ports>,
    /// How far its clock is ahead of the deployment's.
    pub clock_ahead: Duration,
}

/// The clock of another machine.
pub struct SkewedClock {
    pub clock: Arc<FakeClock>,
    pub ahead: Duration,
}

impl Clock for SkewedClock {
    fn now(&self) -> OffsetDateTime {
        self.clock.now() + self.ahead
    }

    fn steady(&self) -> Duration {
        self.clock.steady()
    }

    fn epoch(&self) -> u64 {
        self.clock.epoch() + 1
    }

    fn settled(&self) -> OffsetDateTime {
        self.clock.settled() + self.ahead
    }

    /// The database's server is the same.
    fn ahead(&self) -> Duration {
        self.clock.ahead()
    }
}

/// The ports of a server.
pub struct Ports {
    pub store: Arc<dyn Store>,
    pub bank: Arc<dyn BankGateway>,
    pub sandbox: Sandbox,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            sandbox: true,
            http: HttpSettings { workers: 1, ..HttpSettings::default() },
            worker: WorkerSettings::default(),
            ports: Box::new(|ports| ports),
            clock_ahead: Duration::ZERO,
        }
    }
}

impl Deployment {
    /// With an empty database and a clock that shows `start`.
    pub fn new(start: OffsetDateTime) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::chosen(folder.path(), true);
        Self::over(database, folder, start, 0)
    }

    /// With a database that `prepare` fills, given its URL. Its identifiers are not those that a first server made.
    pub fn prepared(start: OffsetDateTime, prepare: impl FnOnce(&str)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::chosen(folder.path(), false);
        prepare(database.url());
        Self::over(database, folder, start, 1)
    }

    /// On PostgreSQL, for several servers.
    pub fn on_a_server(start: OffsetDateTime) -> Self {
        let database = Database::Server(TestDatabase::migrated());
        Self::over(database, tempfile::tempdir().unwrap(), start, 0)
    }

    /// On PostgreSQL, behind a proxy that a test can cut and freeze.
    pub fn behind_a_proxy(start: OffsetDateTime) -> (Self, Proxy) {
        let database = Database::Server(TestDatabase::migrated());
        let (proxy, url) = Proxy::to_database(database.url()).unwrap();
        // Only the batched store detects a silent server.
        let store_kind = StoreKind::Batched;
        (Self { url, store_kind, ..Self::over(database, tempfile::tempdir().unwrap(), start, 0) }, proxy)
    }

    /// On PostgreSQL, with a role that owns the tables and another that serves.
    pub fn as_service_role(start: OffsetDateTime) -> Self {
        let roles = Roles::empty();
        kopeck_adapter_store_diesel::migrate(&roles.owner).unwrap();
        kopeck_adapter_store_diesel::grant(&roles.owner, &roles.service_role).unwrap();
        Self::over(Database::OfRoles(roles), tempfile::tempdir().unwrap(), start, 0)
    }

    fn over(database: Database, folder: tempfile::TempDir, start: OffsetDateTime, generation: u64) -> Self {
        let url = database.patient_url();
        Self {
            store_kind: store_kind(),
            data: DataFolder::make(&url, database.beside(folder.path())).unwrap(),
            url,
            database,
            clock: Arc::new(FakeClock::starting_at(start)),
            partners: Mutex::default(),
            generation,
            ids: Arc::new(SeededIds::new(0x0198_0000_0000_7000 + generation)),
            entropy: Arc::new(SeededEntropy::new(1 + generation)),
            _folder: folder,
        }
    }

    /// The machine; the service's time is the machine's. If it is `ahead`, it is another one than the others.
    pub fn adapters(&self, ahead: Duration) -> SystemAdapters {
        let clock = Arc::clone(&self.clock);
        let wall: Arc<dyn Clock> =
            if ahead.is_zero() { clock } else { Arc::new(SkewedClock { clock, ahead }) };
        SystemAdapters {
            clock: Arc::clone(&wall),
            wall,
            ids: Arc::<SeededIds>::clone(&self.ids),
            entropy: Arc::<SeededEntropy>::clone(&self.entropy),
        }
    }

    /// Keeps what is there. The server on it has ended, and its files are closed.
    pub fn snapshot(&self) -> Snapshot {
        let file = |entry: std::io::Result<std::fs::DirEntry>| {
            let path = entry.unwrap().path();
            (PathBuf::from(path.file_name().unwrap()), std::fs::read(&path).unwrap())
        };
        Snapshot {
            database: self.database.copy(),
            files: std::fs::read_dir(self.data.path()).unwrap().map(file).collect(),
            started_at: self.clock.now() - self.clock.ahead(),
            ahead: self.clock.ahead(),
            partners: self.partners.lock().unwrap().clone(),
            generation: self.generation + 1,
        }
    }
}

impl Snapshot {
    /// A copy from a snapshot of this one.
    pub fn restore(&self) -> Arc<Deployment> {
        let folder = tempfile::tempdir().unwrap();
        let database = match &self.database {
            Some(database) => Database::Server(database.copy()),
            None => Database::embedded(folder.path()),
        };
        let deployment = Deployment::over(database, folder, self.started_at, self.generation);
        deployment.clock.advance(self.ahead);
        for (name, bytes) in &self.files {
            std::fs::write(deployment.data.path().join(name), bytes).unwrap();
        }
        deployment.partners.lock().unwrap().clone_from(&self.partners);
        Arc::new(deployment)
    }
}
