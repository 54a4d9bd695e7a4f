//! Everything that runs: the bank, the API processes, the workers, and the ways between them.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Mutex as StdMutex, PoisonError};

use anyhow::Context as _;
use tokio::sync::{Mutex, MutexGuard};

use crate::cluster::Cluster;
use crate::installation::Installation;
use crate::process::Process;
use crate::receiver::Receiver;
use crate::settings::Settings;
use kopeck_test_support::{Proxy, Target};

/// API processes over PostgreSQL.
const APIS: usize = 2;
/// Worker processes over PostgreSQL.
const WORKERS: usize = 3;

/// The role of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// The simulator that stands for the bank.
    Bank,
    /// A process that serves partners.
    Api(usize),
    /// A process that does the asynchronous work.
    Worker(usize),
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bank => f.write_str("bank"),
            Self::Api(number) => write!(f, "api-{number}"),
            Self::Worker(number) => write!(f, "worker-{number}"),
        }
    }
}

/// All processes and ways.
pub(crate) struct Fleet {
    pub(crate) installation: Installation,
    pub(crate) cluster: Option<Cluster>,
    /// From the service to PostgreSQL.
    pub(crate) to_database: Option<Proxy>,
    /// From the service to the bank.
    pub(crate) to_bank: Proxy,
    /// From the partners to each API process.
    pub(crate) to_apis: Vec<Proxy>,
    /// The receiver of the partners' webhooks.
    pub(crate) receiver: Receiver,
    processes: BTreeMap<Role, Mutex<Process>>,
    bank_address: StdMutex<Option<SocketAddr>>,
}

impl Fleet {
    /// Lays the ways; nothing runs yet.
    pub(crate) fn new(settings: &Settings) -> anyhow::Result<Self> {
        let to_bank = Proxy::open()?;
        let (to_database, database_url) = database(settings)?;
        let installation = Installation {
            binary: std::path::absolute(&settings.binary)?,
            folder: std::path::absolute(&settings.folder)?,
            database_url,
            bank_url: format!("http://{}", to_bank.address()),
            bank_doubles: settings.bank_doubles,
        };
        std::fs::create_dir_all(installation.logs())?;
        let (apis, workers) = if to_database.is_some() { (APIS, WORKERS) } else { (1, 0) };
        let mut to_apis = Vec::new();
        for _ in 0..apis {
            to_apis.push(Proxy::open()?);
        }
        let roles = (0..apis).map(Role::Api).chain((0..workers).map(Role::Worker)).chain([Role::Bank]);
        let processes = roles.map(|role| (role, Mutex::new(process(&installation, role, workers > 0))));
        Ok(Self {
            cluster: to_database.is_some().then(|| Cluster::new(settings.pg_ctl.clone())),
            processes: processes.collect(),
            installation,
            to_database,
            to_bank,
            to_apis,
            receiver: Receiver::start()?,
            bank_address: StdMutex::new(None),
        })
    }

    /// How many processes answer partners.
    pub(crate) fn apis(&self) -> usize {
        self.to_apis.len()
    }

    /// How many processes do nothing but asynchronous work.
    pub(crate) fn workers(&self) -> usize {
        self.roles().filter(|role| matches!(role, Role::Worker(_))).count()
    }

    /// All processes; the bank is the first.
    pub(crate) fn roles(&self) -> impl Iterator<Item = Role> {
        self.processes.keys().copied()
    }

    /// Starts everything.
    pub(crate) async fn start(&self) -> anyhow::Result<()> {
        for role in self.roles() {
            let mut process = self.process(role).await?;
            self.start_one(role, &mut process).await?;
        }
        Ok(())
    }

    /// Starts a process and leads the way to it.
    pub(crate) async fn start_one(&self, role: Role, process: &mut Process) -> anyhow::Result<()> {
        let address = process.start().await?;
        let told = || address.with_context(|| format!("{role} does not say where it listens"));
        match role {
            Role::Worker(_) => {}
            Role::Api(number) => {
                self.to_apis
                    .get(number)
                    .context("no such API process")?
                    .lead_to(Target::Tcp(told()?.to_string()));
            }
            Role::Bank => {
                let address = told()?;
                *self.bank_address.lock().unwrap_or_else(PoisonError::into_inner) = Some(address);
                self.to_bank.lead_to(Target::Tcp(address.to_string()));
            }
        }
        Ok(())
    }

    /// Exclusive access to a process.
    pub(crate) async fn process(&self, role: Role) -> anyhow::Result<MutexGuard<'_, Process>> {
        Ok(self.processes.get(&role).with_context(|| format!("there is no {role}"))?.lock().await)
    }

    /// The address of the bank behind the proxy.
    pub(crate) fn bank_address(&self) -> anyhow::Result<SocketAddr> {
        self.bank_address.lock().unwrap_or_else(PoisonError::into_inner).context("the bank does not run")
    }

    /// Restarts processes that exited unexpectedly, and names them. Skips those in use by a fault.
    pub(crate) async fn raise_the_dead(&self) -> anyhow::Result<Vec<String>> {
        let mut dead = Vec::new();
        for (role, process) in &self.processes {
            let Ok(mut process) = process.try_lock() else { continue };
            if let Some(status) = process.ended() {
                dead.push(format!("{} exited unexpectedly: {status}", process.name()));
                self.start_one(*role, &mut process).await?;
            }
        }
        Ok(dead)
    }

    /// Stops everything in order, the bank last; names what did not end well.
    pub(crate) async fn stop(&self) -> anyhow::Result<Vec<String>> {
        let mut badly = Vec::new();
        for (role, process) in self.processes.iter().rev() {
            let status = process.lock().await.stop().await?;
            if !status.success() {
                badly.push(format!("{role} ended on SIGTERM with {status}"));
            }
        }
        Ok(badly)
    }
}

/// The way to the database, if it is across a network, and its URL.
fn database(settings: &Settings) -> anyhow::Result<(Option<Proxy>, String)> {
    let Some(socket) = &settings.postgres else {
        let path = std::path::absolute(settings.folder.join("data"))?;
        return Ok((None, format!("sqlite://{}/kopeck.sqlite", path.display())));
    };
    let proxy = Proxy::open()?;
    proxy.lead_to(Target::Socket(socket.clone()));
    let url = format!("postgres://kopeck@{}/postgres", proxy.address());
    Ok((Some(proxy), url))
}

fn process(installation: &Installation, role: Role, has_workers: bool) -> Process {
    let installation = installation.clone();
    let log = installation.log(&role.to_string());
    Process::new(role.to_string(), log, move || match role {
        Role::Api(_) if has_workers => {
            installation.service_command(&["serve", "--listen", "127.0.0.1:0", "--no-workers"])
        }
        Role::Api(_) => installation.service_command(&["serve", "--listen", "127.0.0.1:0"]),
        Role::Worker(_) => installation.service_command(&["worker"]),
        Role::Bank => {
            let mut command = installation.command(&["bank-simulator", "--listen", "127.0.0.1:0"]);
            command.env("KOPECK_BANK_DATA_DIR", installation.bank_folder());
            command
        }
    })
}
