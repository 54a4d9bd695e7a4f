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
//! | close cards, take money back from them | [`Closings`], [`Withdrawals`] |
//! | change many cards or employees after a look at what will happen | [`Runs`] |
//! | say what happens to the cards of employees who leave | [`Settings`] |
//! | pay employees in each week, month, quarter or year by a rule | [`Programmes`] |
//! | retry a request under its key | [`Write`], [`IdempotencyKey`] |
//! | wait for a request | [`Wait`], [`RequestState`] |
//! | read what moved on the balance | [`Statements`] |
//! | learn what has happened | [`Events`], [`EventFollower`], [`EventData`] |
//! | have events delivered, and check deliveries | [`Webhooks`], [`WebhookVerifier`] |
//! | see and end sessions, see one's own requests | [`Sessions`], [`RequestLog`], [`Client::change_password`] |
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
mod tagged;
mod tls;
mod tls_fault;
mod transport;
mod wait;
mod webhook;
mod write;

pub use api::{
    CardBatchKind, Cards, Categories, Closings, Employees, EventFollower, Events, Limits, Orders, Programmes,
    Replenishments, RequestFollower, RequestKind, RequestLog, Requests, Runs, Sandbox, Sessions, Settings,
    StatementFile, Statements, TransactionReader, Webhooks, Withdrawals,
};
pub use builder::ClientBuilder;
pub use client::Client;
pub use error::{BoxError, CardFault, Error, FieldFault};
pub use idempotency::IdempotencyKey;
pub use model::card::{CardFilter, PaymentQuestion, TransactionFilter};
pub use model::card_batch::{CardClosing, CardRef, CardWithdrawal, TopUp};
pub use model::done::Done;
pub use model::employee::{EmployeeFilter, EmployeeUpdate, NewEmployee};
pub use model::event::EventQuery;
pub use model::order::{ActivationCode, IssuedCard, OrderResult, PlasticItem, VirtualItem};
pub use model::patch::Patch;
pub use model::request::{RequestFilter, RequestStatus};
pub use model::request_log::RequestLogQuery;
pub use model::run::{NewRun, NewRunItem, RunFilter, RunRows};
pub use model::sandbox::{BankBehaviour, Purchase};
pub use model::statement::{EntryFilter, FileFormat, ReportFilter, TransactionQuery};
pub use model::webhook::{NewWebhook, RedeliveryOf, WebhookUpdate};
pub use records::Records;
pub use retry::RetryPolicy;
pub use session::{AccessToken, TokenPair};
pub use tagged::Tagged;
pub use wait::Wait;
pub use webhook::{WebhookError, WebhookHeaders, WebhookVerifier};
pub use write::{HasReference, Write};

#[doc(inline)]
pub use kopeck_api::{
    AccountBalance, AvailableCard, Balance, BalanceEntries, BalanceEntry, BalanceLowEvent, BankCardEvent,
    BankStatus, Card, CardBalance, CardDeclinedEvent, CardIssuedEvent, CardLimit, CardLinkEvent, CardStatus,
    CardTransactionEvent, CardType, Category, CategoryWithCount, Closing, ClosingCreated, ClosingEvent,
    ClosingReason, ClosingResult, DeliveryStatus, DepositEvent, Employee, EmployeeCard, EmployeeErased,
    EmployeeEvent, EmployeeStatus, EmployeeWithCards, EntrySource, EntrySourceKind, EntryType, ErrorCode,
    Event, EventData, EventType, Feed, Language, LeaverSettings, LimitChange, LimitChangeCreated,
    LimitPeriod, LimitResult, LimitsEvent, LinkedCard, LoggedRequest, MerchantCategories, OnShortage, Order,
    OrderCreated, OrderEvent, OrderKind, Page, PageMeta, Paging, PartnerSettings, PartnerTransaction,
    PasswordChanged, PaymentAnswer, Phone, PingEvent, Programme, ProgrammeAmount, ProgrammeAudience,
    ProgrammeDueEvent, ProgrammeForecast, ProgrammePeriod, ProgrammeShift, ProgrammeState, ProgrammeTerms,
    PurchaseResult, Redelivery, RefundResult, Replenishment, ReplenishmentCreated, ReplenishmentEvent,
    ReplenishmentResult, Report, ReportClosed, ReportRow, ReportTotals, RequestFeed, RequestState,
    ReturnEvent, Run, RunEvent, RunFault, RunItem, RunKind, RunOutcome, RunRequest, RunRequestKind, RunState,
    Session, SessionEnded, Statement, StatementDay, StatementTotal, TimeWindow, Transaction, TransactionFeed,
    TransactionType, TransferEvent, UnlinkedCard, Webhook, WebhookCreated, WebhookDelivery,
    WebhookDisabledEvent, WebhookPinged, WebhookSecret, WebhookSecretRotated, Withdrawal, WithdrawalCreated,
    WithdrawalEvent, WithdrawalResult,
};
pub use kopeck_sealing::{EventContext, KeyError, KeyId, Refusal, SealingKey, SigningSecret, open_event};
pub use secrecy::{ExposeSecret, SecretString};
pub use time::{Date, PrimitiveDateTime, Time, Weekday};
pub use uuid::Uuid;

/// Compiles the example of the project's front page.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct FrontPage;
