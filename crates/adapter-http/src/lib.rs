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
mod catalogue;
mod client_address;
mod code;
mod courtesy;
mod drain;
mod dto;
mod error;
mod errors;
mod exchange;
mod fingerprint;
mod handlers;
mod in_flight;
mod input;
mod login_queue;
mod observer;
mod openapi;
mod pages;
mod paths;
mod pipeline;
mod rate;
mod reply;
mod request_id;
mod request_source;
mod route;
mod routes;
mod sandbox;
mod server;
mod settings;
mod site;
mod state;

pub use catalogue::{Operation, codes, operations};
pub use client_address::{InvalidBlock, ProxyHeader, TrustedProxies, UnknownHeader};
pub use drain::Drain;
pub use observer::{Observer, Refusal, Unobserved};
pub use openapi::openapi;
pub use rate::RateLimit;
pub use sandbox::{CommandKey, Misbehaviour, PurchaseOutcome, SandboxPower, SandboxPurchase, SandboxRefusal};
pub use server::{configure, serve, serve_tls};
pub use settings::HttpSettings;
pub use state::{HttpParts, HttpState};
