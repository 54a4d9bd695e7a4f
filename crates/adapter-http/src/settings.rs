//! Settings of the HTTP server.

use std::time::Duration;

use ipnet::IpNet;

use crate::client_address::{ProxyHeader, TrustedProxies};
use crate::rate_limit::RateLimit;

/// Settings of the HTTP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpSettings {
    /// The most bytes of a body.
    pub body_limit: usize,
    /// The most bytes of all bodies that are being received or decoded. A quarter is for token requests, the rest for
    /// requests with an access token.
    pub body_memory: usize,
    /// The most open connections. Further connections wait.
    pub max_connections: usize,
    /// The time for a body to arrive after the head. actix limits the time of the head alone.
    pub body_deadline: Duration,
    /// The time from the arrival of the body to the start of the work in the store. Later work does not start.
    pub deadline: Duration,
    /// The time for a client to read a response before its connection is closed. Linux only.
    pub answer_deadline: Duration,
    /// The rate limit of a partner; `None`: no limit.
    pub rate_limit: Option<RateLimit>,
    /// Proxies that may report the client's address.
    pub trusted_proxies: TrustedProxies,
    /// The header with their report.
    pub proxy_header: ProxyHeader,
    /// Threads that serve connections.
    pub workers: usize,
    /// The most concurrent password checks: each takes a processor and 19 MiB for tens of milliseconds.
    pub logins_at_once: usize,
    /// The most requests that wait for the bank.
    pub bank_calls_at_once: usize,
    /// Whether `/openapi.json`, the reference page `/docs` and the book as Markdown are served.
    pub docs: bool,
    /// The addresses from which webhooks come, as partners see them; told beside the book.
    pub webhook_senders: Vec<IpNet>,
}

impl Default for HttpSettings {
    /// 2 MiB in 30 s, 64 MiB for all bodies, 4,096 connections, 8 s, a minute to read the response; no rate limit; no
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
            webhook_senders: Vec::new(),
        }
    }
}
