//! The client's network address: the peer's, or the one that a trusted proxy reports.
//!
//! Each proxy appends the address of its peer to `Forwarded` (RFC 7239) or `X-Forwarded-For`. The list is therefore
//! read from its end, for as long as trusted proxies wrote it. What stands before the first untrusted hop is that hop's
//! own claim and is not parsed. The time is linear in the length of the header, which the server's limit of a head
//! bounds.

mod forwarded;

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use actix_web::HttpRequest;
use actix_web::http::header::{FORWARDED, HeaderMap, X_FORWARDED_FOR};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// The prefix length by which IPv6 clients are counted: one customer of a network has at least a /64.
const IPV6_PREFIX: u8 = 64;

/// The prefix length of `::ffff:0:0/96`, the IPv4-mapped addresses (RFC 4291, section 2.5.5.2).
const MAPPED_PREFIX: u8 = 96;

/// The address blocks of the proxies whose headers are believed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<IpNet>);

/// The error of a text that is not a list of address blocks.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{0}` is not an address block such as 10.0.0.0/8 or fd00::/8 (IPv4-mapped: a prefix of at least 96)"
)]
pub struct InvalidBlock(String);

impl FromStr for TrustedProxies {
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

impl TrustedProxies {
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|block| block.contains(&address))
    }
}

/// The header in which trusted proxies report the client's address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProxyHeader {
    /// `Forwarded` if the request has it, else `X-Forwarded-For`.
    #[default]
    Any,
    /// `Forwarded` alone.
    Forwarded,
    /// `X-Forwarded-For` alone: for proxies that pass a client's own `Forwarded` on.
    XForwardedFor,
}

/// The error of a text that names no [`ProxyHeader`].
#[derive(Debug, thiserror::Error)]
#[error("must be any, forwarded or x-forwarded-for")]
pub struct UnknownHeader;

impl FromStr for ProxyHeader {
    type Err = UnknownHeader;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "any" => Ok(Self::Any),
            "forwarded" => Ok(Self::Forwarded),
            "x-forwarded-for" => Ok(Self::XForwardedFor),
            _ => Err(UnknownHeader),
        }
    }
}

/// The client's address; none if it is unknown, so that the request counts for no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClientAddress(Option<IpAddr>);

impl ClientAddress {
    /// The address that `request` came from.
    pub(crate) fn of(request: &HttpRequest, proxies: &TrustedProxies, header: ProxyHeader) -> Self {
        let peer = request.peer_addr().map(|peer| peer.ip());
        Self(peer.and_then(|peer| find(peer, request.headers(), proxies, header)))
    }

    /// The network that failures and budgets are counted by: an IPv4 address, or the /64 of an IPv6 address.
    pub(crate) fn network(self) -> Option<IpNet> {
        self.0.and_then(network)
    }
}

/// The network of an address: itself, or its /64.
pub(crate) fn network(address: IpAddr) -> Option<IpNet> {
    match address {
        IpAddr::V4(address) => Some(IpAddr::V4(address).into()),
        IpAddr::V6(address) => Ipv6Net::new(address, IPV6_PREFIX).ok().map(|net| net.trunc().into()),
    }
}

impl fmt::Display for ClientAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(address) => address.fmt(f),
            None => f.write_str("-"),
        }
    }
}

/// Reads the address out of one element of a header.
type ReadHop = fn(&[u8]) -> Option<IpAddr>;

/// The peer, or the last hop before it that is not a trusted proxy. IPv4-mapped IPv6 addresses are IPv4 addresses.
fn find(peer: IpAddr, headers: &HeaderMap, proxies: &TrustedProxies, header: ProxyHeader) -> Option<IpAddr> {
    let peer = peer.to_canonical();
    if !proxies.contains(peer) {
        return Some(peer);
    }
    let by_forwarded = match header {
        ProxyHeader::Any => headers.contains_key(FORWARDED),
        ProxyHeader::Forwarded => true,
        ProxyHeader::XForwardedFor => false,
    };
    let (name, read_hop) = if by_forwarded {
        (FORWARDED, forwarded::forwarded as ReadHop)
    } else {
        (X_FORWARDED_FOR, forwarded::x_forwarded_for as ReadHop)
    };
    let lines: Vec<_> = headers.get_all(name).collect();
    let hops = lines.iter().rev().flat_map(|line| forwarded::from_the_end(line.as_bytes(), b','));
    hops.map(|element| read_hop(element).map(|address| address.to_canonical()))
        .find(|hop| !hop.is_some_and(|address| proxies.contains(address)))
        .flatten()
}

#[cfg(test)]
mod tests;
