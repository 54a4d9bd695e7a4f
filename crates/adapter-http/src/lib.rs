#![doc = include_str!("../README.md")]

mod audit;
mod body;
mod bridge;
mod caller_cache;
mod client_address;
mod connections;
mod docs_page;
mod drain;
mod dto;
mod error;
mod feed_waiters;
mod fingerprint;
mod handler_context;
mod http1;
mod idempotency;
mod ignored;
mod in_flight;
mod input;
mod json;
mod known_addresses;
mod list_stream;
mod metrics;
mod openapi;
mod operation;
mod operations;
mod patterns;
mod pipeline;
mod rate_limit;
mod request_id;
mod request_source;
mod response;
mod router;
mod schema;
mod server;
mod settings;
mod state;
mod statement_file;

pub use client_address::{InvalidBlock, ProxyHeader, TrustedProxies, UnknownHeader};
pub use drain::Drain;
pub use feed_waiters::FeedWaiters;
pub use http1::{Application, ConnectionSettings, serve_app};
pub use metrics::{HttpMetrics, NoopMetrics, RefusalKind};
pub use openapi::openapi;
pub use operations::{OperationInfo, codes, operations};
pub use rate_limit::RateLimit;
pub use server::{HttpState, configure, serve, serve_tls};
pub use settings::HttpSettings;
pub use state::HttpParts;
pub use statement_file::{
    SpreadsheetError, SpreadsheetWriter, StatementFormat, csv_head, csv_line, file_name, statement_body,
};
