#![doc = include_str!("../README.md")]

mod balance;
mod card;
mod category;
mod closing;
mod employee;
mod error;
mod error_code;
mod event;
#[cfg(feature = "domain")]
pub mod from_domain;
mod language;
mod limit;
mod open_enum;
mod operation;
mod order;
mod page;
mod phone;
mod programme;
mod replenishment;
mod report;
mod request;
mod run;
mod sandbox;
mod session;
mod settings;
mod shape;
mod token;
mod webhook;
#[doc(hidden)] // For the bodies of requests, which the client has.
pub mod wire;
mod withdrawal;

pub use balance::*;
pub use card::*;
pub use category::*;
pub use closing::*;
pub use employee::*;
pub use error::*;
pub use error_code::{Code, ErrorCode};
pub use event::{
    BalanceLowEvent, BankCardEvent, CardDeclinedEvent, CardIssuedEvent, CardLinkEvent, CardTransactionEvent,
    ClosingEvent, DepositEvent, EVENT_DESCRIPTIONS, EmployeeEvent, Event, EventData, EventDescription,
    EventType, Feed, LimitsEvent, OrderEvent, PingEvent, ReplenishmentEvent, ReturnEvent, TransferEvent,
    WebhookDisabledEvent, WithdrawalEvent,
};
pub use language::Language;
pub use limit::*;
pub use operation::{Method, Operation, operations, placeholders};
pub use order::*;
pub use page::*;
pub use phone::Phone;
pub use programme::*;
pub use replenishment::*;
pub use report::{Report, ReportClosed, ReportRow, ReportTotals};
pub use request::*;
pub use run::*;
pub use sandbox::*;
pub use session::*;
pub use settings::*;
pub use shape::{Field, HasShape, SecretText, Shape};
pub use token::*;
pub use webhook::*;
pub use withdrawal::*;
