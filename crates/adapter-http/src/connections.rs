//! Counts the open connections of the server.

mod networks;

use std::net::IpAddr;
use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::ConnectionType;
use tokio::sync::watch;

use crate::metrics::{HttpMetrics, RefusalKind};

pub(crate) use networks::{NetworkPermit, NetworkShares};

/// The open connections, and whether they are draining.
pub(crate) struct Connections {
    is_draining: watch::Sender<bool>,
    open: watch::Sender<usize>,
    /// Shares of networks, and the counter of refusals. `None`: unlimited.
    limit: Option<(Arc<NetworkShares>, Arc<dyn HttpMetrics>)>,
}

impl Default for Connections {
    fn default() -> Self {
        Self { is_draining: watch::Sender::new(false), open: watch::Sender::new(0), limit: None }
    }
}

impl Connections {
    /// Connections of which each network has a share.
    pub(crate) fn shared(shares: NetworkShares, metrics: Arc<dyn HttpMetrics>) -> Self {
        Self { limit: Some((Arc::new(shares), metrics)), ..Self::default() }
    }

    /// Whether a connection from `peer` may be opened, and what to keep until it is closed; `None` if its network has
    /// its share.
    pub(crate) fn admit(&self, peer: IpAddr) -> Option<Option<NetworkPermit>> {
        let Some((shares, metrics)) = &self.limit else { return Some(None) };
        let permit = shares.admit(peer);
        if permit.is_none() {
            metrics.record_refusal(RefusalKind::Connection);
        }
        permit.map(Some)
    }

    /// Counts a connection until the result is dropped.
    pub(crate) fn open(self: &Arc<Self>) -> OpenConnection {
        self.open.send_modify(|open| *open += 1);
        OpenConnection(Arc::clone(self))
    }

    /// From now on every response says `Connection: close`.
    pub(crate) fn start_draining(&self) {
        self.is_draining.send_replace(true);
    }

    /// Waits until the server drains.
    pub(crate) async fn draining(&self) {
        // The sender is here, so this cannot fail.
        let _ = self.is_draining.subscribe().wait_for(|is_draining| *is_draining).await;
    }

    /// Waits until no connection is open.
    pub(crate) async fn closed(&self) {
        // The sender is here, so this cannot fail.
        let _ = self.open.subscribe().wait_for(|open| *open == 0).await;
    }

    /// Adds `Connection: close` while the server drains.
    pub(crate) fn close_if_draining(&self, response: &mut HttpResponse) {
        if *self.is_draining.borrow() {
            response.head_mut().set_connection_type(ConnectionType::Close);
        }
    }
}

/// Counts as open until it is dropped.
pub(crate) struct OpenConnection(Arc<Connections>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.open.send_modify(|open| *open -= 1);
    }
}
