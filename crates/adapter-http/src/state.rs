//! What every call has at hand.

use std::sync::Arc;

use kopeck_port_bank::BankGateway;
use kopeck_port_store::Store;
use kopeck_port_system::Clock;
use kopeck_sealing::{KeyId, SealingKey};
use kopeck_service::Env;
use kopeck_service::audit::Notes;
use kopeck_service::tokens::TokenService;
use tokio::sync::Semaphore;

use crate::bridge::ConcurrencyLimit;
use crate::docs_page;
use crate::drain::Connections;
use crate::in_flight::InFlight;
use crate::login_queue::{KnownAddresses, LoginQueue};
use crate::metrics::HttpMetrics;
use crate::pipeline::authentication::CallerCache;
use crate::pipeline::body::BodyMemory;
use crate::rate_limit::PartnerRateLimiter;
use crate::router::RouteTable;
use crate::routes;
use crate::sandbox::SandboxControl;
use crate::settings::HttpSettings;

/// The parts that the HTTP API is made of.
pub struct HttpParts {
    /// Clock, ids, random bytes and the settings of the rules.
    pub env: Arc<Env>,
    /// The machine's own time, by which sealed values are judged: a partner's clock does not jump when the service's is
    /// moved forward.
    pub wall: Arc<dyn Clock>,
    /// The database.
    pub store: Arc<dyn Store>,
    /// The way to the bank.
    pub bank: Arc<dyn BankGateway>,
    /// Logins and tokens.
    pub tokens: Arc<TokenService>,
    /// Power over the bank simulator. Without it the sandbox's calls do not exist.
    pub sandbox: Option<Arc<dyn SandboxControl>>,
    /// Whoever counts what happens.
    pub metrics: Arc<dyn HttpMetrics>,
    /// What is told of calls that change nothing.
    pub audit: Arc<Notes>,
    /// Limits of the server.
    pub settings: HttpSettings,
}

/// The HTTP API, shared by all threads that serve it. Cheap to clone.
#[derive(Clone)]
pub struct HttpState(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) parts: HttpParts,
    /// Where the operations are.
    pub(crate) paths: RouteTable,
    /// CallerCache seen a moment ago.
    pub(crate) callers: CallerCache,
    /// How often partners called, if that is limited.
    pub(crate) rate_limiter: Option<PartnerRateLimiter>,
    /// Connections of clients.
    pub(crate) connections: Arc<Connections>,
    /// Calls that are being carried out.
    pub(crate) in_flight: InFlight,
    /// Passwords being checked.
    pub(crate) logins: LoginQueue,
    /// Addresses that logged in lately.
    pub(crate) known_addresses: KnownAddresses,
    /// Calls that wait for the bank.
    pub(crate) bank_calls: ConcurrencyLimit,
    /// The memory for bodies.
    pub(crate) body_memory: BodyMemory,
    /// Files of the reference page that are being sent.
    pub(crate) documents: Arc<Semaphore>,
    /// Calls with large bodies, being taken apart.
    pub(crate) large_calls: ConcurrencyLimit,
    /// Opens what is sealed under a key that is not known: in vain, but in the same time.
    pub(crate) dummy_key: SealingKey,
}

impl HttpState {
    /// The API made of `parts`.
    #[must_use]
    pub fn new(parts: HttpParts) -> Self {
        let (mut id, mut secret) = ([0; 8], [0; 32]);
        parts.env.entropy.fill(&mut id);
        parts.env.entropy.fill(&mut secret);
        let HttpSettings {
            logins_at_once,
            bank_calls_at_once,
            rate_limit,
            workers,
            body_memory,
            body_limit,
            ..
        } = parts.settings;
        let rate_limiter = rate_limit.map(|limit| PartnerRateLimiter::new(limit, Arc::clone(&parts.wall)));
        let sandbox = parts.sandbox.is_some().then(routes::sandbox).unwrap_or_default();
        Self(Arc::new(Shared {
            parts,
            paths: RouteTable::of(routes::interface().iter().chain(sandbox)),
            callers: CallerCache::default(),
            rate_limiter,
            connections: Arc::default(),
            in_flight: InFlight::default(),
            logins: LoginQueue::new(logins_at_once),
            known_addresses: KnownAddresses::default(),
            bank_calls: ConcurrencyLimit::new("bank calls", bank_calls_at_once),
            body_memory: BodyMemory::new(body_memory, body_limit),
            documents: Arc::new(Semaphore::new(docs_page::SENT_AT_ONCE)),
            // Half of the processors are left for all the others.
            large_calls: ConcurrencyLimit::new("large calls", workers / 2),
            dummy_key: SealingKey::new(KeyId::from_bytes(id), secret),
        }))
    }
}
