#![doc = include_str!("../README.md")]
//!
//! # Where to find things
//!
//! | to | see |
//! |---|---|
//! | set up a client | [`Client::builder`], [`ClientBuilder`], [`RetryPolicy`] |
//! | work with employees and their categories | [`Employees`], [`Categories`] |
//! | order cards, link them, read them | [`Orders`], [`Cards`] |
//! | top up cards, limit what they spend | [`Replenishments`], [`Limits`] |
//! | retry a request under its key | [`Write`], [`IdempotencyKey`] |
//! | wait for a request | [`Wait`], [`RequestState`] |
//! | read lists | [`Paging`], [`Page::following`] |
//! | understand a failure | [`Error`], [`ErrorCode`] |
//! | test with a sandbox | [`Sandbox`] |

mod api;
mod builder;
mod client;
mod error;
mod idempotency;
mod list_walk;
mod model;
mod records;
mod request;
mod response;
mod retry;
mod seal;
mod session;
mod system;
mod tls;
mod transport;
mod wait;
mod write;

pub use api::{Cards, Categories, Employees, Limits, Orders, Replenishments, Sandbox};
pub use builder::ClientBuilder;
pub use client::Client;
pub use error::{BoxError, CardFault, Error, FieldFault};
pub use idempotency::IdempotencyKey;
pub use model::balance::Balance;
pub use model::card::{
    AccountBalance, AvailableCard, Card, CardBalance, CardStatus, CardType, LinkedCard, PaymentAnswer,
    Transaction, TransactionFilter, TransactionType,
};
pub use model::category::{Category, CategoryWithCount};
pub use model::employee::{
    Employee, EmployeeCard, EmployeeFilter, EmployeeStatus, EmployeeUpdate, EmployeeWithCards, NewEmployee,
};
pub use model::limit::{CardLimit, LimitChange, LimitChangeCreated, LimitPeriod, LimitResult, TimeWindow};
pub use model::order::{
    ActivationCode, IssuedCard, Order, OrderCreated, OrderKind, OrderResult, PlasticItem, VirtualItem,
};
pub use model::page::{Done, Page, PageMeta, Paging};
pub use model::patch::Patch;
pub use model::replenishment::{Replenishment, ReplenishmentCreated, ReplenishmentResult, TopUp};
pub use model::request::{RequestState, RequestStatus};
pub use model::sandbox::{BankBehaviour, Purchase, PurchaseResult, RefundResult};
pub use records::Records;
pub use retry::RetryPolicy;
pub use session::{AccessToken, TokenPair};
pub use wait::Wait;
pub use write::Write;

pub use kopeck_api::ErrorCode;
pub use kopeck_sealing::{EventContext, KeyError, Refusal, SealingKey, open_event};
pub use secrecy::{ExposeSecret, SecretString};
pub use time::{Date, PrimitiveDateTime, Time, Weekday};
pub use uuid::Uuid;

/// Compiles the example of the project's front page.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct FrontPage;
