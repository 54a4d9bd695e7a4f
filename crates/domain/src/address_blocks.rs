//! Lists of networks, in CIDR notation (RFC 4632).

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::{IpNet, Ipv4Net};

/// The prefix length of `::ffff:0:0/96`, the IPv4-mapped addresses (RFC 4291, section 2.5.5.2).
const MAPPED_PREFIX: u8 = 96;

/// A list of address blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressBlocks(Vec<IpNet>);

/// The error of a text that is not a list of address blocks.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{0}` is not an address block such as 10.0.0.0/8 or fd00::/8 (IPv4-mapped: a prefix of at least 96)"
)]
pub struct InvalidBlock(String);

impl FromStr for AddressBlocks {
    type Err = InvalidBlock;

    /// Reads CIDR blocks and single addresses with commas between them. An empty text is an empty list.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let block = |text: &str| {
            let block = text.parse::<IpNet>().ok().or_else(|| text.parse().ok().map(IpAddr::into));
            block.and_then(canonical).ok_or_else(|| InvalidBlock(text.to_owned()))
        };
        let blocks = text.split(',').map(str::trim).filter(|_| !text.trim().is_empty());
        blocks.map(block).collect::<Result<_, _>>().map(Self)
    }
}

/// The IPv4 block of a block of IPv4-mapped addresses, because peers and hops are compared as IPv4 addresses. None for
/// a mapped block that is larger than all of IPv4.
fn canonical(block: IpNet) -> Option<IpNet> {
    let IpNet::V6(net) = block else { return Some(block) };
    let Some(mapped) = net.addr().to_ipv4_mapped() else { return Some(block) };
    let prefix = net.prefix_len().checked_sub(MAPPED_PREFIX)?;
    Ipv4Net::new(mapped, prefix).ok().map(IpNet::V4)
}

impl AddressBlocks {
    /// Whether one of the blocks has the address, whose IPv4-mapped form counts as another.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|block| block.contains(&address))
    }

    /// Whether there is no block.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The blocks with commas between them.
impl fmt::Display for AddressBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blocks: Vec<_> = self.0.iter().map(IpNet::to_string).collect();
        f.write_str(&blocks.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_it_is_written() {
        for (text, written) in [
            ("", ""),
            ("192.0.2.7", "192.0.2.7/32"),
            (" 10.0.0.0/8 , fd00::/8", "10.0.0.0/8,fd00::/8"),
            ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
        ] {
            let blocks: AddressBlocks = text.parse().unwrap();
            assert_eq!((blocks.to_string().as_str(), blocks.is_empty()), (written, written.is_empty()));
            assert_eq!(written.parse::<AddressBlocks>().unwrap(), blocks);
        }
        for text in ["10.0.0.0/33", "10.0.0.1,", "example.org", "::ffff:0:0/95"] {
            assert!(text.parse::<AddressBlocks>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_address_is_in_one_of_the_blocks() {
        let blocks: AddressBlocks = "10.1.0.0/16,2001:db8::/32".parse().unwrap();
        let has = |text: &str| blocks.contains(text.parse().unwrap());
        assert!(has("10.1.255.255") && has("2001:db8::1"));
        assert!(!has("10.2.0.0") && !has("2001:db9::1"));
        assert!(!AddressBlocks::default().contains("10.1.0.1".parse().unwrap()));
    }
}
