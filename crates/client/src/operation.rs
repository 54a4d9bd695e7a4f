//! The operations of the service. Each request is one of them.

use std::fmt;

use reqwest::Method;

/// An operation of the service that the client has a method for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) changes: bool,
}

impl Operation {
    /// Its method.
    #[must_use]
    pub fn method(&self) -> &str {
        self.method.as_str()
    }

    /// Its path, with at most one `{placeholder}`; with a final slash, where the interface spells it so.
    #[must_use]
    pub const fn path(&self) -> &'static str {
        self.path
    }

    /// Whether it changes data. Such requests have an idempotency key.
    #[must_use]
    pub const fn changes(&self) -> bool {
        self.changes
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

/// Declares a constant for each operation, and a list of all. The list holds copies, so that the compiler warns of an
/// unused operation.
macro_rules! operations {
    ($($name:ident = $kind:ident $method:ident $path:literal;)*) => {
        $(pub(crate) static $name: Operation = $kind(Method::$method, $path);)*

        /// Every operation that the client has a method for.
        pub static OPERATIONS: &[Operation] = &[$($kind(Method::$method, $path)),*];
    };
}

operations! {
    LOGIN = reads POST "/v1/get_access_token";
    REFRESH = reads POST "/v1/get_refresh_token";
    ADD_EMPLOYEE = changes POST "/v1/employee/add";
    UPDATE_EMPLOYEE = changes PUT "/v1/employee/{idEmployee}";
    GET_EMPLOYEE = reads GET "/v1/employee/{idEmployee}";
    LIST_EMPLOYEES = reads GET "/v1/employees";
    CREATE_CATEGORY = changes POST "/v1/category";
    RENAME_CATEGORY = changes PUT "/v1/category/{idCategory}";
    DELETE_CATEGORY = changes DELETE "/v1/category/{idCategory}";
    LIST_CATEGORIES = reads GET "/v1/categories";
    CARD_INFO = reads GET "/v1/card/{idCard}";
    CARD_BALANCE = reads GET "/v1/card/{idCard}/balance";
    CARD_TRANSACTIONS = reads GET "/v1/card/{idCard}/transactions";
    CAN_PAY = reads POST "/v1/card/{idCard}/can-pay";
    AVAILABLE_CARDS = reads GET "/v1/cards/available";
    LINK_CARD = changes POST "/v1/employee/{idEmployee}/link_card";
    SWITCH_CARD = changes POST "/v1/employee/{idEmployee}/card/switch";
    ORDER_PLASTIC = changes POST "/v1/order/plasticcards";
    ORDER_VIRTUAL = changes POST "/v1/order/virtualcards";
    ORDER_STATUS = reads GET "/v1/order/status/{order_id}";
    ORDER_RESULT = reads GET "/v1/order/result/{order_id}";
    CONFIRM_ORDER = changes POST "/v1/order/confirm/";
    CANCEL_ORDER = changes POST "/v1/order/cancel/";
    LIST_ORDERS = reads GET "/v1/orders";
    REPLENISH = changes POST "/v1/replenishment";
    REPLENISHMENT_STATUS = reads GET "/v1/replenishment/status/";
    REPLENISHMENT_RESULT = reads GET "/v1/replenishment/result/";
    CANCEL_REPLENISHMENT = changes DELETE "/v1/replenishment/{replenishmentId}";
    LIST_REPLENISHMENTS = reads GET "/v1/replenishments";
    SET_LIMITS = changes POST "/v1/setlimitscards";
    LIMITS_STATUS = reads POST "/v1/limits/status";
    CANCEL_LIMITS = changes POST "/v1/limits/cancel";
    LIMITS_RESULT = reads GET "/v1/limits/result/{setLimitsCardsId}";
    LIST_LIMITS = reads GET "/v1/limits";
    BALANCE = reads GET "/v1/balance";
    DEPOSIT = changes POST "/sandbox/v1/balance/deposit";
    PURCHASE = changes POST "/sandbox/v1/card/{idCard}/purchase";
    REFUND = changes POST "/sandbox/v1/card/{idCard}/refund";
    ACTIVATE_CARD = changes POST "/sandbox/v1/card/{idCard}/activate";
    BLOCK_CARD = changes POST "/sandbox/v1/card/{idCard}/block";
    UNBLOCK_CARD = changes POST "/sandbox/v1/card/{idCard}/unblock";
    EXPIRE_CARD = changes POST "/sandbox/v1/card/{idCard}/expire";
    SET_BANK = changes POST "/sandbox/v1/bank";
    ADVANCE_CLOCK = changes POST "/sandbox/v1/clock/advance";
}

const fn reads(method: Method, path: &'static str) -> Operation {
    Operation { method, path, changes: false }
}

const fn changes(method: Method, path: &'static str) -> Operation {
    Operation { method, path, changes: true }
}
