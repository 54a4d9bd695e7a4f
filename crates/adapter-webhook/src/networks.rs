//! Networks that webhooks do not lead into.

use std::net::IpAddr;

use ipnet::IpNet;

/// All public addresses of IPv6 are within it: IANA allocates nothing outside. So forms that hold an address of IPv4, and whatever
/// will be of the rest, are refused without being named.
const GLOBAL_UNICAST: &str = "2000::/3";

/// The special-purpose address registries of IANA for IPv4, with multicast, and for IPv6 within [`GLOBAL_UNICAST`] (as of
/// 2026-10).
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
    "2001::/23",         // IETF protocol assignments, Teredo among them
    "2001:db8::/32",     // documentation
    "2002::/16",         // 6to4
    "2620:4f:8000::/48", // AS112
    "3fff::/20",         // documentation
];

/// Which addresses webhooks may lead to.
#[derive(Debug, Clone)]
pub(crate) struct Networks {
    global_v6: Option<IpNet>,
    special: Vec<IpNet>,
    allowed: Vec<IpNet>,
}

impl Networks {
    /// All public ones, and `allowed` ones.
    pub(crate) fn new(allowed: Vec<IpNet>) -> Self {
        let special = SPECIAL.iter().filter_map(|block| block.parse().ok()).collect();
        Self { global_v6: GLOBAL_UNICAST.parse().ok(), special, allowed }
    }

    /// Whether webhooks may lead to this address. IPv4 in its mapped form counts as IPv4.
    pub(crate) fn allow(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let is_in = |blocks: &[IpNet]| blocks.iter().any(|block| block.contains(&address));
        let is_public = match address {
            IpAddr::V4(_) => true,
            IpAddr::V6(_) => self.global_v6.is_some_and(|block| block.contains(&address)),
        };
        is_in(&self.allowed) || (is_public && !is_in(&self.special))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_special_network_is_refused_from_its_first_to_its_last_address() {
        let networks = Networks::new(Vec::new());
        assert_eq!((networks.special.len(), networks.global_v6.is_some()), (SPECIAL.len(), true));
        for block in &networks.special {
            for address in [block.network(), block.broadcast()] {
                assert!(!networks.allow(address), "{address} of {block}");
            }
        }
    }

    /// The ends of `2000::/3` and of each block within, and what lies beside them.
    #[test]
    fn of_ipv6_only_global_unicast_addresses_are_allowed() {
        let networks = Networks::new(Vec::new());
        for (address, is_allowed) in [
            ("::", false),
            ("::1", false),
            ("::ffff:0:7f00:1", false),
            ("::ffff:0:808:808", false),
            ("64:ff9b::808:808", false),
            ("100::1", false),
            ("400::1", false),
            ("1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false),
            ("2000::", true),
            ("2000:ffff::", true),
            ("2001::", false),
            ("2001:1ff:ffff::", false),
            ("2001:200::", true),
            ("2001:db7::", true),
            ("2001:db8::", false),
            ("2001:db9::", true),
            ("2001:ffff::", true),
            ("2002:808:808::", false),
            ("2003::", true),
            ("2620:4f:7fff::", true),
            ("2620:4f:8000::1", false),
            ("2620:4f:8001::", true),
            ("3ffe:ffff::", true),
            ("3fff::1", false),
            ("3fff:fff::", false),
            ("3fff:1000::", true),
            ("3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true),
            ("4000::", false),
            ("5f00::1", false),
            ("8000::1", false),
            ("fbff::1", false),
            ("fc00::1", false),
            ("fdff::1", false),
            ("fe00::1", false),
            ("fe80::1", false),
            ("fec0::1", false),
            ("ff02::1", false),
            ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false),
        ] {
            assert_eq!(networks.allow(address.parse().unwrap()), is_allowed, "{address}");
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
