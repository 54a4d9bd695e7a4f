//! The HTTP API of Kopeck.
//!
//! A request passes the pipeline in a fixed order: header checks, authentication, nonce and idempotency key, body,
//! decryption of sealed values. Then its handler reads the fields, runs a use case of `kopeck-service` in a unit of
//! work and serializes the result. [`configure`] adds the operations to an actix application, [`serve`] runs one.
//!
//! Beyond the interface, the API responds 408 `request_timeout` if a body does not arrive in time, and 503 `internal`
//! with `Retry-After` if the service is busy.
//!
//! Architecture invariants: no business rule lives here; no handler blocks its thread; the errors of a use case become
//! responses in the file of its operation, by exhaustive matches.

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
mod fingerprint;
mod handler_context;
mod idempotency;
mod in_flight;
mod input;
mod json;
mod list_stream;
mod login_queue;
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

pub use client_address::{InvalidBlock, ProxyHeader, TrustedProxies, UnknownHeader};
pub use drain::Drain;
pub use metrics::{HttpMetrics, NoopMetrics, RefusalKind};
pub use openapi::openapi;
pub use operations::{OperationInfo, codes, operations};
pub use rate_limit::RateLimit;
pub use server::{HttpState, configure, serve, serve_tls};
pub use settings::HttpSettings;
pub use state::HttpParts;
