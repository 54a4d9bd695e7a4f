//! The whole service in this process, on a clock that a test moves and with workers that a test steps.

mod waiting;

use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::Instant;

use actix_web::dev::ServerHandle;
use kopeck::compose::{Application, Parts, simulator};
use kopeck::operations::{Operations, ProcessStatus};
use kopeck_adapter_bank_simulator::Simulator;
use kopeck_adapter_http::{FeedWaiters, FrontEnd, HttpParts, HttpSettings, HttpState, NoopMetrics};
use kopeck_adapter_security::{KeyRing, MasterKey};
use kopeck_client::{Client, RetryPolicy};
use kopeck_domain::Kopecks;
use kopeck_domain::access::{Actor, Authority, Scopes};
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::partner::SealingPolicy;
use kopeck_domain::run::RunKind;
use kopeck_domain::run::row::{Cell, CellValue};
use kopeck_port_bank::sandbox::Sandbox;
use kopeck_port_store::{Access, StoreError, UnitOfWork, transact};
use kopeck_port_system::Clock;
use kopeck_port_system::fake::FakeClock;
use kopeck_port_webhook::fake::FakeSender;
use kopeck_sealing::{KeyId, SealingKey};
use kopeck_service::accounts::AccountRefresher;
use kopeck_service::audit::{AuditQueue, NoopAuditObserver};
use kopeck_service::bank_feed::BankFeedFollower;
use kopeck_service::card_blocks::BlockSender;
use kopeck_service::leavers::LeaverTimer;
use kopeck_service::partners::{
    self, CredentialDraft, DepositOrigin, NewCredential, NewPartner, PartnerError,
};
use kopeck_service::programmes::ProgrammeTimer;
use kopeck_service::reconciliation;
use kopeck_service::request_log::{NoopRequestLogObserver, RequestLogQueue};
use kopeck_service::runs::{self, InputRow, RunInput, RunTimer};
use kopeck_service::worker::{ClockCheck, ClockWatch, Worker};
use kopeck_service::{Env, Progress, Settings};
use secrecy::ExposeSecret;
use time::OffsetDateTime;
use time::macros::datetime;
use uuid::Uuid;

use crate::deployment::{Deployment, Plan, Ports, Snapshot};
use crate::quick_passwords::QuickPasswords;

/// Monday, 2 March 2026, noon in the service's zone.
pub const START: OffsetDateTime = datetime!(2026-03-02 09:00:00 UTC);

/// The timeout of every wait; each takes much less.
const LONG: std::time::Duration = std::time::Duration::from_secs(60);

/// The defaults of the binary.
pub const SETTINGS: Settings = Settings::DEFAULT;

/// Names followers of the bank's feed: not by the service's identifiers, which the pages and the fixtures know by their
/// order.
static PROCESSES: AtomicU64 = AtomicU64::new(1);

/// A running service.
pub struct TestServer {
    pub base_url: String,
    /// The machine's clock. The service's is ahead of it by the moves of the sandbox.
    pub clock: Arc<FakeClock>,
    pub bank: Arc<Simulator>,
    pub application: Application,
    pub worker: Worker,
    refresher: Mutex<AccountRefresher>,
    blocks: Mutex<BlockSender>,
    programmes: Mutex<ProgrammeTimer>,
    follower: Mutex<BankFeedFollower>,
    timer: RunTimer,
    leavers: LeaverTimer,
    watch: Mutex<ClockWatch>,
    requests: Arc<RequestLogQueue>,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
    /// Dropped last.
    deployment: Arc<Deployment>,
    died: bool,
}

/// The console of a process whose workers have begun.
fn console_of(application: &Application, ports: &Ports, sandbox: bool) -> Arc<dyn FrontEnd> {
    let operations = Operations::new().unwrap();
    operations.health.store_is_open(&application.store);
    operations.health.workers_are_started(Arc::default());
    let status = Arc::new(ProcessStatus::new(operations, Arc::clone(&application.env.clock)));
    let sandbox = sandbox.then(|| ports.sandbox.clone());
    kopeck::console::front_end(application, Arc::clone(&ports.bank), sandbox, status, true)
}

/// Serves on a free port, on a thread of its own.
fn listening(state: HttpState) -> (String, ServerHandle, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let server = kopeck_adapter_http::serve(listener, state).unwrap();
            sender.send(server.handle()).unwrap();
            server.await.unwrap();
        });
    });
    (base_url, receiver.recv().unwrap(), thread)
}

/// The password of every partner.
pub const PASSWORD: &str = "nine blue lorries at dawn";

/// A partner with its secrets.
pub struct TestPartner {
    pub id: PartnerId,
    pub api_key: String,
    pub login: String,
    pub password: String,
    pub key: SealingKey,
}

impl TestServer {
    /// With the sandbox, and the default limits.
    pub fn start() -> Self {
        Self::start_with(true, HttpSettings { workers: 1, ..HttpSettings::default() })
    }

    pub fn start_with(sandbox: bool, http: HttpSettings) -> Self {
        Self::start_at(START, sandbox, http)
    }

    /// On a clock that shows `start`.
    pub fn start_at(start: OffsetDateTime, sandbox: bool, http: HttpSettings) -> Self {
        Self::open(Arc::new(Deployment::new(start)), Plan { sandbox, http, ..Plan::default() })
    }

    /// Over what another server may have left behind.
    pub fn open(deployment: Arc<Deployment>, plan: Plan) -> Self {
        let Plan { sandbox, http, worker, ports, clock_ahead } = plan;
        let adapters = deployment.adapters(clock_ahead);
        let (adapters, service_clock) = adapters.with_clock_of(&deployment.data).unwrap();
        let keys = KeyRing::of(&MasterKey::from_bytes([7; 32]));
        let feed_waiters = Arc::new(FeedWaiters::default());
        let feed = Some(Arc::clone(&feed_waiters) as _);
        let passwords = Some(Arc::new(QuickPasswords::new(Arc::clone(&adapters.entropy))) as _);
        let parts = Parts { passwords, feed, store_kind: deployment.store_kind, ..Parts::default() };
        let application =
            Application::with_parts(&deployment.url, &keys, &adapters, SETTINGS, parts).unwrap();
        let bank = simulator(&deployment.data, &adapters, SETTINGS, true).unwrap();
        let sandboxed = Sandbox { bank: Arc::clone(&bank) as _, clock: service_clock };
        let ports = ports(Ports { store: application.store(), bank: bank.clone(), sandbox: sandboxed });
        let console = console_of(&application, &ports, sandbox);
        let requests = RequestLogQueue::new(
            application.store(),
            Arc::clone(&application.env.clock),
            Arc::new(NoopRequestLogObserver),
        );
        let state = HttpState::new(HttpParts {
            env: Arc::clone(&application.env),
            wall: Arc::clone(&adapters.wall),
            // Past the ports of the test: when it is written is not the request's affair.
            audit: AuditQueue::new(
                application.store(),
                Arc::clone(&adapters.wall),
                Arc::new(NoopAuditObserver),
            ),
            requests: Arc::clone(&requests),
            store: Arc::clone(&ports.store),
            bank: Arc::clone(&ports.bank),
            tokens: Arc::clone(&application.tokens),
            sandbox: sandbox.then_some(ports.sandbox),
            metrics: Arc::new(NoopMetrics),
            feed_waiters,
            webhooks: Arc::new(FakeSender),
            settings: http,
        })
        .with_front_end(console);
        let (base_url, handle, thread) = listening(state);
        let env = || Arc::clone(&application.env);
        let refresher = AccountRefresher::new(Arc::clone(&ports.store), Arc::clone(&ports.bank), env());
        let process = uuid::Uuid::from_u128(PROCESSES.fetch_add(1, Ordering::Relaxed).into());
        let follower = application.bank_feed_follower(Arc::clone(&ports.bank), process);
        let blocks = BlockSender::new(Arc::clone(&ports.store), Arc::clone(&ports.bank), env());
        let timer = RunTimer::new(Arc::clone(&ports.store), env());
        let leavers = LeaverTimer::new(Arc::clone(&ports.store), Arc::clone(&ports.bank), env());
        let programmes = ProgrammeTimer::new(Arc::clone(&ports.store), Arc::clone(&ports.bank), env());
        let watch = ClockWatch::new(Arc::clone(&ports.store), env(), worker);
        let worker = Worker::new(ports.store, ports.bank, env(), worker);
        Self {
            base_url,
            clock: Arc::clone(&deployment.clock),
            bank,
            application,
            worker,
            refresher: refresher.into(),
            blocks: blocks.into(),
            programmes: programmes.into(),
            follower: follower.into(),
            timer,
            leavers,
            watch: watch.into(),
            requests,
            handle,
            thread: Some(thread),
            deployment,
            died: false,
        }
    }

    /// The address of its database.
    pub fn database_url(&self) -> &str {
        &self.deployment.url
    }

    /// A partner with so many kopecks.
    pub fn partner(&self, sealing: SealingPolicy, deposit: i64) -> TestPartner {
        let login = format!("partner-{}", self.deployment.partners.lock().unwrap().len() + 1);
        let new = NewPartner {
            name: "Test".to_owned(),
            login: Some(login),
            password: Some(PASSWORD.into()),
            sealing,
        };
        let prepared = self.application.partners.prepare(new).unwrap();
        let (service, env) = (self.application.partners.clone(), Arc::clone(&self.application.env));
        let (partner, secrets) = transact(&*self.application.store, Access::Write, move |unit| {
            let made = service.create(unit, &prepared)?;
            if deposit > 0 {
                partners::deposit(unit, &env, made.0.id, Kopecks::new(deposit), &DepositOrigin::Opening)?;
            }
            Ok::<_, PartnerError>(made)
        })
        .unwrap();
        self.deployment.partners.lock().unwrap().push(partner.id);
        let secret: [u8; 32] = secrets.sealing_key.secret.expose_secret().try_into().unwrap();
        TestPartner {
            id: partner.id,
            api_key: secrets.api_key.expose_secret().to_owned(),
            login: partner.login,
            password: secrets.password.expose_secret().to_owned(),
            key: SealingKey::new(KeyId::from_bytes(secrets.sealing_key.id), secret),
        }
    }

    /// Writes what waits for the request log.
    pub fn write_request_log(&self) {
        self.requests.close();
    }

    /// A scoped credential of the partner, as a partner with secrets of its own.
    pub fn credential(&self, of: &TestPartner, scopes: Scopes, addresses: Option<&str>) -> TestPartner {
        let addresses = addresses.map(|text| text.parse().unwrap());
        let new = NewCredential { name: None, scopes, addresses };
        let CredentialDraft { record, secrets } =
            self.application.partners.prepare_credential(of.id, new).unwrap();
        let (id, stored) = (of.id, record.clone());
        // Past the limit of credentials too.
        let insert = move |unit: &mut dyn UnitOfWork| unit.credentials().insert(id, &stored);
        transact(&*self.application.store, Access::Write, insert).unwrap();
        let secret: [u8; 32] = secrets.sealing_key.secret.expose_secret().try_into().unwrap();
        TestPartner {
            id: of.id,
            api_key: secrets.api_key.expose_secret().to_owned(),
            login: record.login,
            password: secrets.password.expose_secret().to_owned(),
            key: SealingKey::new(KeyId::from_bytes(secrets.sealing_key.id), secret),
        }
    }

    /// Sets every partner's threshold, in kopecks.
    pub fn set_threshold(&self, kopecks: i64) {
        self.change_partners(move |unit, env, id| {
            partners::set_threshold(unit, env, id, Kopecks::new(kopecks))
        });
    }

    /// The partner who has this card.
    pub fn holder_of(&self, card: &str) -> PartnerId {
        let card: CardId = card.parse().unwrap();
        let partners = self.deployment.partners.lock().unwrap().clone();
        let has = |id: &PartnerId| {
            let id = *id;
            let read = move |unit: &mut dyn UnitOfWork| unit.cards().get(id, card);
            transact::<_, StoreError>(&*self.application.store, Access::Read, read).unwrap().is_some()
        };
        partners.into_iter().find(has).unwrap()
    }

    /// A run that orders a card, made and submitted by somebody else than the login, and waiting for an approval: its
    /// identifier and its digest.
    pub fn waiting_run_of(&self, id: PartnerId) -> (String, String) {
        let by = Authority { actor: Actor::User(Uuid::from_u128(1).into()), scopes: Scopes::ALL };
        let env = Arc::clone(&self.application.env);
        let cell =
            |name: &str, text: &str| Cell { name: name.to_owned(), value: CellValue::Text(text.to_owned()) };
        let cells = vec![cell("typeCard", "MLZ"), cell("numberCards", "1"), cell("amount", "5000")];
        let rows = vec![InputRow { line: 1, cells, limit: None, fault: None }];
        let kind = RunKind::VirtualOrder;
        let input = RunInput { kind, reference: None, at: None, creates_categories: false, rows };
        transact(&*self.application.store, Access::Write, move |unit| {
            let run = runs::create(unit, &env, id, &by.actor, &input).unwrap();
            unit.ledger().set_approval(id, Kopecks::new(1))?;
            runs::submit(unit, &env, id, &by, run.id(), run.digest(), false).unwrap();
            unit.ledger().set_approval(id, Kopecks::ZERO)?;
            Ok::<_, StoreError>((run.id().to_string(), run.digest().to_string()))
        })
        .unwrap()
    }

    /// Starts and ends the runs that are due, and takes the steps of leavers.
    pub fn run_timer(&self) {
        while self.try_run_timer().unwrap() != Progress::Idle {}
    }

    /// One round of the same.
    pub fn try_run_timer(&self) -> Result<Progress, StoreError> {
        let progress = [self.timer.run_once()?, self.leavers.run_once()?];
        Ok(if progress == [Progress::Idle; 2] { Progress::Idle } else { Progress::More })
    }

    /// Does what programmes have to do, up to what waits for a run or for the bank.
    pub fn programmes(&self) -> Progress {
        self.try_programmes().unwrap()
    }

    /// The same, up to the first failure.
    pub fn try_programmes(&self) -> Result<Progress, StoreError> {
        let mut timer = self.programmes.lock().unwrap();
        loop {
            let progress = timer.run_once(&|| false)?;
            if progress != Progress::More {
                return Ok(progress);
            }
        }
    }

    /// Does all that is due of programmes, and all that follows from it, each step of a run in its turn.
    pub fn pay(&self) {
        for _ in 0..6 {
            self.programmes();
            for _ in 0..4 {
                self.run_jobs();
            }
        }
    }

    /// Does with every partner what an operator's command would.
    pub fn change_partners(
        &self,
        change: impl Fn(&mut dyn UnitOfWork, &Env, PartnerId) -> Result<(), PartnerError> + Clone + Send + 'static,
    ) {
        for id in self.deployment.partners.lock().unwrap().iter().copied() {
            let (env, change) = (Arc::clone(&self.application.env), change.clone());
            transact(&*self.application.store, Access::Write, move |unit| change(unit, &env, id)).unwrap();
        }
    }

    /// A client that seals, on the machine's clock, and tries everything once.
    pub fn client(&self, partner: &TestPartner) -> Client {
        self.client_on(partner, Arc::clone(&self.clock) as Arc<dyn Clock>)
    }

    /// The same on another clock.
    pub fn client_on(&self, partner: &TestPartner, clock: Arc<dyn Clock>) -> Client {
        Client::builder(&self.base_url)
            .api_key(partner.api_key.as_str())
            .login(&partner.login)
            .password(partner.password.as_str())
            .sealing_key(partner.key.clone())
            .clock(move || u64::try_from(clock.now().unix_timestamp()).unwrap())
            .retry(RetryPolicy::none())
            .build()
            .unwrap()
    }

    /// Lets the processing delay pass and does all work that is due then.
    pub fn run_jobs(&self) {
        self.clock.advance(SETTINGS.processing_delay);
        self.work_now();
    }

    /// Lets a worker take what it takes at once; returns how many pieces of work that were.
    pub fn one_round(&self) -> usize {
        self.worker.run_once(&|| false).unwrap()
    }

    /// Runs the check of the clock, as every second.
    pub fn check_clock(&self) -> ClockCheck {
        self.watch.lock().unwrap().check().unwrap()
    }

    /// Does all work that is due.
    pub fn work_now(&self) {
        self.try_work_now().unwrap();
    }

    /// The same, up to the first failure.
    pub fn try_work_now(&self) -> Result<(), StoreError> {
        while self.worker.run_once(&|| false)? > 0 {}
        Ok(())
    }

    /// Notifies the bank of blocks.
    pub fn send_blocks(&self) -> Progress {
        self.blocks.lock().unwrap().run_once().unwrap()
    }

    /// Refreshes the accounts that are due.
    pub fn refresh_accounts(&self) {
        self.try_refresh_accounts().unwrap();
    }

    /// The same, up to the first failure.
    pub fn try_refresh_accounts(&self) -> Result<(), StoreError> {
        let mut refresher = self.refresher.lock().unwrap();
        while refresher.run_once(&|| false)? == Progress::More {}
        Ok(())
    }

    /// Follows the bank's feed to its end.
    pub fn follow_feed(&self) {
        let mut follower = self.follower.lock().unwrap();
        while follower.run_once(&|| false).unwrap() == Progress::More {}
    }

    /// The URL of the database.
    pub fn database(&self) -> &str {
        &self.deployment.url
    }

    /// Everything that is in the database.
    pub fn dump(&self) -> Vec<u8> {
        kopeck_adapter_store_diesel::testing::dump(&self.deployment.url)
    }

    /// Checks the ledger of every partner and of the bank; returns how much work is left over.
    pub fn check(&self) -> u64 {
        for id in self.deployment.partners.lock().unwrap().iter().copied() {
            let discrepancies =
                transact(&*self.application.store, Access::Read, move |unit| reconciliation::check(unit, id))
                    .unwrap();
            assert!(discrepancies.is_empty(), "{discrepancies:?}");
        }
        assert!(self.bank.check().unwrap().is_empty());
        transact(&*self.application.store, Access::Read, |unit| unit.jobs().count()).unwrap()
    }

    /// Ends as a process does that is killed: whatever it was about stays as it is.
    pub fn die(mut self) -> Arc<Deployment> {
        self.died = true;
        Arc::clone(&self.deployment)
    }

    /// The same, and keeps its files. Threads of HTTP can end shortly after the server, and the last owner of store or bank
    /// closes their files; here that is the caller.
    pub fn leave(self) -> Snapshot {
        let (store, bank) = (Arc::clone(&self.application.store), Arc::clone(&self.bank));
        let deployment = self.die();
        drop_alone(store);
        drop_alone(bank);
        deployment.snapshot()
    }
}

/// Drops `shared` once nothing else holds it.
fn drop_alone<T: ?Sized>(shared: Arc<T>) {
    let since = Instant::now();
    while Arc::strong_count(&shared) > 1 {
        assert!(since.elapsed() < LONG, "{} is still held", std::any::type_name::<T>());
        std::thread::yield_now();
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // `stop` answers by a future that need not be waited for: the thread below ends with the server.
        drop(self.handle.stop(true));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if !self.died && !std::thread::panicking() {
            assert_eq!(self.check(), 0, "no work is left over");
        }
    }
}
