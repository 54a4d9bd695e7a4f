//! The error codes.

use serde::{Serialize, Serializer};

use crate::open_enum::open_enum;

/// Declares both enums from one table: text, status and message of each code.
macro_rules! error_codes {
    ($($code:ident = $text:literal, $status:literal, $message:literal;)*) => {
        /// An error code that the service of this version responds with.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $message] $code,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$code),*];

            /// Its text on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $text,)*
                }
            }

            /// The HTTP status of its responses. [`Internal`](Self::Internal) comes with 503 too, if the
            /// service is busy.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self {
                    $(Self::$code => $status,)*
                }
            }

            /// Its message, unless a response has a more specific one.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self {
                    $(Self::$code => $message,)*
                }
            }
        }

        open_enum! {
            /// An error code of a response. A newer service may have further ones.
            pub enum ErrorCode as "Code", "The stable error code of a refusal." {
                $(#[doc = $message] $code = $text,)*
            }
        }
    };
}

error_codes! {
    BadCredentials = "bad_credentials", 400, "wrong api key, login or password";
    Unauthorized = "unauthorized", 401, "not authorized, the token failed validation";
    Forbidden = "forbidden", 403, "not allowed with these credentials";
    TooManyRequests = "too_many_requests", 429, "too many calls, try again later";
    NotFound = "not_found", 404, "there is no such path";
    SessionNotFound = "session_not_found", 404, "there is no such session";
    EmployeeNotFound = "employee_not_found", 404, "there is no such employee";
    CardNotFound = "card_not_found", 404, "there is no such card";
    CategoryNotFound = "category_not_found", 404, "there is no such category";
    CategoryExists = "category_exists", 409, "another category has this name";
    CategoryInUse = "category_in_use", 409, "an employee has this category";
    EmployeeHasMainCard = "employee_has_main_card", 409, "the employee already has a main card";
    CardAlreadyLinked = "card_already_linked", 409, "the card is already linked to this employee";
    CardLinkedToAnother = "card_linked_to_another", 409, "the card is already linked to another employee";
    CardNotAvailable = "card_not_available", 409, "the card is blocked or closed at the bank";
    CardExpired = "card_expired", 409, "the card has expired";
    CardBlocked = "card_blocked", 409, "the card is blocked at the bank";
    CardClosed = "card_closed", 409, "the card is closed";
    CardInUse = "card_in_use", 409, "the card is in use";
    EmployeeHasCards = "employee_has_cards", 409, "the employee has a card that is neither closed nor expired";
    CardNotMain = "card_not_main", 409, "the card is not a main card; change its status and retry";
    CardInRequest = "card_in_request", 409, "the card is already in a request being processed; wait for it and retry";
    InsufficientBalance = "insufficient_balance", 402, "the partner's balance does not cover the order";
    OrderNotFound = "order_not_found", 404, "there is no such order";
    OrderCancelled = "order_cancelled", 404, "the order is cancelled";
    OrderDeclined = "order_declined", 404, "the order is declined";
    OrderNotProcessed = "order_not_processed", 404, "the order is not processed yet";
    OrderNotConfirmable = "order_not_confirmable", 409, "an order in this state cannot be confirmed";
    OrderNotCancellable = "order_not_cancellable", 409, "an order in this state cannot be cancelled";
    RequestNotFound = "request_not_found", 404, "there is no such request";
    RequestNotProcessed = "request_not_processed", 409, "the request is not processed yet";
    RequestCancelled = "request_cancelled", 409, "the request is cancelled";
    RequestNotCancellable = "request_not_cancellable", 409, "a request in this state cannot be cancelled";
    RunNotFound = "run_not_found", 404, "there is no such run";
    RunFaulty = "run_faulty", 409, "the run has faulty items; correct them, or submit it with skipFaulty";
    RunChanged = "run_changed", 409, "the run is another one than you name, or not in a state for this; look at it again";
    RunNotCancellable = "run_not_cancellable", 409, "a run that has begun or expired cannot be cancelled";
    ReferenceTaken = "reference_taken", 409, "another run of this kind has the reference";
    ProgrammeNotFound = "programme_not_found", 404, "there is no such programme";
    TooManyProgrammes = "too_many_programmes", 409, "there are as many programmes as a partner can have; delete one";
    EventsExpired = "events_expired", 410, "events after this number are no longer kept";
    EventsAhead = "events_ahead", 410, "there is no event with this number yet: the feed is not the one that you read before";
    TooManyWebhooks = "too_many_webhooks", 409, "there are as many webhooks as a partner can have; delete one";
    WebhookNotFound = "webhook_not_found", 404, "there is no such webhook";
    PeriodClosed = "period_closed", 409, "the month is closed already";
    WebhookDisabled = "webhook_disabled", 409, "the webhook is disabled; enable it first";
    LimitConflict = "limit_conflict", 409, "unlimited is true beside another setting of the limit";
    PreconditionFailed = "precondition_failed", 412, "the employee has changed since the version that if-match names";
    NotSupported = "not_supported", 409, "the bank behind this service does not support this";
    RequestInProgress = "request_in_progress", 409, "the first call under this key is still being carried out";
    RequestTimeout = "request_timeout", 408, "the body did not arrive in time";
    MethodNotAllowed = "method_not_allowed", 405, "the path does not take this method";
    PayloadTooLarge = "payload_too_large", 413, "the body is too large";
    UriTooLong = "uri_too_long", 414, "the query has too many parameters or bytes";
    UnsupportedMediaType = "unsupported_media_type", 415, "a body must be application/json or application/sealed+json";
    BankUnavailable = "bank_unavailable", 503, "the bank cannot be reached, try again";
    Internal = "internal", 500, "internal error";
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn codes_are_snake_case_and_all_different() {
        let words: HashSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(words.len(), Code::ALL.len());
        assert!(words.iter().all(|word| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')));
    }
}
