//! Addresses with a recent login.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use ipnet::IpNet;
use kopeck_fair_queue::Rank;
use lru::LruCache;
use time::Duration;

use crate::request_source::RequestSource;

/// The most remembered addresses.
const CAPACITY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9_999);

/// How long an address is remembered after a login.
const MEMORY: Duration = Duration::DAY;

/// The share of all clients without a valid API key and a recent login. ADR 26 explains what the waiting time tells an
/// attacker.
pub(crate) const STRANGERS: (RequestSource, Rank) = (RequestSource::Network(None), Rank::Last);

/// Addresses with a recent login at this process, by the steady clock.
pub(crate) struct KnownAddresses(Mutex<LruCache<IpNet, Duration>>);

impl Default for KnownAddresses {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(CAPACITY)))
    }
}

impl KnownAddresses {
    /// Remembers a login from `network`.
    pub(crate) fn remember(&self, network: IpNet, now: Duration) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).put(network, now);
    }

    /// The share and the rank of a password check without an API key: a flood of logins from unknown sources must not delay
    /// others.
    pub(crate) fn priority(&self, network: Option<IpNet>, now: Duration) -> (RequestSource, Rank) {
        let known = network.filter(|network| self.contains(*network, now));
        known.map_or(STRANGERS, |network| (RequestSource::Network(Some(network)), Rank::First))
    }

    /// Whether `network` logged in recently. A lookup does not prolong an entry.
    fn contains(&self, network: IpNet, now: Duration) -> bool {
        let addresses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        addresses.peek(&network).is_some_and(|at| *at + MEMORY > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(number: u32) -> IpNet {
        IpNet::from(std::net::IpAddr::from(std::net::Ipv4Addr::from_bits(number)))
    }

    #[test]
    fn an_address_is_known_for_a_day() {
        let (addresses, now) = (KnownAddresses::default(), Duration::ZERO);
        addresses.remember(network(1), now);
        assert!(addresses.contains(network(1), now + MEMORY - Duration::SECOND));
        assert!(!addresses.contains(network(1), now + MEMORY));
        assert!(!addresses.contains(network(2), now));
    }

    #[test]
    fn memory_is_bounded() {
        let (addresses, now) = (KnownAddresses::default(), Duration::ZERO);
        (0..=10_000).for_each(|number| addresses.remember(network(number), now));
        assert!(!addresses.contains(network(0), now) && addresses.contains(network(10_000), now));
    }
}
