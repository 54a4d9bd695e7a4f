//! Networks that webhooks do not lead into.

use std::net::IpAddr;

use ipnet::IpNet;

/// The special-purpose address registries of IANA for IPv4 and IPv6 (as of 2026-10), with multicast and the deprecated
/// site-local block. Forms of IPv6 that hold an address of IPv4 are among them, as what they lead to depends on a translator.
const SPECIAL: &[&str] = &[
    "0.0.0.0/8",         // this network
    "10.0.0.0/8",        // private use
    "100.64.0.0/10",     // shared address space
    "127.0.0.0/8",       // loopback
    "169.254.0.0/16",    // link local
    "172.16.0.0/12",     // private use
    "192.0.0.0/24",      // IETF protocol assignments
    "192.0.2.0/24",      // documentation
    "192.31.196.0/24",   // AS112
    "192.52.193.0/24",   // AMT
    "192.88.99.0/24",    // 6to4 relays
    "192.168.0.0/16",    // private use
    "192.175.48.0/24",   // AS112
    "198.18.0.0/15",     // benchmarking
    "198.51.100.0/24",   // documentation
    "203.0.113.0/24",    // documentation
    "224.0.0.0/4",       // multicast
    "240.0.0.0/4",       // reserved, and the limited broadcast
    "::/96",             // unspecified, loopback, IPv4-compatible
    "64:ff9b::/96",      // translation of IPv4
    "64:ff9b:1::/48",    // translation of IPv4
    "100::/64",          // discard only
    "100:0:0:1::/64",    // dummy prefix
    "2001::/23",         // IETF protocol assignments, Teredo among them
    "2001:db8::/32",     // documentation
    "2002::/16",         // 6to4
    "2620:4f:8000::/48", // AS112
    "3fff::/20",         // documentation
    "5f00::/16",         // segment routing
    "fc00::/7",          // unique local
    "fe80::/10",         // link local
    "fec0::/10",         // site local
    "ff00::/8",          // multicast
];

/// Which addresses webhooks may lead to.
#[derive(Debug, Clone)]
pub(crate) struct Networks {
    special: Vec<IpNet>,
    allowed: Vec<IpNet>,
}

impl Networks {
    /// All but the special ones, and `allowed` ones.
    pub(crate) fn new(allowed: Vec<IpNet>) -> Self {
        Self { special: SPECIAL.iter().filter_map(|block| block.parse().ok()).collect(), allowed }
    }

    /// Whether webhooks may lead to this address. IPv4 in its mapped form counts as IPv4.
    pub(crate) fn allow(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let is_in = |blocks: &[IpNet]| blocks.iter().any(|block| block.contains(&address));
        is_in(&self.allowed) || !is_in(&self.special)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_special_network_is_refused_from_its_first_to_its_last_address() {
        let networks = Networks::new(Vec::new());
        assert_eq!(networks.special.len(), SPECIAL.len());
        for block in &networks.special {
            for address in [block.network(), block.broadcast()] {
                assert!(!networks.allow(address), "{address} of {block}");
            }
        }
    }

    #[test]
    fn public_addresses_are_allowed() {
        let networks = Networks::new(Vec::new());
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "172.32.0.0",
            "223.255.255.255",
            "2606:4700::1",
            "2a00::1",
        ] {
            assert!(networks.allow(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn ipv4_within_ipv6_does_not_hide_it() {
        let networks = Networks::new(Vec::new());
        for address in [
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::a00:1",
            "2002:7f00:1::",
            "2001:0:7f00:1::",
        ] {
            assert!(!networks.allow(address.parse().unwrap()), "{address}");
        }
        assert!(networks.allow("::ffff:8.8.8.8".parse().unwrap()));
    }

    #[test]
    fn a_setting_allows_a_network_and_no_other() {
        let networks = Networks::new(vec!["10.1.0.0/16".parse().unwrap(), "fd00::/8".parse().unwrap()]);
        for (address, is_allowed) in [
            ("10.1.2.3", true),
            ("::ffff:10.1.2.3", true),
            ("10.2.2.3", false),
            ("fd12::1", true),
            ("fc00::1", false),
        ] {
            assert_eq!(networks.allow(address.parse().unwrap()), is_allowed, "{address}");
        }
    }
}
