//! Settings of a store.

use std::sync::Arc;

use kopeck_port_store::{AuditSigner, ColumnCipher, ColumnPlace, FeedListener, HeadObserver, StoreError};
use kopeck_port_system::Clock;

use crate::server_url::is_server;
use kopeck_port_store::{NoopObserver, StoreObserver};

/// Each has a page cache of its own.
const MAX_EMBEDDED_READERS: usize = 2;

/// How to open a store.
#[derive(Clone)]
pub struct StoreConfig {
    /// The database: `sqlite://PATH`, or `postgres://…` as libpq reads it.
    pub url: String,
    /// The clock by which work is due and leases end, where the database has no clock of its own. A database server's clock
    /// is taken to be ahead by as much as this one.
    pub clock: Arc<dyn Clock>,
    /// Connections for units of work, each with a thread. Of those to a server half read and half write, at least one each;
    /// an embedded database has at most two that read, and one that writes. Default [`Self::CONNECTIONS`].
    pub connections: u16,
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
    /// The default number of connections.
    pub const CONNECTIONS: u16 = 6;

    /// The defaults for the database at `url`.
    #[must_use]
    pub fn new(url: impl Into<String>, clock: Arc<dyn Clock>) -> Self {
        Self {
            url: url.into(),
            clock,
            connections: Self::CONNECTIONS,
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
        if self.is_server() { usize::from(self.connections.div_ceil(2)).max(1) } else { 1 }
    }

    /// Connections that read.
    pub(crate) fn readers(&self) -> usize {
        let most = if self.is_server() { usize::MAX } else { MAX_EMBEDDED_READERS };
        usize::from(self.connections / 2).clamp(1, most)
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

    fn digests(&self, _: &'static str, _: &[u8]) -> Vec<[u8; 32]> {
        Vec::new()
    }

    fn current_prefix(&self) -> Vec<u8> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use kopeck_port_system::fake::FakeClock;
    use time::OffsetDateTime;

    use super::*;

    #[test]
    fn connections_are_shared_by_readers_and_writers() {
        let shares = |url: &str, connections| {
            let clock = Arc::new(FakeClock::starting_at(OffsetDateTime::UNIX_EPOCH));
            let config = StoreConfig { connections, ..StoreConfig::new(url, clock) };
            (config.readers(), config.writers())
        };
        for (connections, expected) in [(0, (1, 1)), (2, (1, 1)), (7, (3, 4)), (32, (16, 16))] {
            assert_eq!(shares("postgres://db/kopeck", connections), expected);
        }
        for (connections, expected) in [(2, (1, 1)), (6, (2, 1)), (32, (2, 1))] {
            assert_eq!(shares("sqlite://kopeck.sqlite", connections), expected);
        }
    }
}
