#![doc = include_str!("../README.md")]

mod balance;
mod card;
mod category;
mod closing;
mod employee;
mod error_code;
mod event;
mod limit;
mod open_enum;
mod operation;
mod order;
mod page;
mod phone;
mod replenishment;
mod request;
mod sandbox;
mod shape;
mod webhook;
#[doc(hidden)] // For the bodies of requests, which the client has.
pub mod wire;
mod withdrawal;

pub use balance::{
    Balance, BalanceEntries, BalanceEntry, EntrySource, EntrySourceKind, EntryType, Statement, StatementDay,
    StatementTotal,
};
pub use card::{
    AccountBalance, AvailableCard, BankStatus, Card, CardBalance, CardStatus, CardType, LinkedCard,
    PartnerTransaction, PaymentAnswer, Transaction, TransactionFeed, TransactionType, UnlinkedCard,
};
pub use category::{Category, CategoryWithCount};
pub use closing::{Closing, ClosingCreated, ClosingReason, ClosingResult};
pub use employee::{Employee, EmployeeCard, EmployeeErased, EmployeeStatus, EmployeeWithCards};
pub use error_code::{Code, ErrorCode};
pub use event::{
    BalanceLowEvent, BankCardEvent, CardDeclinedEvent, CardIssuedEvent, CardLinkEvent, CardTransactionEvent,
    ClosingEvent, DepositEvent, EVENT_DESCRIPTIONS, EmployeeEvent, Event, EventData, EventDescription,
    EventType, Feed, LimitsEvent, OrderEvent, PingEvent, ReplenishmentEvent, ReturnEvent, TransferEvent,
    WebhookDisabledEvent, WithdrawalEvent,
};
pub use limit::{
    CardLimit, LimitChange, LimitChangeCreated, LimitPeriod, LimitResult, MerchantCategories, TimeWindow,
};
pub use operation::{Method, Operation, operations, placeholders};
pub use order::{Order, OrderCreated, OrderKind};
pub use page::{Data, Page, PageMeta, Paging};
pub use phone::Phone;
pub use replenishment::{Replenishment, ReplenishmentCreated, ReplenishmentResult};
pub use request::RequestState;
pub use sandbox::{PurchaseResult, RefundResult};
pub use shape::{Field, HasShape, Shape};
pub use webhook::{
    DeliveryStatus, Redelivery, Webhook, WebhookCreated, WebhookDelivery, WebhookPinged, WebhookSecret,
    WebhookSecretRotated,
};
pub use withdrawal::{Withdrawal, WithdrawalCreated, WithdrawalResult};
