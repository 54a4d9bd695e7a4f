//! Wires the application.

use std::num::NonZeroUsize;
use std::sync::Arc;

use anyhow::Context as _;
use kopeck_adapter_bank_simulator::Simulator;
use kopeck_adapter_security::{Argon2Passwords, AuditKeys, JwtTokens, KeyRing, MasterKeyBox, TotpCodes};
use kopeck_adapter_store_diesel::{AuditChain, AuditSettings, OpenStore, StoreConfig, StoreKind};
use kopeck_adapter_system::{DataFolder, OsEntropy, ServiceClock, SystemClock, TimeOrderedIds};
use kopeck_port_bank::BankGateway;
use kopeck_port_security::PasswordHasher;
use kopeck_port_store::{Access, AuditSigner, FeedListener, HeadObserver, Store, StoreObserver, transact};
use kopeck_port_system::{Clock, Entropy, IdSource};
use kopeck_service::accounts::AccountRefresher;
use kopeck_service::bank_feed::BankFeedFollower;
use kopeck_service::bank_reconciliation::BankReconciler;
use kopeck_service::card_blocks::BlockSender;
use kopeck_service::leavers::LeaverTimer;
use kopeck_service::logins::{LoginObserver, NoopLoginObserver};
use kopeck_service::partners::PartnerService;
use kopeck_service::programmes::ProgrammeTimer;
use kopeck_service::runs::RunTimer;
use kopeck_service::tokens::TokenService;
use kopeck_service::users::UserService;
use kopeck_service::worker::{ClockWatch, Worker, WorkerSettings};
use kopeck_service::{Env, Settings};
use uuid::Uuid;

use crate::cli::StoreArgs;
use crate::connections::check_database;
use crate::keys::MasterKeys;

/// Clocks, identifiers and randomness: those of the operating system, or fakes in tests.
#[derive(Clone)]
pub struct SystemAdapters {
    /// The service's clock, for tokens, cards, periods, the daily refresh and the simulator.
    pub clock: Arc<dyn Clock>,
    /// The machine's clock, for sealed values.
    pub wall: Arc<dyn Clock>,
    /// Identifiers.
    pub ids: Arc<dyn IdSource>,
    /// Randomness.
    pub entropy: Arc<dyn Entropy>,
}

impl SystemAdapters {
    /// The operating system's; the service's clock is the machine's.
    #[must_use]
    pub fn real() -> Self {
        Self::with_wall(Arc::new(SystemClock::default()))
    }

    /// The operating system's, with this clock.
    #[must_use]
    pub fn with_wall(wall: Arc<dyn Clock>) -> Self {
        Self { clock: Arc::clone(&wall), wall, ids: Arc::new(TimeOrderedIds), entropy: Arc::new(OsEntropy) }
    }

    /// The adapters with the service's clock as the sandbox left it in `folder`, and that clock.
    ///
    /// # Errors
    /// If the folder has an offset that cannot be read.
    pub fn with_clock_of(self, folder: &DataFolder) -> anyhow::Result<(Self, Arc<ServiceClock>)> {
        let clock = Arc::new(ServiceClock::open(Arc::clone(&self.wall), folder.clock_file())?);
        Ok((Self { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..self }, clock))
    }
}

/// Store, keys and use cases, without the HTTP API.
pub struct Application {
    /// Clock, ids, bytes, settings.
    pub env: Arc<Env>,
    /// The database.
    pub store: Arc<dyn OpenStore>,
    /// Partners and their keys.
    pub partners: PartnerService,
    /// Users and their sessions.
    pub users: UserService,
    /// Tokens.
    pub tokens: Arc<TokenService>,
    /// Signs the audit log.
    pub signer: Arc<dyn AuditSigner>,
}

/// The data folder, and the keys to the database.
pub struct Storage {
    /// The folder.
    pub folder: DataFolder,
    /// The master keys, given or the folder's own.
    pub keys: MasterKeys,
}

impl Storage {
    /// Opens or creates the data folder of `args`. A master key is created only with a new embedded database. `anew` permits
    /// a new database although other files show that there was one.
    ///
    /// # Errors
    /// If the folder cannot be created or read, a key is invalid or missing, or the database is missing.
    pub fn open(args: &StoreArgs, entropy: &dyn Entropy, anew: bool) -> anyhow::Result<Self> {
        check_database(args)?;
        let folder = DataFolder::make(args.database_url(), args.data_dir.as_deref())?;
        folder.begin_database(anew)?;
        check_file(&folder)?;
        let keys = MasterKeys::open(args, &folder, entropy)?;
        // A database without its key would be lost from the start.
        keys.ring()?;
        folder.make_database()?;
        Ok(Self { folder, keys })
    }

    /// Opens the data folder of an existing database.
    ///
    /// # Errors
    /// If there is no such database, or a key is invalid or missing.
    pub fn open_existing(args: &StoreArgs) -> anyhow::Result<Self> {
        check_database(args)?;
        let folder = DataFolder::existing(args.database_url(), args.data_dir.as_deref())?;
        check_file(&folder)?;
        let keys = MasterKeys::existing(args, &folder)?;
        Ok(Self { folder, keys })
    }
}

/// Refuses an embedded database's file that is not empty and not a database of Kopeck.
fn check_file(folder: &DataFolder) -> anyhow::Result<()> {
    folder.database().map_or(Ok(()), |file| {
        kopeck_adapter_store_diesel::check_file(file)
            .with_context(|| format!("cannot use {}", file.display()))
    })
}

/// Replacements for parts of an [`Application`].
#[derive(Default)]
pub struct Parts {
    /// The password hasher. Creating one takes as long as a login.
    pub passwords: Option<Arc<dyn PasswordHasher>>,
    /// The observer of the store, if any.
    pub store_observer: Option<Arc<dyn StoreObserver>>,
    /// The observer of users' logins, if any.
    pub logins: Option<Arc<dyn LoginObserver>>,
    /// The receiver of audit chain heads, if any.
    pub audit_heads: Option<Arc<dyn HeadObserver>>,
    /// Learns of appended events, and other processes with it. Commands have none.
    pub feed: Option<Arc<dyn FeedListener>>,
    /// Whether units of work share transactions. Commands have no use for that.
    pub store_kind: StoreKind,
    /// Connections to the database, if not the default number.
    pub connections: Option<u16>,
    /// The audit chain of new entries.
    pub audit_chain: AuditChain,
}

impl Application {
    /// Opens the database at `url`.
    ///
    /// # Errors
    /// If the database cannot be opened, lacks migrations, or was made under another master key.
    pub fn open(
        url: &str,
        keys: &Arc<KeyRing>,
        adapters: &SystemAdapters,
        settings: Settings,
    ) -> anyhow::Result<Self> {
        Self::with_parts(url, keys, adapters, settings, Parts::default())
    }

    /// [`Self::open`] with replaced parts.
    ///
    /// # Errors
    /// The errors of [`Self::open`].
    pub fn with_parts(
        url: &str,
        keys: &Arc<KeyRing>,
        adapters: &SystemAdapters,
        settings: Settings,
        parts: Parts,
    ) -> anyhow::Result<Self> {
        let passwords = match parts.passwords {
            Some(passwords) => passwords,
            None => {
                let at_once = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
                Arc::new(Argon2Passwords::new(Arc::clone(&adapters.entropy), at_once)?)
            }
        };
        let mut config = StoreConfig::new(url, Arc::clone(&adapters.clock));
        if let Some(observer) = parts.store_observer {
            config.observer = observer;
        }
        config.feed = parts.feed;
        config.connections = parts.connections.unwrap_or(config.connections);
        let signer: Arc<dyn AuditSigner> = Arc::new(AuditKeys::new(Arc::clone(keys)));
        config.audit = AuditSettings {
            signer: Some(Arc::clone(&signer)),
            heads: parts.audit_heads,
            chain: parts.audit_chain,
        };
        let secrets = Arc::new(MasterKeyBox::new(Arc::clone(keys), Arc::clone(&adapters.entropy)));
        config.cipher = Arc::clone(&secrets) as _;
        let store = parts.store_kind.open(config)?;
        let env = Arc::new(Env {
            clock: Arc::clone(&adapters.clock),
            ids: Arc::clone(&adapters.ids),
            entropy: Arc::clone(&adapters.entropy),
            settings,
        });
        let partners =
            PartnerService::new(Arc::clone(&env), Arc::clone(&passwords), Arc::clone(&secrets) as _);
        let users = UserService::new(
            Arc::clone(&env),
            Arc::clone(&passwords),
            Arc::clone(&secrets) as _,
            Arc::new(TotpCodes),
            parts.logins.unwrap_or_else(|| Arc::new(NoopLoginObserver)),
        );
        let tokens = Arc::new(TokenService::new(
            Arc::clone(&env),
            passwords,
            Arc::new(JwtTokens::new(Arc::clone(keys))),
            secrets,
        ));
        let application = Self { env, store, partners, users, tokens, signer };
        application.check_master_key()?;
        Ok(application)
    }

    /// Under another key no stored secret could be decrypted, and every login would fail.
    fn check_master_key(&self) -> anyhow::Result<()> {
        let partners = self.partners.clone();
        let fits = transact(&*self.store, Access::Read, move |unit| partners.key_fits(unit))?;
        anyhow::ensure!(fits, "the master key is not the one that this database was made with");
        Ok(())
    }

    /// The store's port.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as Arc<dyn Store>
    }

    /// A worker for `bank`.
    #[must_use]
    pub fn worker(&self, bank: Arc<dyn BankGateway>) -> Worker {
        Worker::new(self.store(), bank, Arc::clone(&self.env), WorkerSettings::default())
    }

    /// The watch that reschedules jobs after a step of the clock.
    #[must_use]
    pub fn clock_watch(&self) -> ClockWatch {
        ClockWatch::new(self.store(), Arc::clone(&self.env), WorkerSettings::default())
    }

    /// The daily refresh of card accounts at `bank`.
    #[must_use]
    pub fn account_refresher(&self, bank: Arc<dyn BankGateway>) -> AccountRefresher {
        AccountRefresher::new(self.store(), bank, Arc::clone(&self.env))
    }

    /// The sender of blocks to `bank`.
    #[must_use]
    pub fn block_sender(&self, bank: Arc<dyn BankGateway>) -> BlockSender {
        BlockSender::new(self.store(), bank, Arc::clone(&self.env))
    }

    /// What makes the runs of programmes, by the balances of cards at `bank`.
    #[must_use]
    pub fn programme_timer(&self, bank: Arc<dyn BankGateway>) -> ProgrammeTimer {
        ProgrammeTimer::new(self.store(), bank, Arc::clone(&self.env))
    }

    /// What starts scheduled runs, and ends the waiting of others.
    #[must_use]
    pub fn run_timer(&self) -> RunTimer {
        RunTimer::new(self.store(), Arc::clone(&self.env))
    }

    /// What takes the steps of leavers, by the balances of cards at `bank`.
    #[must_use]
    pub fn leaver_timer(&self, bank: Arc<dyn BankGateway>) -> LeaverTimer {
        LeaverTimer::new(self.store(), bank, Arc::clone(&self.env))
    }

    /// The comparison with the registry of `bank`.
    #[must_use]
    pub fn bank_reconciler(&self, bank: Arc<dyn BankGateway>) -> BankReconciler {
        BankReconciler::new(self.store(), bank, Arc::clone(&self.env))
    }

    /// The follower of the feed of `bank`. `process` names this process among those of the service.
    #[must_use]
    pub fn bank_feed_follower(&self, bank: Arc<dyn BankGateway>, process: Uuid) -> BankFeedFollower {
        BankFeedFollower::new(self.store(), bank, Arc::clone(&self.env), process)
    }
}

/// The bank simulator with its database in `folder`.
///
/// # Errors
/// If the database cannot be opened.
pub fn simulator(
    folder: &DataFolder,
    adapters: &SystemAdapters,
    settings: Settings,
    repeat_is_safe: bool,
) -> anyhow::Result<Arc<Simulator>> {
    let (clock, entropy) = (Arc::clone(&adapters.clock), Arc::clone(&adapters.entropy));
    let simulator = Simulator::open(&folder.bank_file(), clock, entropy, settings.zone)?;
    Ok(Arc::new(simulator.with_repeat_is_safe(repeat_is_safe)))
}
