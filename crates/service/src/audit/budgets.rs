//! Budgets of audit entries for unauthenticated requests, and counts of entries beyond the capacity.
//!
//! A fixed window of one minute. Each client network and each partner's API key has a budget, so that a flood from one
//! address hides no other. All networks together have a ceiling, so that many addresses cannot fill the disk. Requests
//! over a budget are counted, and the end of the window writes the counts as entries.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use kopeck_audit::{Entry, Outcome};
use kopeck_domain::ids::PartnerId;
use time::{Duration, OffsetDateTime};

/// The length of a window.
const WINDOW: Duration = Duration::MINUTE;

/// Entries per window of one network.
pub(super) const BY_NETWORK: u32 = 60;

/// Entries per window under one partner's API key.
pub(super) const BY_API_KEY: u32 = 60;

/// Entries per window of all networks together.
pub(super) const BY_ALL_NETWORKS: u32 = 600;

/// Networks that are counted by themselves; more are counted together.
pub(super) const MOST_NETWORKS: usize = 10_000;

/// Networks with a separate summarising entry.
pub(super) const MOST_SUMMARIES: usize = 100;

/// The action of a summarising entry.
const SUMMARY: &str = "audit.summary";

/// The budgets of the current window.
pub(super) struct Budgets {
    since: OffsetDateTime,
    networks: HashMap<Network, Count>,
    /// At most one per partner, so it needs no limit.
    api_keys: HashMap<PartnerId, Count>,
    written_by_networks: u32,
    /// Requests from networks beyond [`MOST_NETWORKS`].
    untracked: u64,
}

#[derive(Default)]
struct Count {
    written: u32,
    more: u64,
}

impl Budgets {
    /// A window that begins at `now`.
    pub(super) fn starting_at(now: OffsetDateTime) -> Self {
        Self {
            since: now,
            networks: HashMap::new(),
            api_keys: HashMap::new(),
            written_by_networks: 0,
            untracked: 0,
        }
    }

    /// Whether to write `entry`; otherwise it is counted. `has_room` says whether the queue has capacity.
    pub(super) fn admit(&mut self, entry: &Entry, has_room: bool) -> bool {
        // The API key was right, although nothing else was.
        if let Some(partner) = entry.partner {
            return self.api_keys.entry(partner).or_default().admit(has_room, BY_API_KEY);
        }
        let network = Network::of(&entry.source);
        if !self.networks.contains_key(&network) && self.networks.len() >= MOST_NETWORKS {
            self.untracked += 1;
            return false;
        }
        let has_room = has_room && self.written_by_networks < BY_ALL_NETWORKS;
        let admitted = self.networks.entry(network).or_default().admit(has_room, BY_NETWORK);
        self.written_by_networks += u32::from(admitted);
        admitted
    }

    /// Counts an entry of an authenticated request that is not written.
    pub(super) fn count(&mut self, entry: &Entry) {
        match entry.partner {
            Some(partner) => self.api_keys.entry(partner).or_default().more += 1,
            None => self.untracked += 1,
        }
    }

    /// If the window is over at `now`, begins another and returns the summaries.
    pub(super) fn roll(&mut self, now: OffsetDateTime) -> Vec<Entry> {
        // A clock that was set back also begins a window.
        if (Duration::ZERO..WINDOW).contains(&(now - self.since)) { Vec::new() } else { self.close(now) }
    }

    /// Begins another window and returns the summaries of this one.
    pub(super) fn close(&mut self, now: OffsetDateTime) -> Vec<Entry> {
        let Self { networks, api_keys, untracked, .. } = std::mem::replace(self, Self::starting_at(now));
        let mut api_keys = over_budget(api_keys);
        api_keys.sort_unstable();
        let mut networks = over_budget(networks);
        networks.sort_unstable_by_key(|(network, more)| (Reverse(*more), *network));
        let others = networks.split_off(networks.len().min(MOST_SUMMARIES));
        let summary = |source: String, partner, subject| Entry {
            partner,
            subject,
            outcome: Outcome::Refused,
            ..Entry::new(now, source, SUMMARY)
        };
        let of_keys = api_keys
            .into_iter()
            .map(|(partner, more)| summary("-".to_owned(), Some(partner), format!("more:{more}")));
        let of_networks = networks
            .into_iter()
            .map(|(network, more)| summary(network.to_string(), None, format!("more:{more}")));
        let mut entries: Vec<Entry> = of_keys.chain(of_networks).collect();
        let more = others.iter().map(|(_, more)| more).sum::<u64>() + untracked;
        if more > 0 {
            let at_least = if untracked > 0 { "+" } else { "" };
            let subject = format!("more:{more} addresses:{}{at_least}", others.len());
            entries.push(summary("-".to_owned(), None, subject));
        }
        entries
    }
}

impl Count {
    fn admit(&mut self, has_room: bool, budget: u32) -> bool {
        let admitted = has_room && self.written < budget;
        if admitted {
            self.written += 1;
        } else {
            self.more += 1;
        }
        admitted
    }
}

/// Those with requests over their budget, and how many.
fn over_budget<K>(counts: HashMap<K, Count>) -> Vec<(K, u64)> {
    counts.into_iter().map(|(key, count)| (key, count.more)).filter(|(_, more)| *more > 0).collect()
}

/// The addresses that count as one client: an IPv4 address, or the /64 of an IPv6 address, which is what one customer gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Network {
    V4(Ipv4Addr),
    /// The first 64 bits.
    V6(u128),
    /// Anything that is no address.
    Unknown,
}

impl Network {
    fn of(source: &str) -> Self {
        match source.parse().map(|address: IpAddr| address.to_canonical()) {
            Ok(IpAddr::V4(address)) => Self::V4(address),
            Ok(IpAddr::V6(address)) => Self::V6(u128::from(address) >> 64),
            Err(_) => Self::Unknown,
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4(address) => address.fmt(f),
            Self::V6(prefix) => write!(f, "{}/64", Ipv6Addr::from(*prefix << 64)),
            Self::Unknown => f.write_str("-"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const START: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    fn budgets() -> Budgets {
        Budgets::starting_at(START)
    }

    fn from(source: &str) -> Entry {
        Entry::new(START, source, "token.access")
    }

    /// Source and subject of the entries.
    fn summaries(budgets: &mut Budgets) -> Vec<String> {
        let entries = budgets.roll(START + WINDOW);
        assert!(entries.iter().all(|entry| entry.action == SUMMARY && entry.at == START + WINDOW));
        assert!(entries.iter().all(|entry| entry.outcome == Outcome::Refused));
        entries.iter().map(|entry| format!("{} {}", entry.source, entry.subject)).collect()
    }

    /// How many of so many entries are to be written.
    fn admitted(budgets: &mut Budgets, entry: &Entry, count: u32) -> u32 {
        (0..count).map(|_| u32::from(budgets.admit(entry, true))).sum()
    }

    #[test]
    fn an_ipv6_client_is_its_64_and_a_mapped_address_is_ipv4() {
        let mut budgets = budgets();
        assert_eq!(admitted(&mut budgets, &from("2001:db8:1:2::1"), BY_NETWORK), BY_NETWORK);
        assert_eq!(admitted(&mut budgets, &from("2001:db8:1:2:ffff::9"), 3), 0);
        assert_eq!(admitted(&mut budgets, &from("2001:db8:1:3::1"), 3), 3);
        assert_eq!(admitted(&mut budgets, &from("192.0.2.1"), BY_NETWORK + 1), BY_NETWORK);
        assert_eq!(admitted(&mut budgets, &from("::ffff:192.0.2.1"), 1), 0);
        assert_eq!(summaries(&mut budgets), ["2001:db8:1:2::/64 more:3", "192.0.2.1 more:2"]);
        assert_eq!(admitted(&mut budgets, &from("192.0.2.1"), 1), 1, "a new window, a new budget");
    }

    #[test]
    fn an_api_key_has_a_budget_of_its_own_whatever_strangers_do() {
        let mut budgets = budgets();
        for host in 0..20 {
            admitted(&mut budgets, &from(&format!("192.0.2.{host}")), BY_NETWORK);
        }
        assert_eq!(admitted(&mut budgets, &from("198.51.100.1"), 1), 0, "the ceiling of all networks");
        let partner = |id| Entry { partner: Some(Uuid::from_u128(id).into()), ..from("192.0.2.1") };
        assert_eq!(admitted(&mut budgets, &partner(1), BY_API_KEY + 2), BY_API_KEY);
        assert_eq!(admitted(&mut budgets, &partner(2), 6), 6);
        let entries = budgets.close(START);
        let of_key = entries.first().unwrap();
        assert_eq!((of_key.partner, of_key.subject.as_str()), (partner(1).partner, "more:2"));
        let more: u32 = entries[1..].iter().map(|e| e.subject["more:".len()..].parse::<u32>().unwrap()).sum();
        assert_eq!(more + BY_ALL_NETWORKS, 20 * BY_NETWORK + 1);
    }

    #[test]
    fn many_addresses_share_a_summary_and_bounded_memory() {
        let mut budgets = budgets();
        let address = |number: usize| from(&Ipv4Addr::from(u32::try_from(number).unwrap()).to_string());
        let all = MOST_NETWORKS + 5;
        let written = (0..all).filter(|number| budgets.admit(&address(*number), true)).count();
        assert_eq!((written, budgets.networks.len()), (BY_ALL_NETWORKS as usize, MOST_NETWORKS));
        let told = summaries(&mut budgets);
        assert_eq!(told.len(), MOST_SUMMARIES + 1);
        let (more, addresses) = (all - written - MOST_SUMMARIES, MOST_NETWORKS - written - MOST_SUMMARIES);
        assert_eq!(told[MOST_SUMMARIES], format!("- more:{more} addresses:{addresses}+"));
    }

    #[test]
    fn entries_over_the_budget_are_counted_and_a_window_ends_after_a_minute() {
        let mut budgets = budgets();
        assert!(!budgets.admit(&from("no address"), false));
        assert!(budgets.roll(START + WINDOW - Duration::MICROSECOND).is_empty());
        assert_eq!(summaries(&mut budgets), ["- more:1"]);
        assert!(!budgets.admit(&from("192.0.2.1"), false));
        assert_eq!(budgets.roll(START).len(), 1, "the clock went back");
    }
}
