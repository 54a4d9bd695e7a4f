//! What both kinds of store offer beside [`Store`].

use kopeck_port_store::{Access, Store};

use crate::connection::PoolState;
use crate::files::DiskSpace;
use kopeck_port_store::Outage;

/// A database that is open. It is closed by dropping it, too.
pub trait OpenStore: Store {
    /// Units of work that wait for a thread.
    fn waiting(&self, access: Access) -> usize;

    /// The connections of the pool.
    fn connections(&self, access: Access) -> PoolState;

    /// Why the database accepts no writes at present, as far as is known; half a second after it does again this is
    /// nothing. A server that does not answer is no outage: ask it.
    fn outage(&self) -> Option<Outage>;

    /// The space of an embedded database, as of a second ago.
    fn disk_space(&self) -> Option<DiskSpace>;

    /// Takes no more work, finishes what is queued, and ends the threads. What is submitted later is answered by
    /// [`StoreError::Unavailable`](kopeck_port_store::StoreError::Unavailable).
    fn close(&self);
}
