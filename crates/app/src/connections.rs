//! Refusals of, and warnings about, connections that others on the network can read or impersonate.

use std::net::SocketAddr;

use kopeck_adapter_http::{ProxyHeader, TrustedProxies};
use kopeck_adapter_store_diesel::{Protection, protection};

use crate::cli::StoreArgs;

/// Refuses a database on another machine that is not verified by TLS, or warns about it if it is permitted.
pub(crate) fn check_database(args: &StoreArgs) -> anyhow::Result<()> {
    const WHY: &str = "the connection to the database can be read or impersonated: set sslmode=verify-full and \
        sslrootcert in KOPECK_DATABASE_URL";
    if protection(args.database_url()) == Protection::Unverified {
        anyhow::ensure!(
            args.database_allow_unverified,
            "{WHY}, or permit it by KOPECK_DATABASE_ALLOW_UNVERIFIED=true where no one else is on the network"
        );
        log::warn!("{WHY}");
    }
    Ok(())
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

/// Warns about an operations port without TLS on an address that other machines may reach.
pub(crate) fn warn_about_plain_operations(address: SocketAddr) {
    if !address.ip().is_loopback() {
        log::warn!(
            address:%;
            "health and metrics can be read on their way: set KOPECK_OPERATIONS_TLS_CERT and KOPECK_OPERATIONS_TLS_KEY"
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
