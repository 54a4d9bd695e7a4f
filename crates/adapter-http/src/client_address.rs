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
use ipnet::{IpNet, Ipv6Net};
use kopeck_domain::address_blocks::AddressBlocks;

/// The prefix length by which IPv6 clients are counted: one customer of a network has at least a /64.
const IPV6_PREFIX: u8 = 64;

/// The address blocks of the proxies whose headers are believed.
pub type TrustedProxies = AddressBlocks;

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

    /// Whether it is known.
    pub(crate) const fn is_known(self) -> bool {
        self.0.is_some()
    }

    /// The address.
    pub(crate) const fn ip(self) -> Option<IpAddr> {
        self.0
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
