//! The source of a request: what shares of a bounded resource are counted by.

use ipnet::IpNet;
use kopeck_domain::ids::PartnerId;

/// Who sends a request, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum RequestSource {
    /// A partner: authenticated, or named by a right API key.
    Partner(PartnerId),
    /// A network without either. All clients without a known address are one source.
    Network(Option<IpNet>),
}
