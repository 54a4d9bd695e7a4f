//! The stable error codes.

use serde::{Serialize, Serializer};

macro_rules! codes {
    ($($name:ident = $word:literal),* $(,)?) => {
        /// A stable error code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Code {
            $($name,)*
        }

        impl Code {
            /// Every code.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The text of the code.
            pub(crate) const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }
        }
    };
}

codes! {
    BadCredentials = "bad_credentials",
    Unauthorized = "unauthorized",
    TooManyRequests = "too_many_requests",
    NotFound = "not_found",
    EmployeeNotFound = "employee_not_found",
    CardNotFound = "card_not_found",
    CategoryNotFound = "category_not_found",
    CategoryExists = "category_exists",
    CategoryInUse = "category_in_use",
    EmployeeHasMainCard = "employee_has_main_card",
    CardAlreadyLinked = "card_already_linked",
    CardLinkedToAnother = "card_linked_to_another",
    CardNotAvailable = "card_not_available",
    CardExpired = "card_expired",
    CardBlocked = "card_blocked",
    CardNotMain = "card_not_main",
    CardInRequest = "card_in_request",
    InsufficientBalance = "insufficient_balance",
    OrderNotFound = "order_not_found",
    OrderCancelled = "order_cancelled",
    OrderDeclined = "order_declined",
    OrderNotProcessed = "order_not_processed",
    OrderNotConfirmable = "order_not_confirmable",
    OrderNotCancellable = "order_not_cancellable",
    RequestNotFound = "request_not_found",
    RequestNotProcessed = "request_not_processed",
    RequestCancelled = "request_cancelled",
    RequestNotCancellable = "request_not_cancellable",
    LimitConflict = "limit_conflict",
    RequestInProgress = "request_in_progress",
    RequestTimeout = "request_timeout",
    MethodNotAllowed = "method_not_allowed",
    PayloadTooLarge = "payload_too_large",
    UriTooLong = "uri_too_long",
    UnsupportedMediaType = "unsupported_media_type",
    BankUnavailable = "bank_unavailable",
    Internal = "internal",
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
