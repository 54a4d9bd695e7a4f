//! The connections of each client network: one network cannot take those of all others.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ipnet::IpNet;

use crate::client_address::{TrustedProxies, network};

/// A network may have one of so many connections.
const SHARE: usize = 8;

/// The open connections by network.
pub(crate) struct NetworkShares {
    /// The most of one network.
    most: usize,
    /// Proxies are not counted: they carry the requests of many clients.
    proxies: TrustedProxies,
    /// Whether clients on this machine are counted too.
    counts_loopback: bool,
    open: Mutex<HashMap<IpNet, usize>>,
}

/// Counts as a connection of its network until it is dropped.
pub(crate) struct NetworkPermit {
    shares: Arc<NetworkShares>,
    /// `None` if it is not counted.
    network: Option<IpNet>,
}

impl NetworkShares {
    /// An eighth of `max_connections` for each network, at least one.
    pub(crate) fn new(max_connections: usize, proxies: TrustedProxies, counts_loopback: bool) -> Self {
        Self { most: (max_connections / SHARE).max(1), proxies, counts_loopback, open: Mutex::default() }
    }

    /// A permit for a connection from `peer`; `None` if its network has as many as it may have.
    pub(crate) fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<NetworkPermit> {
        let peer = peer.to_canonical();
        let is_counted = !self.proxies.contains(peer) && (self.counts_loopback || !peer.is_loopback());
        let network = network(peer).filter(|_| is_counted);
        if let Some(network) = network {
            let mut counts = self.counts();
            let open = counts.entry(network).or_insert(0);
            if *open >= self.most {
                return None;
            }
            *open += 1;
        }
        Some(NetworkPermit { shares: Arc::clone(self), network })
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<IpNet, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for NetworkPermit {
    fn drop(&mut self) {
        let Some(network) = self.network else { return };
        if let Entry::Occupied(mut open) = self.shares.counts().entry(network) {
            *open.get_mut() -= 1;
            if *open.get() == 0 {
                open.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(proxies: &str, counts_loopback: bool) -> Arc<NetworkShares> {
        Arc::new(NetworkShares::new(23, proxies.parse().unwrap(), counts_loopback))
    }

    fn admit(shares: &Arc<NetworkShares>, peer: &str) -> Option<NetworkPermit> {
        shares.admit(peer.parse().unwrap())
    }

    #[test]
    fn a_network_has_an_eighth_of_the_connections() {
        let shares = shares("", true);
        for [first, second, third, other] in [
            ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"],
            ["2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::", "2001:db8:0:1::1"],
            ["::ffff:198.51.100.1", "198.51.100.1", "::ffff:198.51.100.1", "::ffff:198.51.100.2"],
        ] {
            let permits = [first, second].map(|peer| admit(&shares, peer).unwrap());
            assert!(admit(&shares, third).is_none(), "{third}");
            assert!(admit(&shares, other).is_some(), "{other}");
            drop(permits);
            assert!(admit(&shares, third).is_some(), "{third}");
        }
        assert!(shares.counts().is_empty());
        assert!(NetworkShares::new(1, TrustedProxies::default(), true).most == 1);
    }

    #[test]
    fn proxies_and_clients_of_a_sandbox_on_the_same_machine_are_not_counted() {
        let shares = shares("10.0.0.0/8,fd00::/8", false);
        for peer in ["10.1.2.3", "::ffff:10.1.2.3", "fd00::1", "127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            let permits: Vec<_> = (0..10).filter_map(|_| admit(&shares, peer)).collect();
            assert_eq!(permits.len(), 10, "{peer}");
        }
        let counted = self::shares("", true);
        let permits: Vec<_> = (0..10).filter_map(|_| admit(&counted, "127.0.0.1")).collect();
        assert_eq!(permits.len(), 2);
    }
}
