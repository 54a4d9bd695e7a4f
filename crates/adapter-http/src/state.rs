//! The state that all requests share.

use std::sync::Arc;
use std::time::Duration;

use kopeck_fair_queue::Limits;
use kopeck_port_bank::BankGateway;
use kopeck_port_bank::sandbox::Sandbox;
use kopeck_port_store::Store;
use kopeck_port_system::Clock;
use kopeck_port_webhook::WebhookSender;
use kopeck_sealing::{KeyId, SealingKey};
use kopeck_service::Env;
use kopeck_service::audit::AuditQueue;
use kopeck_service::request_log::RequestLogQueue;
use kopeck_service::tokens::TokenService;
use tokio::sync::Semaphore;

use crate::body::BodyMemory;
use crate::bridge::ConcurrencyLimit;
use crate::caller_cache::CallerCache;
use crate::connections::{Connections, NetworkShares};
use crate::feed_waiters::FeedWaiters;
use crate::in_flight::RequestsInFlight;
use crate::known_addresses::KnownAddresses;
use crate::metrics::HttpMetrics;
use crate::rate_limit::PartnerRateLimiter;
use crate::settings::HttpSettings;

/// The dependencies of the HTTP API.
pub struct HttpParts {
    /// Clock, ids, random bytes and the settings of the rules.
    pub env: Arc<Env>,
    /// The machine's own clock, which judges sealed values: a partner's clock does not jump when a sandbox moves the
    /// service's clock.
    pub wall: Arc<dyn Clock>,
    /// The database.
    pub store: Arc<dyn Store>,
    /// The bank connector.
    pub bank: Arc<dyn BankGateway>,
    /// Logins and tokens.
    pub tokens: Arc<TokenService>,
    /// Control of the bank simulator and of the clock. Without it the sandbox's operations do not exist.
    pub sandbox: Option<Sandbox>,
    /// The metrics recorder.
    pub metrics: Arc<dyn HttpMetrics>,
    /// Audit entries of requests that change nothing.
    pub audit: Arc<AuditQueue>,
    /// The request logs of the partners.
    pub requests: Arc<RequestLogQueue>,
    /// Requests that wait for events. The store wakes them.
    pub feed_waiters: Arc<FeedWaiters>,
    /// Checks the addresses of webhooks.
    pub webhooks: Arc<dyn WebhookSender>,
    /// Limits of the server.
    pub settings: HttpSettings,
}

/// The most files of the reference page sent at once: they need no authentication, and the largest has half a megabyte.
const DOCUMENTS_AT_ONCE: usize = 32;

/// How long a request waits for a permit.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Waiting logins of a source per permit: their checks take less than half a second.
const LOGINS_PER_PERMIT: usize = 8;

/// Waiting requests of a partner per permit of other limits. All that wait for events may be woken at once.
const WAITERS_PER_PERMIT: usize = 64;

/// A large spreadsheet takes longer than [`TIMEOUT`], so a partner must not have all permits.
const LEAST_PERMITS: usize = 2;

/// The bounds of work of which a source has at most half.
fn halves(permits: usize, waiters_per_permit: usize) -> Limits {
    let permits = permits.max(1);
    let waiters = permits.saturating_mul(waiters_per_permit);
    Limits { permits, share: (permits / 2).max(1), waiters, timeout: TIMEOUT }
}

/// State shared by all requests.
pub(crate) struct Shared {
    pub(crate) parts: HttpParts,
    /// Recently authenticated tokens.
    pub(crate) callers: CallerCache,
    /// Absent if requests are not limited.
    pub(crate) rate_limiter: Option<PartnerRateLimiter>,
    /// Open connections.
    pub(crate) connections: Arc<Connections>,
    /// Mutations in flight.
    pub(crate) in_flight: RequestsInFlight,
    /// Bounds password checks.
    pub(crate) logins: ConcurrencyLimit,
    /// Addresses of recent logins.
    pub(crate) known_addresses: KnownAddresses,
    /// Bounds calls to the bank.
    pub(crate) bank_calls: ConcurrencyLimit,
    /// The memory budget for bodies.
    pub(crate) body_memory: BodyMemory,
    /// Permits to send files of the reference page.
    pub(crate) documents: Arc<Semaphore>,
    /// Bounds the decoding of large bodies.
    pub(crate) large_calls: ConcurrencyLimit,
    /// Bounds the spreadsheets that are made.
    pub(crate) spreadsheets: ConcurrencyLimit,
    /// Bounds reads of many records.
    pub(crate) lists: ConcurrencyLimit,
    /// Opens values sealed under unknown keys: it fails, in the same time as a known key.
    pub(crate) dummy_key: SealingKey,
}

impl Shared {
    /// The state of an API with these dependencies.
    pub(crate) fn new(parts: HttpParts) -> Self {
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
            max_connections,
            ..
        } = parts.settings;
        // The programs of a developer's machine are all of one network.
        let counts_loopback = parts.sandbox.is_none();
        let proxies = parts.settings.trusted_proxies.clone();
        let shares = NetworkShares::new(max_connections, proxies, counts_loopback);
        let rate_limiter = rate_limit.map(|limit| PartnerRateLimiter::new(limit, Arc::clone(&parts.wall)));
        let for_each_processor = halves(workers.max(LEAST_PERMITS), WAITERS_PER_PERMIT);
        Self {
            connections: Arc::new(Connections::shared(shares, Arc::clone(&parts.metrics))),
            parts,
            callers: CallerCache::default(),
            rate_limiter,
            in_flight: RequestsInFlight::default(),
            logins: ConcurrencyLimit::new("logins", halves(logins_at_once, LOGINS_PER_PERMIT)),
            known_addresses: KnownAddresses::default(),
            bank_calls: ConcurrencyLimit::new("bank calls", halves(bank_calls_at_once, WAITERS_PER_PERMIT)),
            body_memory: BodyMemory::new(body_memory, body_limit),
            documents: Arc::new(Semaphore::new(DOCUMENTS_AT_ONCE)),
            // One partner leaves half of the processors to other requests.
            large_calls: ConcurrencyLimit::new("large calls", for_each_processor),
            spreadsheets: ConcurrencyLimit::new("spreadsheets", for_each_processor),
            lists: ConcurrencyLimit::new("lists", for_each_processor),
            dummy_key: SealingKey::new(KeyId::from_bytes(id), secret),
        }
    }
}
