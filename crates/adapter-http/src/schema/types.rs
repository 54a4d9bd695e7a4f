//! The schemas of the types that the domain and the API crate have.

use kopeck_api::{Code, HasShape as _};
use kopeck_domain::Kopecks;
use kopeck_domain::approval::Digest;
use kopeck_domain::calendar::CalendarMonth;
use kopeck_domain::card::{BankStatus, CardStatus, CardType};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::category::CategoryName;
use kopeck_domain::closing::ClosingReason;
use kopeck_domain::employee::EmployeeStatus;
use kopeck_domain::event::EventType;
use kopeck_domain::ids::{
    CardId, CategoryId, ClosingId, EmployeeId, EventId, LimitChangeId, OrderId, ProgrammeId, ReplenishmentId,
    RunId, SessionId, WebhookId, WithdrawalId,
};
use kopeck_domain::ledger::{EntrySource, EntryType};
use kopeck_domain::limit::Period;
use kopeck_domain::limit::TimeOfDay;
use kopeck_domain::order::OrderKind;
use kopeck_domain::person::{CustomId, DeliveryAddress, Email, PersonName, Phone, Recipient};
use kopeck_domain::programme::{Every, OnShortage, ProgrammeName, ProgrammeState, Shift};
use kopeck_domain::request::{RequestReference, RequestState};
use kopeck_domain::run::{Outcome as RunOutcome, RunKind, RunState};
use kopeck_domain::transaction::TransactionType;
use kopeck_port_store::webhook::DeliveryStatus;
use secrecy::SecretString;
use time::{Date, OffsetDateTime};

use super::{Components, HasSchema, chars, free_text, integer, of_shape, pattern};
use crate::json::{Json, object};
use crate::patterns;
use crate::wording::Language;

/// Types whose schema is an expression.
macro_rules! plain {
    ($($type:ty => $schema:expr;)*) => {$(
        impl HasSchema for $type {
            fn schema(_: &mut Components) -> Json {
                $schema
            }
        }
    )*};
}

pub(super) fn uuid() -> Json {
    object! {"type": "string", "format": "uuid"}
}

const CUSTOM_ID_FORM: &str = "A-Z, a-z, letters of the block Cyrillic, digits, - and _";
const REFERENCE_FORM: &str = "letters, digits, blanks and - _ . / #, no blank first or last; stored in NFC";
const NAME_FORM: &str = "letters of the scripts Latin and Cyrillic, and -; stored in NFC";

plain! {
    &str => object! {"type": "string"};
    String => object! {"type": "string"};
    SecretString => object! {"type": "string", "format": "password"};
    bool => object! {"type": "boolean"};
    f64 => object! {"type": "number"};
    u8 => object! {"type": "integer", "minimum": 0};
    u32 => object! {"type": "integer", "minimum": 0};
    u64 => object! {"type": "integer", "minimum": 0};
    i64 => object! {"type": "integer", "format": "int64"};
    Kopecks => object! {"type": "integer", "format": "int64"};
    CustomId => chars(1, CustomId::MAX_CHARS).with("pattern", patterns::CUSTOM_ID).with("x-form", CUSTOM_ID_FORM);
    PersonName => chars(1, PersonName::MAX_CHARS).with("pattern", patterns::name()).with("x-form", NAME_FORM);
    Phone => pattern(patterns::PHONE, "10 digits");
    Email => object! {"type": "string", "format": "email", "maxLength": integer(Email::MAX_CHARS)};
    Recipient => free_text(Recipient::MAX_CHARS);
    DeliveryAddress => free_text(DeliveryAddress::MAX_CHARS);
    CategoryName => free_text(CategoryName::MAX_CHARS);
    ProgrammeName => free_text(ProgrammeName::MAX_CHARS);
    TimeOfDay => pattern(patterns::TIME, "HH:MM");
    RequestReference => chars(1, RequestReference::MAX_CHARS)
        .with("pattern", patterns::reference())
        .with("x-form", REFERENCE_FORM);
    CardNumber => pattern(patterns::CARD_NUMBER, "10 or 13 digits");
    Digest => pattern(patterns::DIGEST, "64 hexadecimal digits");
    CalendarMonth => pattern(patterns::MONTH, "YYYY-MM");
    Date => pattern(patterns::DATE, "DD.MM.YYYY");
    OffsetDateTime => pattern(patterns::TIMESTAMP, "DD.MM.YYYY HH:MM");
}

/// Identifiers.
macro_rules! identifiers {
    ($($type:ty),*) => {plain! {$($type => uuid();)*}};
}
identifiers!(
    EmployeeId,
    CategoryId,
    CardId,
    OrderId,
    ReplenishmentId,
    LimitChangeId,
    EventId,
    WebhookId,
    SessionId
);
identifiers!(ClosingId, WithdrawalId, RunId, ProgrammeId);

/// String enums that the domain and the API have both.
macro_rules! vocabularies {
    ($($type:ident as $open:ident),* $(,)?) => {
        $(
            impl HasSchema for $type {
                fn schema(components: &mut Components) -> Json {
                    of_shape(&kopeck_api::$open::SHAPE, components)
                }
            }
        )*

        /// The values that the domain has, and those that the API has.
        #[cfg(test)]
        pub(super) const VOCABULARIES: &[(fn() -> Vec<&'static str>, kopeck_api::Shape)] =
            &[$((|| $type::ALL.iter().map(|word| word.as_str()).collect(), kopeck_api::$open::SHAPE)),*];
    };
}

vocabularies! {
    BankStatus as BankStatus,
    CardStatus as CardStatus,
    DeliveryStatus as DeliveryStatus,
    CardType as CardType,
    ClosingReason as ClosingReason,
    Code as ErrorCode,
    EmployeeStatus as EmployeeStatus,
    EntrySource as EntrySourceKind,
    EntryType as EntryType,
    EventType as EventType,
    Language as Language,
    OrderKind as OrderKind,
    Period as LimitPeriod,
    RequestState as RequestState,
    ProgrammeState as ProgrammeState,
    Every as ProgrammePeriod,
    Shift as ProgrammeShift,
    OnShortage as OnShortage,
    RunKind as RunKind,
    RunOutcome as RunOutcome,
    RunState as RunState,
    TransactionType as TransactionType,
}
