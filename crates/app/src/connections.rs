//! Warnings about connections that others on the network can read or impersonate.

use std::net::SocketAddr;

use kopeck_adapter_http::{ProxyHeader, TrustedProxies};
use kopeck_adapter_store_diesel::{Protection, protection};

/// Warns about a database on another machine that is not verified by TLS.
pub(crate) fn warn_about_database(url: &str) {
    if protection(url) == Protection::Unverified {
        log::warn!(
            "the connection to the database can be read or impersonated: set sslmode=verify-full and sslrootcert in \
             KOPECK_DATABASE_URL"
        );
    }
}

/// Warns about plain HTTP on an address that other machines may reach.
pub(crate) fn warn_about_plain_http(address: SocketAddr) {
    if !address.ip().is_loopback() {
        log::warn!(
            address:%;
            "requests can be read on their way: set KOPECK_TLS_CERT and KOPECK_TLS_KEY, or put a TLS proxy in front"
        );
    }
}

/// Warns about trusted proxies whose header is not named: most proxies append `X-Forwarded-For` alone.
pub(crate) fn warn_about_proxy_header(proxies: &TrustedProxies, header: ProxyHeader) {
    if *proxies != TrustedProxies::default() && header == ProxyHeader::Any {
        log::warn!(
            "clients can choose their address by sending Forwarded if a trusted proxy only appends X-Forwarded-For: set \
             KOPECK_PROXY_HEADER to the header that the proxies set, x-forwarded-for or forwarded"
        );
    }
}
