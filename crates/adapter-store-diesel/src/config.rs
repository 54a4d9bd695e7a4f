//! Settings of a store.

use std::sync::Arc;

use kopeck_port_store::{AuditSigner, ColumnCipher, ColumnPlace, FeedListener, HeadObserver, StoreError};
use kopeck_port_system::Clock;

use crate::server_url::is_server;
use kopeck_port_store::{NoopObserver, StoreObserver};

/// How to open a store.
#[derive(Clone)]
pub struct StoreConfig {
    /// The database: `sqlite://PATH`, or `postgres://…` as libpq reads it.
    pub url: String,
    /// The clock by which work is due and leases end, where the database has no clock of its own. A database server's clock
    /// is taken to be ahead by as much as this one.
    pub clock: Arc<dyn Clock>,
    /// Threads that write, each with a connection, where the database has several writers; at least one is started.
    /// Default 4. SQLite has one.
    pub writing_threads: usize,
    /// Threads that read, each with a connection; at least one is started. Default 2.
    pub reading_threads: usize,
    /// Units of work that may wait, for the readers and for the writers each. Default 1024.
    pub queue: usize,
    /// Receives the metrics of the threads. Default: none.
    pub observer: Arc<dyn StoreObserver>,
    /// How the audit log is written.
    pub audit: AuditSettings,
    /// Learns of appended events, and other processes with it. Default: none.
    pub feed: Option<Arc<dyn FeedListener>>,
    /// Encrypts columns. Default: a cipher that refuses to.
    pub cipher: Arc<dyn ColumnCipher>,
}

/// How a store writes the audit log.
#[derive(Clone, Default)]
pub struct AuditSettings {
    /// Signs entries. Default: none.
    pub signer: Option<Arc<dyn AuditSigner>>,
    /// Receives the heads of chains. Default: none.
    pub heads: Option<Arc<dyn HeadObserver>>,
    /// The chain of new entries.
    pub chain: AuditChain,
}

/// The chain that entries are appended to.
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
            observer: Arc::new(NoopObserver),
            audit: AuditSettings::default(),
            feed: None,
            cipher: Arc::new(NoKey),
        }
    }

    /// Whether the database is a server.
    pub(crate) fn is_server(&self) -> bool {
        is_server(&self.url)
    }

    /// Connections that write.
    pub(crate) fn writers(&self) -> usize {
        if self.is_server() { self.writing_threads.max(1) } else { 1 }
    }

    /// Connections that read.
    pub(crate) fn readers(&self) -> usize {
        self.reading_threads.max(1)
    }
}

/// The cipher of a store that was opened without a master key: it reads and writes no encrypted column.
struct NoKey;

impl NoKey {
    fn refusal() -> StoreError {
        StoreError::Failed("the store was opened without a master key".to_owned())
    }
}

impl ColumnCipher for NoKey {
    fn encrypt(&self, _: &ColumnPlace<'_>, _: &[u8]) -> Result<Vec<u8>, StoreError> {
        Err(Self::refusal())
    }

    fn decrypt(&self, _: &ColumnPlace<'_>, _: &[u8]) -> Result<Vec<u8>, StoreError> {
        Err(Self::refusal())
    }

    fn current_prefix(&self) -> Vec<u8> {
        Vec::new()
    }
}
