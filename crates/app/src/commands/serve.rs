//! `kopeck serve` and `kopeck worker`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use kopeck_adapter_http::{Drain, FeedWaiters, FrontEnd, HttpParts, HttpSettings, HttpState, TrustedProxies};
use kopeck_adapter_security::KeyRing;
use kopeck_adapter_store_diesel::StoreKind;
use kopeck_adapter_system::{
    BoundPort, Certificate, CertificateFiles, CertificateRefresh, ClockReading, DataFolder, FolderLock,
    HeadForwarder, SystemClock, announce, raise_open_files,
};
use kopeck_adapter_webhook::HttpWebhooks;
use kopeck_adapter_workers::{
    BackgroundWork, DailyReconciliation, Deliverer, LivenessRegistry, PeriodicCheck, Workers,
};
use kopeck_domain::limit::TimeOfDay;
use kopeck_port_bank::BankGateway;
use kopeck_port_store::{Access, Store, StoreError, UnitOfWork, transact};
use kopeck_service::audit::AuditQueue;
use kopeck_service::request_log::RequestLogQueue;
use kopeck_service::worker::ClockCheck;

use super::audited;
use super::first_start::{FirstStart, Past};
use super::shutdown::{self, IgnoredSignals, TerminationSignals};
use crate::bank::Bank;
use crate::cli::{OperationsArgs, ServeArgs, ServiceArgs};
use crate::compose::{Application, Parts, Storage, SystemAdapters};
use crate::connections::{warn_about_plain_http, warn_about_plain_operations, warn_about_proxy_header};
use crate::console;
use crate::operations::{ClockLabel, Operations, OperationsServer, ProcessStatus};

/// Serves until a stop signal, then finishes accepted requests and lets workers settle their bank requests.
pub(super) fn run(args: &ServeArgs) -> anyhow::Result<()> {
    anyhow::ensure!(
        args.front.body_memory / 2 >= args.body_limit,
        "KOPECK_BODY_MEMORY must be at least twice KOPECK_BODY_LIMIT"
    );
    let max_connections = raise_open_files(args.front.max_connections)?;
    let system = actix_web::rt::System::new();
    let others = system.block_on(async { IgnoredSignals::listen() })?;
    let certificate = certificate(args.front.tls_cert.as_ref(), args.front.tls_key.as_ref())?;
    let pause = Duration::try_from(args.front.drain_pause).context("KOPECK_DRAIN_PAUSE")?;
    // Before anything is written: a start that finds its port in use leaves nothing behind.
    let port = BoundPort::bind(args.listen)?;
    let sandbox = args.service.sandbox_is_on(Some(args.listen));
    let has_console = args.console.unwrap_or(sandbox);
    let has_proxy = args.front.trusted_proxies != TrustedProxies::default();
    anyhow::ensure!(
        !has_console || sandbox || certificate.is_some() || has_proxy,
        "the console needs TLS: set KOPECK_TLS_CERT and KOPECK_TLS_KEY, or KOPECK_TRUSTED_PROXIES to a proxy that has it"
    );
    let process = Process::start(&args.service, sandbox, args.store_kind.into())?;
    let periodic_check = process.watch_files_and_clock(certificate.clone())?;
    let listener = port.listen()?;
    let address = listener.local_addr()?;
    // A trusted proxy in front presumably has TLS.
    if certificate.is_none() && !has_proxy {
        warn_about_plain_http(address);
    }
    warn_about_proxy_header(&args.front.trusted_proxies, args.front.proxy_header);
    let scheme = if certificate.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{address}");
    // Before anything works, as a past of the demo partner is made on a clock of its own.
    let welcome = process.first_start(args, &url, has_console)?;
    let state = process.http_state(args, max_connections);
    let state = if has_console { state.with_front_end(process.console(args.docs)) } else { state };
    let workers = if args.no_workers {
        process.operations.health.workers_are_started(Arc::new(LivenessRegistry::default()));
        None
    } else {
        Some(process.workers(args.service.workers, args.service.reconcile)?)
    };

    let signals = system.block_on(async { TerminationSignals::listen() })?;
    announce(&format!("kopeck serves on {url}\n"));
    process.announce_operations_address();
    if args.docs {
        announce(&format!("API reference on {url}/docs\n"));
    }
    if has_console {
        announce(&format!("console on {url}/console\n"));
    }
    if let Some(welcome) = welcome {
        announce(&welcome);
    }
    let drain = Drain::new(&listener, &state)?;
    let served = system.block_on(async {
        others.handle(read_again(&periodic_check));
        let server = match certificate {
            Some(certificate) => {
                kopeck_adapter_http::serve_tls(listener, state, certificate.server_config()?)?
            }
            None => kopeck_adapter_http::serve(listener, state)?,
        };
        let end = signals.recv_and_drain(&process.operations.health, Some(&drain), pause);
        shutdown::serve_and_drain(server, &drain, end).await
    });
    process.stop(workers);
    served
}

/// Runs workers without the HTTP API until a stop signal.
pub(super) fn work(args: &ServiceArgs) -> anyhow::Result<()> {
    raise_open_files(0)?;
    let system = actix_web::rt::System::new();
    let others = system.block_on(async { IgnoredSignals::listen() })?;
    // Workers call the store one after the other, so a batch would hold one unit of work.
    let process = Process::start(args, args.sandbox_is_on(None), StoreKind::Plain)?;
    let periodic_check = process.watch_files_and_clock(None)?;
    let workers = process.workers(args.workers, args.reconcile)?;
    let signals = system.block_on(async { TerminationSignals::listen() })?;
    announce("kopeck works\n");
    process.announce_operations_address();
    system.block_on(async {
        others.handle(read_again(&periodic_check));
        signals.recv_and_drain(&process.operations.health, None, Duration::ZERO).await;
    });
    process.stop(Some(workers));
    Ok(())
}

/// Ends all leases. Only this process works on an embedded database, so a lease that is there was left by one that was
/// killed; on a server it may be another's. Where nothing can be written they expire, and reads are
/// served meanwhile.
fn end_leases(store: &dyn Store) -> Result<(), StoreError> {
    let end = |unit: &mut dyn UnitOfWork| -> Result<(), StoreError> { unit.jobs().end_all_leases() };
    match transact(store, Access::Write, end) {
        Err(error @ StoreError::Unavailable(_)) => {
            log::warn!(error:% = error; "leases of a killed process are left as they are");
            Ok(())
        }
        ended => ended,
    }
}

/// The handler of SIGHUP.
fn read_again(periodic_check: &PeriodicCheck) -> impl Fn() + 'static {
    let look = periodic_check.trigger();
    move || {
        log::info!("SIGHUP: reading the master keys and the certificate again");
        look();
    }
}

/// The configured certificate, if any.
fn certificate(chain: Option<&PathBuf>, key: Option<&PathBuf>) -> anyhow::Result<Option<Arc<Certificate>>> {
    let (Some(chain), Some(key)) = (chain, key) else { return Ok(None) };
    Certificate::open(CertificateFiles { chain: chain.clone(), key: key.clone() }).map(Some)
}

/// The port for operators, if it is configured, and its certificate.
fn serve_operations(
    args: &OperationsArgs,
    operations: &Operations,
) -> anyhow::Result<(Option<OperationsServer>, Option<Arc<Certificate>>)> {
    let certificate = certificate(args.operations_tls_cert.as_ref(), args.operations_tls_key.as_ref())?;
    let tls = certificate.as_ref().map(Certificate::server_config).transpose()?;
    let Some(listen) = args.operations_listen else { return Ok((None, None)) };
    if tls.is_none() {
        warn_about_plain_operations(listen);
    }
    Ok((Some(operations.serve(listen, tls)?), certificate))
}

/// The queues of rows that are written off the way of their requests: audit entries of refusals, and request logs.
fn logs(
    application: &Application,
    adapters: &SystemAdapters,
    operations: &Operations,
) -> (Arc<AuditQueue>, Arc<RequestLogQueue>) {
    let metrics = &operations.metrics;
    let (wall, clock) = (Arc::clone(&adapters.wall), Arc::clone(&application.env.clock));
    let audit = AuditQueue::new(application.store(), wall, Arc::clone(metrics) as _);
    (audit, RequestLogQueue::new(application.store(), clock, Arc::clone(metrics) as _))
}

/// The parts of a serving or working process.
struct Process {
    adapters: SystemAdapters,
    /// The machine's clock.
    system_clock: Arc<SystemClock>,
    keys: Arc<KeyRing>,
    application: Application,
    database_url: String,
    folder: DataFolder,
    bank: Bank,
    /// Audit entries of refusals.
    audit: Arc<AuditQueue>,
    /// The request logs of the partners.
    requests: Arc<RequestLogQueue>,
    /// Sends the audit chain heads.
    heads: Arc<HeadForwarder>,
    /// The bank, with metrics.
    gateway: Arc<dyn BankGateway>,
    _capabilities: PeriodicCheck,
    feed_waiters: Arc<FeedWaiters>,
    webhooks: Arc<HttpWebhooks>,
    operations: Operations,
    status: Arc<ProcessStatus>,
    /// Dropped after the rest: it reports the shutdown too.
    operations_server: Option<OperationsServer>,
    operations_certificate: Option<Arc<Certificate>>,
    /// Held until the process ends.
    _lock: Option<FolderLock>,
}

impl Process {
    fn start(args: &ServiceArgs, sandbox: bool, store_kind: StoreKind) -> anyhow::Result<Self> {
        let settings = args.settings();
        // First, so that the start can be observed.
        let operations = Operations::new()?;
        if sandbox {
            operations.health.sandbox_is_on();
            log::warn!(
                "the sandbox is on: every partner can deposit money and move the clock; KOPECK_SANDBOX=false switches it off"
            );
        }
        let (operations_server, operations_certificate) = serve_operations(&args.operations, &operations)?;
        let system_clock = Arc::new(SystemClock::default());
        let adapters = SystemAdapters::with_wall(Arc::clone(&system_clock) as _);
        let storage = Storage::open(&args.store, &*adapters.entropy, args.new_database)?;
        let lock = storage.folder.lock()?;
        let keys = storage.keys.ring()?;
        super::migrate::apply(&args.store, &storage.folder, &keys)?;
        let (adapters, clock) = adapters.with_clock_of(&storage.folder)?;
        if args.accept_history {
            super::check::accept_history(&args.store, &keys, &adapters)?;
            log::warn!("the history of the database is accepted as it is");
        }
        let metrics = Arc::clone(&operations.metrics);
        let heads = Arc::new(HeadForwarder::new(
            Arc::clone(&adapters.wall),
            args.store.audit_heads.clone(),
            log::Level::Info,
            move |sent| metrics.audit_heads_sent(sent),
        ));
        let feed_waiters = Arc::new(FeedWaiters::default());
        let parts = Parts {
            feed: Some(Arc::clone(&feed_waiters) as _),
            store_observer: Some(Arc::clone(&operations.metrics) as _),
            logins: Some(Arc::clone(&operations.metrics) as _),
            audit_heads: Some(Arc::clone(&heads) as _),
            store_kind,
            connections: Some(args.database_connections),
            ..Parts::default()
        };
        let application =
            Application::with_parts(args.store.database_url(), &keys, &adapters, settings, parts)?;
        operations.health.store_is_open(&application.store);
        let bank = Bank::open(args, sandbox, &storage.folder, &adapters, clock, settings)?;
        let (gateway, capabilities) = operations.observe_bank(&bank.gateway)?;
        let (audit, requests) = logs(&application, &adapters, &operations);
        if storage.folder.is_embedded() {
            end_leases(&*application.store())?;
        }
        let folder = storage.folder;
        let status = Arc::new(ProcessStatus::new(operations.clone(), Arc::clone(&application.env.clock)));
        Ok(Self {
            status,
            adapters,
            system_clock,
            keys,
            application,
            database_url: args.store.database_url().to_owned(),
            folder,
            bank,
            audit,
            requests,
            heads,
            gateway,
            _capabilities: capabilities,
            feed_waiters,
            webhooks: Arc::new(HttpWebhooks::new(args.webhooks.settings(sandbox))?),
            operations,
            operations_server,
            operations_certificate,
            _lock: lock,
        })
    }

    /// Makes the demo partner, if this is the first start of a sandbox; returns what is to be shown.
    fn first_start(&self, args: &ServeArgs, url: &str, has_console: bool) -> anyhow::Result<Option<String>> {
        if self.bank.sandbox.is_none() {
            return Ok(None);
        }
        let past = (has_console && args.service.is_embedded_default()).then(|| Past {
            adapters: &self.adapters,
            keys: &self.keys,
            folder: &self.folder,
            database_url: &self.database_url,
            settings: args.service.settings(),
        });
        let (application, folder) = (&self.application, &self.folder);
        FirstStart { application, folder, url, has_console, past }.demo_partner()
    }

    fn console(&self, has_docs: bool) -> Arc<dyn FrontEnd> {
        let (bank, sandbox) = (Arc::clone(&self.gateway), self.bank.sandbox.clone());
        console::front_end(&self.application, bank, sandbox, Arc::clone(&self.status) as _, has_docs)
    }

    /// The HTTP API with at most so many connections.
    fn http_state(&self, args: &ServeArgs, max_connections: u32) -> HttpState {
        HttpState::new(HttpParts {
            env: Arc::clone(&self.application.env),
            wall: Arc::clone(&self.adapters.wall),
            store: self.application.store(),
            bank: Arc::clone(&self.gateway),
            tokens: Arc::clone(&self.application.tokens),
            sandbox: self.bank.sandbox.clone(),
            metrics: Arc::clone(&self.operations.metrics) as _,
            audit: Arc::clone(&self.audit),
            requests: Arc::clone(&self.requests),
            feed_waiters: Arc::clone(&self.feed_waiters),
            webhooks: Arc::clone(&self.webhooks) as _,
            settings: HttpSettings {
                body_limit: args.body_limit,
                body_memory: args.front.body_memory,
                max_connections: usize::try_from(max_connections).unwrap_or(usize::MAX),
                rate_limit: args.front.rate_limit(),
                trusted_proxies: args.front.trusted_proxies.clone(),
                proxy_header: args.front.proxy_header,
                docs: args.docs,
                webhook_senders: args.service.webhooks.webhook_senders.clone(),
                ..HttpSettings::default()
            },
        })
    }

    fn workers(&self, count: u8, reconcile: Option<TimeOfDay>) -> anyhow::Result<Workers> {
        let bank = || Arc::clone(&self.gateway);
        let worker = self.application.worker(bank());
        let background = BackgroundWork {
            refresher: self.application.account_refresher(bank()),
            blocks: self.application.block_sender(bank()),
            follower: self.application.bank_feed_follower(bank(), self.adapters.ids.next_id()),
            runs: self.application.run_timer(),
            leavers: self.application.leaver_timer(bank()),
            programmes: self.application.programme_timer(bank()),
            deliverer: self.deliverer(),
            reconciliation: reconcile.map(|from| self.reconciliation(from)),
        };
        let (store, env) = (self.application.store(), &self.application.env);
        let workers =
            Workers::start(count, &store, env, &Arc::new(worker), background, self.database_clock_check())?;
        self.operations.health.workers_are_started(workers.liveness());
        Ok(workers)
    }

    fn reconciliation(&self, from: TimeOfDay) -> DailyReconciliation {
        DailyReconciliation {
            reconciler: self.application.bank_reconciler(Arc::clone(&self.gateway)),
            store: self.application.store(),
            env: Arc::clone(&self.application.env),
            from,
            entry: audited::entry(&*self.application.env.clock, "bank.reconcile", None),
            observer: Arc::clone(&self.operations.metrics) as _,
        }
    }

    fn deliverer(&self) -> Deliverer {
        Deliverer {
            store: self.application.store(),
            env: Arc::clone(&self.application.env),
            wall: Arc::clone(&self.adapters.wall),
            tokens: Arc::clone(&self.application.tokens),
            sender: Arc::clone(&self.webhooks) as _,
            observer: Arc::clone(&self.operations.metrics) as _,
            process: self.adapters.ids.next_id(),
            appended: self.feed_waiters.subscribe_to_all(),
        }
    }

    /// Reschedules jobs from the future, and measures the clock of a database server. An embedded database uses the
    /// machine's.
    fn database_clock_check(&self) -> impl FnMut() -> Result<(), StoreError> + Send + 'static {
        let mut watch = self.application.clock_watch();
        let metrics = (!self.folder.is_embedded()).then(|| Arc::clone(&self.operations.metrics));
        move || {
            let ClockCheck { step, ahead_of_service, brought_back } = watch.check()?;
            if let Some(metrics) = &metrics {
                metrics.clock_seen(ClockLabel::Database, ahead_of_service, step);
            }
            if brought_back > 0 {
                log::warn!(requests = brought_back; "jobs were due in the future and are due now: a clock was set back");
            }
            Ok(())
        }
    }

    /// Takes changed keys and a changed certificate over, writes what the database could not take before, and notices if
    /// the machine's clock is set.
    fn watch_files_and_clock(&self, certificate: Option<Arc<Certificate>>) -> anyhow::Result<PeriodicCheck> {
        let (keys, metrics) = (Arc::clone(&self.keys), Arc::clone(&self.operations.metrics));
        let (audit, heads) = (Arc::clone(&self.audit), Arc::clone(&self.heads));
        let (requests, status) = (Arc::clone(&self.requests), Arc::clone(&self.status));
        let clock = Arc::clone(&self.system_clock);
        let certificates: Vec<_> =
            certificate.into_iter().chain(self.operations_certificate.clone()).collect();
        PeriodicCheck::start(move || {
            let ClockReading { step, offset } = clock.read();
            metrics.clock_seen(ClockLabel::Machine, offset, step);
            keys.refresh();
            audit.tick();
            requests.tick();
            status.tick();
            heads.tick();
            for certificate in &certificates {
                match certificate.refresh() {
                    CertificateRefresh::Unchanged => {}
                    looked => metrics.certificate_changed(looked == CertificateRefresh::Replaced),
                }
            }
        })
    }

    fn announce_operations_address(&self) {
        if let Some(operations_server) = &self.operations_server {
            announce(&format!("health and metrics on {}\n", operations_server.url()));
        }
    }

    fn stop(self, workers: Option<Workers>) {
        if let Some(workers) = workers {
            workers.stop();
        }
        self.audit.close();
        self.requests.close();
        self.application.store.close();
        match kopeck_adapter_store_diesel::scrub(&self.database_url) {
            Ok(true) => log::info!("made the database file anew, since personal data was erased"),
            Ok(false) => {}
            Err(error) => log::warn!(error:% = error; "erased data may be left in free space of the file"),
        }
        self.heads.send();
        drop(self.operations_server);
        log::info!("stopped");
    }
}
