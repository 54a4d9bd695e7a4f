//! An operation of the API.

use std::fmt;

/// An operation of the API, by name, method and path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Operation {
    /// Its unique name.
    pub name: &'static str,
    /// Its method. `PUT` includes `PATCH`.
    pub method: Method,
    /// Its path with `{placeholders}`, and with a final slash where the interface spells it so.
    pub path: &'static str,
    /// Whether it changes data. Such requests have an idempotency key.
    pub changes: bool,
}

/// An HTTP method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "they say themselves")]
pub enum Method {
    Get,
    Post,
    Put,
    Delete,
}

impl Method {
    /// The name in a request line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

impl Operation {
    /// Its path without a final slash. The service takes both.
    #[must_use]
    pub const fn route(&self) -> &'static str {
        match self.path.as_bytes() {
            [.., b'/'] => self.path.split_at(self.path.len() - 1).0,
            _ => self.path,
        }
    }
}

/// The names in a path, in their order.
pub fn placeholders(path: &'static str) -> impl Iterator<Item = &'static str> {
    path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

/// `METHOD /path`, without a final slash.
impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method.as_str(), self.route())
    }
}

/// Every operation. A constant is named as its operation: `EMPLOYEE_ADD` is `employee.add`.
#[expect(missing_docs, reason = "each is described in docs/API.md")]
pub mod operations {
    use super::{Method, Operation};

    macro_rules! operations {
        ($($constant:ident = $name:literal $effect:ident $method:ident $path:literal;)*) => {
            $(pub const $constant: Operation = $effect($name, Method::$method, $path);)*

            /// All of them, those of the sandbox last.
            pub const ALL: &[Operation] = &[$($constant),*];
        };
    }

    operations! {
        TOKEN_ACCESS = "token.access" reads Post "/v1/get_access_token";
        TOKEN_REFRESH = "token.refresh" reads Post "/v1/get_refresh_token";
        SESSION_LIST = "session.list" reads Get "/v1/sessions";
        SESSION_END = "session.end" changes Delete "/v1/session/{idSession}";
        PASSWORD_CHANGE = "password.change" changes Put "/v1/password";
        EMPLOYEE_ADD = "employee.add" changes Post "/v1/employee/add";
        EMPLOYEE_UPDATE = "employee.update" changes Put "/v1/employee/{idEmployee}";
        EMPLOYEE_GET = "employee.get" reads Get "/v1/employee/{idEmployee}";
        EMPLOYEE_ERASE = "employee.erase" changes Delete "/v1/employee/{idEmployee}";
        EMPLOYEE_LIST = "employee.list" reads Get "/v1/employees";
        CATEGORY_CREATE = "category.create" changes Post "/v1/category";
        CATEGORY_RENAME = "category.rename" changes Put "/v1/category/{idCategory}";
        CATEGORY_DELETE = "category.delete" changes Delete "/v1/category/{idCategory}";
        CATEGORY_LIST = "category.list" reads Get "/v1/categories";
        CARD_INFO = "card.info" reads Get "/v1/card/{idCard}";
        CARD_BALANCE = "card.balance" reads Get "/v1/card/{idCard}/balance";
        CARD_TRANSACTIONS = "card.transactions" reads Get "/v1/card/{idCard}/transactions";
        CARD_CAN_PAY = "card.can_pay" reads Post "/v1/card/{idCard}/can-pay";
        CARD_LIST = "card.list" reads Get "/v1/cards";
        CARD_AVAILABLE = "card.available" reads Get "/v1/cards/available";
        CARD_LINK = "card.link" changes Post "/v1/employee/{idEmployee}/link_card";
        CARD_SWITCH = "card.switch" changes Post "/v1/employee/{idEmployee}/card/switch";
        CARD_UNLINK = "card.unlink" changes Delete "/v1/employee/{idEmployee}/card/{idCard}";
        ORDER_PLASTIC = "order.plastic" changes Post "/v1/order/plasticcards";
        ORDER_VIRTUAL = "order.virtual" changes Post "/v1/order/virtualcards";
        ORDER_STATUS = "order.status" reads Get "/v1/order/status/{order_id}";
        ORDER_RESULT = "order.result" reads Get "/v1/order/result/{order_id}";
        ORDER_CONFIRM = "order.confirm" changes Post "/v1/order/confirm/";
        ORDER_CANCEL = "order.cancel" changes Post "/v1/order/cancel/";
        ORDER_LIST = "order.list" reads Get "/v1/orders";
        REPLENISHMENT_CREATE = "replenishment.create" changes Post "/v1/replenishment";
        REPLENISHMENT_STATUS = "replenishment.status" reads Get "/v1/replenishment/status/";
        REPLENISHMENT_RESULT = "replenishment.result" reads Get "/v1/replenishment/result/";
        REPLENISHMENT_STATUS_BY_PATH =
            "replenishment.status_by_path" reads Get "/v1/replenishment/{replenishmentId}/status";
        REPLENISHMENT_RESULT_BY_PATH =
            "replenishment.result_by_path" reads Get "/v1/replenishment/{replenishmentId}/result";
        REPLENISHMENT_CANCEL = "replenishment.cancel" changes Delete "/v1/replenishment/{replenishmentId}";
        REPLENISHMENT_LIST = "replenishment.list" reads Get "/v1/replenishments";
        LIMITS_SET = "limits.set" changes Post "/v1/setlimitscards";
        LIMITS_STATUS = "limits.status" reads Post "/v1/limits/status";
        LIMITS_CANCEL = "limits.cancel" changes Post "/v1/limits/cancel";
        LIMITS_RESULT = "limits.result" reads Get "/v1/limits/result/{setLimitsCardsId}";
        LIMITS_LIST = "limits.list" reads Get "/v1/limits";
        CLOSING_CREATE = "closing.create" changes Post "/v1/closings";
        CLOSING_STATUS = "closing.status" reads Get "/v1/closing/{closingId}/status";
        CLOSING_RESULT = "closing.result" reads Get "/v1/closing/{closingId}/result";
        CLOSING_CANCEL = "closing.cancel" changes Delete "/v1/closing/{closingId}";
        CLOSING_LIST = "closing.list" reads Get "/v1/closings";
        WITHDRAWAL_CREATE = "withdrawal.create" changes Post "/v1/withdrawals";
        WITHDRAWAL_STATUS = "withdrawal.status" reads Get "/v1/withdrawal/{withdrawalId}/status";
        WITHDRAWAL_RESULT = "withdrawal.result" reads Get "/v1/withdrawal/{withdrawalId}/result";
        WITHDRAWAL_CANCEL = "withdrawal.cancel" changes Delete "/v1/withdrawal/{withdrawalId}";
        WITHDRAWAL_LIST = "withdrawal.list" reads Get "/v1/withdrawals";
        RUN_CREATE = "run.create" changes Post "/v1/runs";
        RUN_GET = "run.get" reads Get "/v1/run/{idRun}";
        RUN_ITEMS = "run.items" reads Get "/v1/run/{idRun}/items";
        RUN_SUBMIT = "run.submit" changes Post "/v1/run/{idRun}/submit";
        RUN_APPROVE = "run.approve" changes Post "/v1/run/{idRun}/approve";
        RUN_REFUSE = "run.refuse" changes Post "/v1/run/{idRun}/refuse";
        RUN_CANCEL = "run.cancel" changes Post "/v1/run/{idRun}/cancel";
        RUN_RESULT = "run.result" reads Get "/v1/run/{idRun}/result";
        RUN_LIST = "run.list" reads Get "/v1/runs";
        SETTINGS_GET = "settings.get" reads Get "/v1/settings";
        SETTINGS_UPDATE = "settings.update" changes Put "/v1/settings";
        PROGRAMME_CREATE = "programme.create" changes Post "/v1/programmes";
        PROGRAMME_LIST = "programme.list" reads Get "/v1/programmes";
        PROGRAMME_GET = "programme.get" reads Get "/v1/programme/{idProgramme}";
        PROGRAMME_CHANGE = "programme.change" changes Put "/v1/programme/{idProgramme}";
        PROGRAMME_DELETE = "programme.delete" changes Delete "/v1/programme/{idProgramme}";
        PROGRAMME_PAUSE = "programme.pause" changes Post "/v1/programme/{idProgramme}/pause";
        PROGRAMME_RESUME = "programme.resume" changes Post "/v1/programme/{idProgramme}/resume";
        PROGRAMME_APPROVE = "programme.approve" changes Post "/v1/programme/{idProgramme}/approve";
        PROGRAMME_REFUSE = "programme.refuse" changes Post "/v1/programme/{idProgramme}/refuse";
        PROGRAMME_RUNS = "programme.runs" reads Get "/v1/programme/{idProgramme}/runs";
        PROGRAMME_FORECAST = "programme.forecast" reads Get "/v1/programmes/forecast";
        PROGRAMME_PREVIEW = "programme.preview" reads Post "/v1/programmes/forecast";
        BALANCE = "balance" reads Get "/v1/balance";
        BALANCE_ENTRIES = "balance.entries" reads Get "/v1/balance/entries";
        STATEMENT = "statement" reads Get "/v1/statement/{month}";
        REPORT_EMPLOYEES = "report.employees" reads Get "/v1/report/employees/{month}";
        REPORT_CLOSE = "report.close" changes Post "/v1/report/{month}/close";
        TRANSACTION_FEED = "transaction.feed" reads Get "/v1/transactions";
        EVENT_FEED = "event.feed" reads Get "/v1/events";
        REQUEST_LIST = "request.list" reads Get "/v1/requests";
        WEBHOOK_CREATE = "webhook.create" changes Post "/v1/webhooks";
        WEBHOOK_LIST = "webhook.list" reads Get "/v1/webhooks";
        WEBHOOK_GET = "webhook.get" reads Get "/v1/webhook/{idWebhook}";
        WEBHOOK_UPDATE = "webhook.update" changes Put "/v1/webhook/{idWebhook}";
        WEBHOOK_DELETE = "webhook.delete" changes Delete "/v1/webhook/{idWebhook}";
        WEBHOOK_ROTATE_SECRET = "webhook.rotate_secret" changes Post "/v1/webhook/{idWebhook}/secret";
        WEBHOOK_PING = "webhook.ping" changes Post "/v1/webhook/{idWebhook}/ping";
        WEBHOOK_DELIVERIES = "webhook.deliveries" reads Get "/v1/webhook/{idWebhook}/deliveries";
        WEBHOOK_REDELIVER = "webhook.redeliver" changes Post "/v1/webhook/{idWebhook}/redeliver";
        SANDBOX_DEPOSIT = "sandbox.deposit" changes Post "/sandbox/v1/balance/deposit";
        SANDBOX_PURCHASE = "sandbox.purchase" changes Post "/sandbox/v1/card/{idCard}/purchase";
        SANDBOX_REFUND = "sandbox.refund" changes Post "/sandbox/v1/card/{idCard}/refund";
        SANDBOX_BLOCK = "sandbox.block" changes Post "/sandbox/v1/card/{idCard}/block";
        SANDBOX_UNBLOCK = "sandbox.unblock" changes Post "/sandbox/v1/card/{idCard}/unblock";
        SANDBOX_EXPIRE = "sandbox.expire" changes Post "/sandbox/v1/card/{idCard}/expire";
        SANDBOX_ACTIVATE = "sandbox.activate" changes Post "/sandbox/v1/card/{idCard}/activate";
        SANDBOX_BANK = "sandbox.bank" changes Post "/sandbox/v1/bank";
        SANDBOX_CLOCK = "sandbox.clock" changes Post "/sandbox/v1/clock/advance";
    }

    const fn reads(name: &'static str, method: Method, path: &'static str) -> Operation {
        Operation { name, method, path, changes: false }
    }

    const fn changes(name: &'static str, method: Method, path: &'static str) -> Operation {
        Operation { name, method, path, changes: true }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::operations::{ALL, CARD_BALANCE, ORDER_CANCEL};
    use super::placeholders;

    #[test]
    fn no_two_operations_share_a_name_or_a_path_with_its_method() {
        let names: HashSet<_> = ALL.iter().map(|operation| operation.name).collect();
        let requests: HashSet<_> = ALL.iter().map(ToString::to_string).collect();
        assert_eq!((names.len(), requests.len()), (ALL.len(), ALL.len()));
    }

    #[test]
    fn a_route_has_no_final_slash() {
        assert_eq!(ORDER_CANCEL.to_string(), "POST /v1/order/cancel");
        assert_eq!(CARD_BALANCE.to_string(), "GET /v1/card/{idCard}/balance");
        assert_eq!(placeholders(CARD_BALANCE.path).collect::<Vec<_>>(), ["idCard"]);
    }
}
