//! `kopeck serve` and `kopeck worker`.

use std::net::TcpListener;
use std::sync::Arc;

use anyhow::Context;
use kopeck_adapter_http::{HttpParts, HttpSettings, HttpState};
use kopeck_port_store::{Access, StoreError, transact};

use super::{first_start, until_told};
use crate::bank::Bank;
use crate::cli::{ServeArgs, ServiceArgs};
use crate::compose::{Core, Machine, Vault};
use crate::folder::ServerLock;
use crate::workers::Workers;

/// Serves until told to stop; then answers what was accepted, and lets the workers settle what they told the bank.
pub(super) fn run(args: &ServeArgs) -> anyhow::Result<()> {
    let process = Process::start(&args.service)?;
    let listener =
        TcpListener::bind(args.listen).with_context(|| format!("cannot listen on {}", args.listen))?;
    let address = listener.local_addr()?;
    let state = HttpState::new(HttpParts {
        env: Arc::clone(&process.core.env),
        wall: Arc::clone(&process.machine.wall),
        store: process.core.store(),
        bank: Arc::clone(&process.bank.gateway),
        tokens: Arc::clone(&process.core.tokens),
        sandbox: process.bank.power.clone(),
        settings: HttpSettings { body_limit: args.body_limit, docs: args.docs, ..HttpSettings::default() },
    });
    let workers = if args.no_workers { None } else { Some(process.workers(args.service.workers)?) };

    println!("kopeck serves on http://{address}");
    if args.service.sandbox
        && let Some(demo) = first_start::demo_partner(&process.core)?
    {
        print!("{}", demo.welcome(address)?);
    }
    let served = actix_web::rt::System::new().block_on(serve_until_told(listener, state));
    process.stop(workers);
    served
}

/// Does the asynchronous work until told to stop, and serves nobody.
pub(super) fn work(args: &ServiceArgs) -> anyhow::Result<()> {
    let process = Process::start(args)?;
    let workers = process.workers(args.workers)?;
    println!("kopeck works");
    let told = actix_web::rt::System::new().block_on(until_told::told());
    process.stop(Some(workers));
    told
}

/// What a process has that goes on until it is told to stop.
struct Process {
    machine: Machine,
    core: Core,
    bank: Bank,
    /// Given up with the rest.
    _lock: Option<ServerLock>,
}

impl Process {
    fn start(args: &ServiceArgs) -> anyhow::Result<Self> {
        let settings = args.settings();
        let machine = Machine::real();
        let vault = Vault::open(&args.store, &*machine.entropy)?;
        let lock = vault.folder.lock()?;
        super::migrate::apply(&args.store.database_url)?;
        let (machine, clock) = machine.with_clock_of(&vault.folder)?;
        let core = Core::open(&args.store.database_url, &vault.master_key, &machine, settings)?;
        let bank = Bank::open(args, &vault.folder, &machine, clock, settings)?;
        if vault.folder.is_embedded() {
            // Only this process works on an embedded database, so a lease that is there was left by one that was
            // killed. On a server it may be another's.
            let end = |unit: &mut dyn kopeck_port_store::UnitOfWork| -> Result<(), StoreError> {
                unit.work().end_all_leases()
            };
            transact(&*core.store(), Access::Write, end)?;
        }
        Ok(Self { machine, core, bank, _lock: lock })
    }

    fn workers(&self, count: u8) -> anyhow::Result<Workers> {
        let bank = || Arc::clone(&self.bank.gateway);
        let (worker, refresher) = (self.core.worker(bank()), self.core.account_refresher(bank()));
        Workers::start(count, &self.core.store(), &self.core.env, &Arc::new(worker), refresher)
    }

    fn stop(self, workers: Option<Workers>) {
        if let Some(workers) = workers {
            workers.stop();
        }
        self.core.store.close();
        log::info!("stopped");
    }
}

async fn serve_until_told(listener: TcpListener, state: HttpState) -> anyhow::Result<()> {
    until_told::serve(kopeck_adapter_http::serve(listener, state)?).await
}
