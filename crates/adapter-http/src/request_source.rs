//! The source of a request, which shares of bounded resources are counted by.

use ipnet::IpNet;
use kopeck_domain::ids::PartnerId;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum RequestSource {
    /// A partner: authenticated, or identified by its API key.
    Partner(PartnerId),
    /// A network otherwise. All clients without a known address are one source.
    Network(Option<IpNet>),
}
