//! `kopeck serve` and `kopeck worker`.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use kopeck_adapter_http::{Drain, HttpParts, HttpSettings, HttpState, TrustedProxies};
use kopeck_adapter_security::KeyRing;
use kopeck_port_bank::BankGateway;
use kopeck_port_store::{Access, StoreError, transact};
use kopeck_service::audit::Notes;
use kopeck_service::worker::ClockCheck;

use super::first_start;
use super::until_told::{self, OtherSignals, Signals};
use crate::audit::HeadForwarder;
use crate::bank::Bank;
use crate::cli::{FrontArgs, ServeArgs, ServiceArgs};
use crate::compose::{Core, Machine, Parts, Vault};
use crate::connections::{warn_about_plain_http, warn_about_proxy_header};
use crate::folder::{DataFolder, ServerLock};
use crate::open_files;
use crate::operations::{Clock, MeasuredBank, Operations, Teller};
use crate::output;
use crate::port::Port;
use crate::pulse::Pulse;
use crate::reload::Reloader;
use crate::system_clock::{Look, SystemClock};
use crate::tls::{Certificate, CertificateFiles, Looked};
use crate::workers::Workers;

/// Serves until told to stop; then answers what was accepted, and lets the workers settle what they told the bank.
pub(super) fn run(args: &ServeArgs) -> anyhow::Result<()> {
    anyhow::ensure!(
        args.front.body_memory / 2 >= args.body_limit,
        "KOPECK_BODY_MEMORY must be at least twice KOPECK_BODY_LIMIT"
    );
    open_files::raise_limit(Some(args.front.max_connections))?;
    let system = actix_web::rt::System::new();
    let others = system.block_on(async { OtherSignals::listen() })?;
    let certificate = certificate(&args.front)?;
    let pause = Duration::try_from(args.front.drain_pause).context("KOPECK_DRAIN_PAUSE")?;
    // Before anything is written: a start that finds its port in use leaves nothing behind.
    let port = Port::bind(args.listen)?;
    let process = Process::start(&args.service, args.service.sandbox_is_on(Some(args.listen)))?;
    let reloader = process.follow_machine(certificate.clone())?;
    let listener = port.listen()?;
    let address = listener.local_addr()?;
    // A trusted proxy in front is taken for one with TLS.
    if certificate.is_none() && args.front.trusted_proxies == TrustedProxies::default() {
        warn_about_plain_http(address);
    }
    warn_about_proxy_header(&args.front.trusted_proxies, args.front.proxy_header);
    let state = process.front_door(args);
    let workers = if args.no_workers {
        process.operations.health.workers_are_started(Arc::new(Pulse::default()));
        None
    } else {
        Some(process.workers(args.service.workers)?)
    };

    let signals = system.block_on(async { Signals::listen() })?;
    let scheme = if certificate.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{address}");
    output::announce(&format!("kopeck serves on {url}\n"));
    process.say_where_it_tells();
    if args.docs {
        output::announce(&format!("API reference on {url}/docs\n"));
    }
    if process.bank.power.is_some() {
        first_start::demo_partner(&process.core, &process.folder, &url)?;
    }
    let drain = Drain::new(&listener, &state)?;
    let served = system.block_on(async {
        others.follow(read_again(&reloader));
        let server = match certificate {
            Some(certificate) => {
                kopeck_adapter_http::serve_tls(listener, state, certificate.server_config()?)?
            }
            None => kopeck_adapter_http::serve(listener, state)?,
        };
        let end = signals.told_and_known(&process.operations.health, Some(&drain), pause);
        until_told::serve_and_drain(server, &drain, end).await
    });
    process.stop(workers);
    served
}

/// Does the asynchronous work until told to stop, and serves nobody.
pub(super) fn work(args: &ServiceArgs) -> anyhow::Result<()> {
    open_files::raise_limit(None)?;
    let system = actix_web::rt::System::new();
    let others = system.block_on(async { OtherSignals::listen() })?;
    let process = Process::start(args, args.sandbox_is_on(None))?;
    let reloader = process.follow_machine(None)?;
    let workers = process.workers(args.workers)?;
    let signals = system.block_on(async { Signals::listen() })?;
    output::announce("kopeck works\n");
    process.say_where_it_tells();
    system.block_on(async {
        others.follow(read_again(&reloader));
        signals.told_and_known(&process.operations.health, None, Duration::ZERO).await;
    });
    process.stop(Some(workers));
    Ok(())
}

/// What is done at SIGHUP.
fn read_again(reloader: &Reloader) -> impl Fn() + 'static {
    let look = reloader.trigger();
    move || {
        log::info!("SIGHUP: reading the master keys and the certificate again");
        look();
    }
}

/// The certificate that the settings name, if they name one.
fn certificate(args: &FrontArgs) -> anyhow::Result<Option<Arc<Certificate>>> {
    let (Some(chain), Some(key)) = (&args.tls_cert, &args.tls_key) else { return Ok(None) };
    Certificate::open(CertificateFiles { chain: chain.clone(), key: key.clone() }).map(Some)
}

/// What a process has that goes on until it is told to stop.
struct Process {
    machine: Machine,
    /// The clock that the machine's time comes from.
    system_clock: Arc<SystemClock>,
    keys: Arc<KeyRing>,
    core: Core,
    folder: DataFolder,
    bank: Bank,
    /// Entries of the audit log on their way.
    audit: Arc<Notes>,
    /// Chain heads of the audit log on their way out of the database.
    heads: Arc<HeadForwarder>,
    /// The bank, measured.
    gateway: Arc<dyn BankGateway>,
    operations: Operations,
    /// Given up after the rest: it tells of the end too.
    teller: Option<Teller>,
    /// Given up with the rest.
    _lock: Option<ServerLock>,
}

impl Process {
    fn start(args: &ServiceArgs, sandbox: bool) -> anyhow::Result<Self> {
        let settings = args.settings();
        // First of all, so that it can be asked how the start goes.
        let operations = Operations::new()?;
        if sandbox {
            operations.health.sandbox_is_on();
            log::warn!(
                "the sandbox is on: every partner can deposit money and move the clock; KOPECK_SANDBOX=false switches it off"
            );
        }
        let teller = args.operations.operations_listen.map(|listen| operations.tell(listen)).transpose()?;
        let system_clock = Arc::new(SystemClock::default());
        let machine = Machine::with_wall(Arc::clone(&system_clock) as _);
        let vault = Vault::open(&args.store, &*machine.entropy, args.new_database)?;
        let lock = vault.folder.lock()?;
        let keys = vault.keys.ring()?;
        super::migrate::apply(&args.store, &vault.folder, &keys)?;
        let (machine, clock) = machine.with_clock_of(&vault.folder)?;
        let heads = Arc::new(HeadForwarder::new(
            Arc::clone(&machine.wall),
            args.store.audit_heads.clone(),
            log::Level::Info,
            Some(Arc::clone(&operations.metrics)),
        ));
        let parts = Parts {
            store_observer: Some(Arc::clone(&operations.metrics) as _),
            audit_heads: Some(Arc::clone(&heads) as _),
            ..Parts::default()
        };
        let core = Core::with_parts(args.store.database_url(), &keys, &machine, settings, parts)?;
        operations.health.store_is_open(&core.store);
        let bank = Bank::open(args, sandbox, &vault.folder, &machine, clock, settings)?;
        let gateway = Arc::new(MeasuredBank::new(Arc::clone(&bank.gateway), Arc::clone(&operations.metrics)));
        let audit = Notes::new(core.store(), Arc::clone(&machine.wall), Arc::clone(&operations.metrics) as _);
        if vault.folder.is_embedded() {
            // Only this process works on an embedded database, so a lease that is there was left by one that was
            // killed. On a server it may be another's.
            let end = |unit: &mut dyn kopeck_port_store::UnitOfWork| -> Result<(), StoreError> {
                unit.jobs().end_all_leases()
            };
            transact(&*core.store(), Access::Write, end)?;
        }
        let folder = vault.folder;
        Ok(Self {
            machine,
            system_clock,
            keys,
            core,
            folder,
            bank,
            audit,
            heads,
            gateway,
            operations,
            teller,
            _lock: lock,
        })
    }

    /// The HTTP API.
    fn front_door(&self, args: &ServeArgs) -> HttpState {
        HttpState::new(HttpParts {
            env: Arc::clone(&self.core.env),
            wall: Arc::clone(&self.machine.wall),
            store: self.core.store(),
            bank: Arc::clone(&self.gateway),
            tokens: Arc::clone(&self.core.tokens),
            sandbox: self.bank.power.clone(),
            observer: Arc::clone(&self.operations.metrics) as _,
            audit: Arc::clone(&self.audit),
            settings: HttpSettings {
                body_limit: args.body_limit,
                body_memory: args.front.body_memory,
                max_connections: usize::try_from(args.front.max_connections).unwrap_or(usize::MAX),
                rate_limit: args.front.rate_limit(),
                trusted_proxies: args.front.trusted_proxies.clone(),
                proxy_header: args.front.proxy_header,
                docs: args.docs,
                ..HttpSettings::default()
            },
        })
    }

    fn workers(&self, count: u8) -> anyhow::Result<Workers> {
        let bank = || Arc::clone(&self.gateway);
        let (worker, refresher) = (self.core.worker(bank()), self.core.account_refresher(bank()));
        let (store, env) = (self.core.store(), &self.core.env);
        let workers = Workers::start(
            count,
            &store,
            env,
            &Arc::new(worker),
            refresher,
            self.look_at_clock_of_database(),
        )?;
        self.operations.health.workers_are_started(workers.pulse());
        Ok(workers)
    }

    /// Brings work back from the future, and measures the clock of a database server. An embedded database goes by the
    /// machine's.
    fn look_at_clock_of_database(&self) -> impl FnMut() -> Result<(), StoreError> + Send + 'static {
        let mut watch = self.core.clock_watch();
        let metrics = (!self.folder.is_embedded()).then(|| Arc::clone(&self.operations.metrics));
        move || {
            let ClockCheck { step, ahead_of_service, brought_back } = watch.check()?;
            if let Some(metrics) = &metrics {
                metrics.clock_seen(Clock::Database, ahead_of_service, step);
            }
            if brought_back > 0 {
                log::warn!(requests = brought_back; "work was due in the future and is done now: a clock was set back");
            }
            Ok(())
        }
    }

    /// Takes changed keys and a changed certificate over, writes what the database could not take before, and notices if
    /// the machine's clock is set.
    fn follow_machine(&self, certificate: Option<Arc<Certificate>>) -> anyhow::Result<Reloader> {
        let (keys, metrics) = (Arc::clone(&self.keys), Arc::clone(&self.operations.metrics));
        let (audit, heads) = (Arc::clone(&self.audit), Arc::clone(&self.heads));
        let clock = Arc::clone(&self.system_clock);
        Reloader::start(move || {
            let Look { step, offset } = clock.look();
            metrics.clock_seen(Clock::Machine, offset, step);
            keys.refresh();
            audit.tick();
            heads.tick();
            match certificate.as_ref().map(|certificate| certificate.refresh()) {
                None | Some(Looked::Same) => {}
                Some(looked) => metrics.certificate_changed(looked == Looked::Taken),
            }
        })
    }

    fn say_where_it_tells(&self) {
        if let Some(teller) = &self.teller {
            output::announce(&format!("health and metrics on http://{}\n", teller.address()));
        }
    }

    fn stop(self, workers: Option<Workers>) {
        if let Some(workers) = workers {
            workers.stop();
        }
        self.audit.close();
        self.core.store.close();
        self.heads.send();
        drop(self.teller);
        log::info!("stopped");
    }
}
