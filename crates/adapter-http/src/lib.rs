//! The HTTP API of Kopeck.
//!
//! A call goes through the pipeline in one fixed order: the form of its head, who sends it, its nonce and key, its
//! body, the opening of what is sealed; then its handler, which is a few lines: read the values, run a use case of
//! `kopeck-service` as a unit of work, show its result. [`configure`] puts the operations into an actix application,
//! [`serve`] runs one.
//!
//! Beyond what the interface says, the API answers 408 `request_timeout` when a body does not arrive in time, and 503
//! `internal` with `Retry-After` when the service is busy.
//!
//! Architecture invariants: no rule of the business lives here; no handler blocks the thread that it runs on; and
//! what a caller is told of a failure is decided in the module `errors` alone, by exhaustive matches.

mod audit;
mod bridge;
mod client_address;
mod code;
mod docs_page;
mod drain;
mod dto;
mod error;
mod errors;
mod fingerprint;
mod handler_context;
mod handlers;
mod in_flight;
mod input;
mod list_stream;
mod login_queue;
mod metrics;
mod openapi;
mod operations;
mod pipeline;
mod rate_limit;
mod request_id;
mod request_source;
mod response_builder;
mod route;
mod router;
mod routes;
mod sandbox;
mod server;
mod settings;
mod state;
mod yielding;

pub use client_address::{InvalidBlock, ProxyHeader, TrustedProxies, UnknownHeader};
pub use drain::Drain;
pub use metrics::{HttpMetrics, NoopMetrics, RefusalKind};
pub use openapi::openapi;
pub use operations::{Operation, codes, operations};
pub use rate_limit::RateLimit;
pub use sandbox::{
    CommandKey, PurchaseOutcome, SandboxControl, SandboxFaults, SandboxPurchase, SandboxRefusal,
};
pub use server::{configure, serve, serve_tls};
pub use settings::HttpSettings;
pub use state::{HttpParts, HttpState};
