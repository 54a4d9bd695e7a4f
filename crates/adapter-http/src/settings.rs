//! What an operator can choose about the HTTP server.

use std::time::Duration;

use crate::client_address::{ProxyHeader, TrustedProxies};
use crate::rate_limit::RateLimit;

/// Limits of the HTTP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpSettings {
    /// The most bytes that a body may have.
    pub body_limit: usize,
    /// The most bytes that all bodies together may take which are being read or wait to be opened. A quarter is for token
    /// calls, the rest for calls with an access token.
    pub body_memory: usize,
    /// The most connections that are open at once. Beyond it the next one waits for one that is closed.
    pub max_connections: usize,
    /// How long a body may take to arrive, from the head on. actix times the head alone.
    pub body_deadline: Duration,
    /// How long a call may take, from the arrival of its body on, until its turn in the store comes. Work that comes
    /// later is not begun.
    pub deadline: Duration,
    /// How long an answer may lie unread before its connection is closed. Linux alone keeps it.
    pub answer_deadline: Duration,
    /// How often a partner may call; `None`: as often as it likes.
    pub rate_limit: Option<RateLimit>,
    /// Proxies whose report of the client's address is believed.
    pub trusted_proxies: TrustedProxies,
    /// The header in which they report it.
    pub proxy_header: ProxyHeader,
    /// Threads that serve connections.
    pub workers: usize,
    /// How many passwords are checked at once: each takes a processor and 19 MiB for tens of milliseconds.
    pub logins_at_once: usize,
    /// How many calls may wait for the bank at once.
    pub bank_calls_at_once: usize,
    /// Whether `/openapi.json` and the reference page `/docs` are served.
    pub docs: bool,
}

impl Default for HttpSettings {
    /// 2 MiB in 30 s, 64 MiB for all bodies, 4,096 connections, then 8 s, a minute to read the answer; no rate limit; no
    /// trusted proxies; one worker and one password a processor; with the reference page.
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self {
            body_limit: 2 * 1024 * 1024,
            body_memory: 64 * 1024 * 1024,
            max_connections: 4_096,
            body_deadline: Duration::from_secs(30),
            deadline: Duration::from_secs(8),
            answer_deadline: Duration::from_secs(60),
            rate_limit: None,
            trusted_proxies: TrustedProxies::default(),
            proxy_header: ProxyHeader::default(),
            workers: processors,
            logins_at_once: processors,
            bank_calls_at_once: 64,
            docs: true,
        }
    }
}
