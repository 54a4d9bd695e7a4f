//! The store: its settings, its life, its threads' queues.

use std::sync::Arc;

use kopeck_port_store::{Access, AuditSigner, ColumnCipher, Done, HeadObserver, Store, StoreError, Work};
use kopeck_port_system::Clock;

use crate::condition::Condition;
use crate::crew::Crew;
use crate::dialect;
use crate::encryption::NoKey;
use crate::error::OpenError;
use crate::files::DiskSpace;
use crate::hand::{Beats, Caller, Job, Task};
use crate::observer::{StoreObserver, Unobserved};
use crate::outage::Outage;
use crate::queue::Refused;
use crate::watch::{self, Watch};

/// How a store is to be opened.
#[derive(Clone)]
pub struct StoreConfig {
    /// The database: `sqlite://PATH`, or `postgres://…` as libpq reads it.
    pub url: String,
    /// By which work is due and leases end, where the database has no clock of its own. A database server's clock is
    /// taken to be ahead by as much as this one.
    pub clock: Arc<dyn Clock>,
    /// Threads that write, each with a connection of its own, where the database has several writers; at least one is
    /// started. Default 4. SQLite has one.
    pub writing_threads: usize,
    /// Threads that read, each with a connection of its own; at least one is started. Default 2.
    pub reading_threads: usize,
    /// Units of work that may wait, for the readers and for the writers each. Default 1024.
    pub queue: usize,
    /// Measures the threads. Default: nobody does.
    pub observer: Arc<dyn StoreObserver>,
    /// How the audit log is written.
    pub audit: AuditSettings,
    /// Encrypts columns. Default: a cipher that refuses to.
    pub cipher: Arc<dyn ColumnCipher>,
}

/// How a store writes the audit log.
#[derive(Clone, Default)]
pub struct AuditSettings {
    /// Signs entries. Default: nobody does.
    pub signer: Option<Arc<dyn AuditSigner>>,
    /// Learns how far chains go. Default: nobody does.
    pub heads: Option<Arc<dyn HeadObserver>>,
    /// Where entries go.
    pub chain: AuditChain,
}

/// The chain that entries are added to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AuditChain {
    /// Every connection has one of its own, so that none waits for another.
    #[default]
    OfConnection,
    /// One chain of the database, which commands share: each waits for the one before.
    OfCommands,
}

impl StoreConfig {
    /// The defaults for the database at `url`.
    #[must_use]
    pub fn new(url: impl Into<String>, clock: Arc<dyn Clock>) -> Self {
        Self {
            url: url.into(),
            clock,
            writing_threads: 4,
            reading_threads: 2,
            queue: 1024,
            observer: Arc::new(Unobserved),
            audit: AuditSettings::default(),
            cipher: Arc::new(NoKey),
        }
    }
}

/// A database with its threads: some that write (one, on SQLite), some that read.
///
/// It is closed by [`close`](Self::close) or by dropping it.
pub struct DieselStore {
    crew: Arc<Crew>,
    condition: Arc<Condition>,
    beats: Beats,
    watch: Watch,
}

impl DieselStore {
    /// Opens the database and starts the threads.
    ///
    /// # Errors
    /// [`OpenError`] if the database cannot be reached or lacks migrations; [`crate::migrate()`] applies them.
    pub fn open(config: StoreConfig) -> Result<Self, OpenError> {
        let StoreConfig { url, clock, writing_threads, reading_threads, queue, observer, audit, cipher } =
            config;
        let (manners, beats) = (dialect::manners(&url), Beats::default());
        let condition = Arc::new(Condition::new(observer));
        let crew =
            Crew::new(&url, clock, audit, cipher, manners, beats.clone(), Arc::clone(&condition), queue);
        let crew = Arc::new(crew);
        let mut first = crew.connect(Access::Write)?;
        let missing = dialect::missing_migrations(first.connection())?;
        if !missing.is_empty() {
            return Err(OpenError::NotMigrated(missing));
        }
        // That question has opened all of them.
        if let Some(files) = dialect::files(&url) {
            condition.has_files(files);
            first.fit_log();
        }
        let watch = Watch::start(Arc::clone(&crew), beats.clone(), manners.is_server.then_some(&url))?;
        // From here on it is closed if something fails.
        let store = Self { crew, condition, beats, watch };
        store.crew.add(first)?;
        for _ in 1..manners.writers.unwrap_or(writing_threads) {
            store.crew.add(store.crew.connect(Access::Write)?)?;
        }
        for _ in 0..reading_threads.max(1) {
            store.crew.add(store.crew.connect(Access::Read)?)?;
        }
        Ok(store)
    }

    /// Units of work that wait for a thread at this moment.
    #[must_use]
    pub fn waiting(&self, access: Access) -> usize {
        self.crew.queue(access).len()
    }

    /// Why the database accepts no changes at present, as far as is known; half a second after it does again this is
    /// nothing. A server that does not answer is no outage: ask it.
    #[must_use]
    pub fn outage(&self) -> Option<Outage> {
        self.condition.outage()
    }

    /// How much space an embedded database had a second ago.
    #[must_use]
    pub fn disk_space(&self) -> Option<DiskSpace> {
        self.condition.space()
    }

    /// How often the store has looked after its threads. It measures by that for how long the database is silent.
    #[cfg(feature = "testing")]
    pub fn beats(&self) -> impl Fn() -> u64 + Send + Sync + 'static {
        let beats = self.beats.clone();
        move || beats.now()
    }

    /// Takes no more work, finishes what is queued, and ends the threads. What is submitted later is answered by
    /// [`StoreError::Unavailable`]. A thread whose database is silent is not waited for.
    pub fn close(&self) {
        self.crew.close();
        // The last owner may be a `done` that the watch calls; without it nobody gives up a thread that hangs.
        if !self.watch.is_this_thread() {
            self.crew.join();
        }
        self.watch.stop();
    }
}

impl DieselStore {
    fn queue(&self, access: Access, work: Work, done: Done) {
        if self.watch.is_away() {
            done(Err(watch::silent()));
            return;
        }
        let job = Job { task: Task::Work(work), caller: Caller::new(done), since: self.beats.now() };
        match self.crew.queue(access).push(job) {
            Ok(()) => {}
            Err(Refused::Full(job)) => job.caller.answer(Err(StoreError::Busy)),
            Err(Refused::Closed(job)) => {
                job.caller.answer(Err(StoreError::Unavailable("the store is closed".to_owned())));
            }
        }
    }
}

impl Store for DieselStore {
    fn submit(&self, access: Access, work: Work, done: Done) {
        self.queue(access, work, done);
    }
}

impl Drop for DieselStore {
    fn drop(&mut self) {
        self.close();
    }
}
