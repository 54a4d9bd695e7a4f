//! The choice between the plain and the batched store.

use std::sync::Arc;

use crate::batched::BatchedStore;
use crate::config::StoreConfig;
use crate::error::OpenError;
use crate::plain::PooledStore;
use crate::store::OpenStore;

/// A kind of store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StoreKind {
    /// A transaction for each unit of work: [`PooledStore`].
    #[default]
    Plain,
    /// Transactions that units of work share: [`BatchedStore`].
    Batched,
}

impl StoreKind {
    /// Opens a database.
    ///
    /// # Errors
    /// [`OpenError`] if it cannot be reached or lacks migrations; [`crate::migrate()`] applies them.
    pub fn open(self, config: StoreConfig) -> Result<Arc<dyn OpenStore>, OpenError> {
        Ok(match self {
            Self::Plain => Arc::new(PooledStore::open(config)?),
            Self::Batched => Arc::new(BatchedStore::open(config)?),
        })
    }
}
