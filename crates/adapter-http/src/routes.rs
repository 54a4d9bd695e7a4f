//! The table of operations.

use actix_web::http::Method;

use crate::handlers::{balance, cards, categories, employees, limits, orders, replenishments, sandbox};
use crate::route::{Effect, Field, FieldEncoding, Handler, Route};

/// The operations of the interface. Where two paths match, the one with fewer placeholders wins.
pub(crate) fn interface() -> &'static [Route] {
    INTERFACE
}

/// The operations of the sandbox.
pub(crate) fn sandbox() -> &'static [Route] {
    SANDBOX
}

/// All operations.
pub(crate) fn all() -> impl Iterator<Item = &'static Route> {
    INTERFACE.iter().chain(SANDBOX)
}

/// The operation with this name.
#[cfg(test)]
pub(crate) fn named(name: &str) -> Option<&'static Route> {
    INTERFACE.iter().chain(SANDBOX).find(|route| route.name == name)
}

/// Wraps a handler for the table.
macro_rules! handler {
    ($handler:path) => {
        |exchange| Box::pin($handler(exchange))
    };
}

static INTERFACE: &[Route] = &[
    token_call("token.access", "/v1/get_access_token", Effect::Login, &[text("login"), text("password")]),
    token_call("token.refresh", "/v1/get_refresh_token", Effect::Refresh, &[text("token")]),
    post("employee.add", "/v1/employee/add", EMPLOYEE, handler!(employees::add)),
    put("employee.update", "/v1/employee/{idEmployee}", EMPLOYEE, handler!(employees::update)),
    get("employee.get", "/v1/employee/{idEmployee}", &[], handler!(employees::get)),
    get("employee.list", "/v1/employees", EMPLOYEE_LIST, handler!(employees::list)),
    post("category.create", "/v1/category", CATEGORY, handler!(categories::create)),
    put("category.rename", "/v1/category/{idCategory}", CATEGORY, handler!(categories::rename)),
    delete("category.delete", "/v1/category/{idCategory}", handler!(categories::delete)),
    get("category.list", "/v1/categories", PAGING, handler!(categories::list)),
    get("card.info", "/v1/card/{idCard}", &[], handler!(cards::info)),
    get("card.balance", "/v1/card/{idCard}/balance", &[], handler!(cards::balance)),
    get("card.transactions", "/v1/card/{idCard}/transactions", TRANSACTIONS, handler!(cards::transactions)),
    question("card.can_pay", "/v1/card/{idCard}/can-pay", CAN_PAY, handler!(cards::can_pay)),
    get("card.available", "/v1/cards/available", AVAILABLE, handler!(cards::available)),
    post("card.link", "/v1/employee/{idEmployee}/link_card", LINK, handler!(cards::link)),
    post("card.switch", "/v1/employee/{idEmployee}/card/switch", SWITCH, handler!(cards::switch)),
    post("order.plastic", "/v1/order/plasticcards", &[json("data")], handler!(orders::plastic)),
    post("order.virtual", "/v1/order/virtualcards", &[json("data")], handler!(orders::virtual_)),
    get("order.status", "/v1/order/status/{order_id}", &[], handler!(orders::status)),
    disclosing(get("order.result", "/v1/order/result/{order_id}", &[], handler!(orders::result))),
    post("order.confirm", "/v1/order/confirm", &[text("orderId")], handler!(orders::confirm)),
    post("order.cancel", "/v1/order/cancel", &[text("orderId")], handler!(orders::cancel)),
    get("order.list", "/v1/orders", REQUESTS, handler!(orders::list)),
    post("replenishment.create", "/v1/replenishment", &[json("cards")], handler!(replenishments::create)),
    get(
        "replenishment.status",
        "/v1/replenishment/status",
        REPLENISHMENT,
        handler!(replenishments::status_by_query),
    ),
    get(
        "replenishment.result",
        "/v1/replenishment/result",
        REPLENISHMENT,
        handler!(replenishments::result_by_query),
    ),
    get(
        "replenishment.status_by_path",
        "/v1/replenishment/{replenishmentId}/status",
        &[],
        handler!(replenishments::status_by_path),
    ),
    get(
        "replenishment.result_by_path",
        "/v1/replenishment/{replenishmentId}/result",
        &[],
        handler!(replenishments::result_by_path),
    ),
    delete("replenishment.cancel", "/v1/replenishment/{replenishmentId}", handler!(replenishments::cancel)),
    get("replenishment.list", "/v1/replenishments", REQUESTS, handler!(replenishments::list)),
    post("limits.set", "/v1/setlimitscards", &[json("data"), json("limit")], handler!(limits::set)),
    question("limits.status", "/v1/limits/status", LIMIT_CHANGE, handler!(limits::status)),
    post("limits.cancel", "/v1/limits/cancel", LIMIT_CHANGE, handler!(limits::cancel)),
    get("limits.result", "/v1/limits/result/{setLimitsCardsId}", &[], handler!(limits::result)),
    get("limits.list", "/v1/limits", REQUESTS, handler!(limits::list)),
    get("balance", "/v1/balance", &[], handler!(balance::get)),
];

static SANDBOX: &[Route] = &[
    post("sandbox.deposit", "/sandbox/v1/balance/deposit", &[json("amount")], handler!(sandbox::deposit)),
    post("sandbox.purchase", "/sandbox/v1/card/{idCard}/purchase", PURCHASE, handler!(sandbox::purchase)),
    post("sandbox.refund", "/sandbox/v1/card/{idCard}/refund", REFUND, handler!(sandbox::refund)),
    command("sandbox.block", "/sandbox/v1/card/{idCard}/block", handler!(sandbox::block)),
    command("sandbox.unblock", "/sandbox/v1/card/{idCard}/unblock", handler!(sandbox::unblock)),
    command("sandbox.expire", "/sandbox/v1/card/{idCard}/expire", handler!(sandbox::expire)),
    command("sandbox.activate", "/sandbox/v1/card/{idCard}/activate", handler!(sandbox::activate)),
    post("sandbox.bank", "/sandbox/v1/bank", BANK, handler!(sandbox::bank)),
    post("sandbox.clock", "/sandbox/v1/clock/advance", &[json("seconds")], handler!(sandbox::advance_clock)),
];

const EMPLOYEE: &[Field] = &[
    text("customId"),
    text("surname"),
    text("name"),
    text("patronymic"),
    text("phone"),
    text("email"),
    text("idCategory"),
    text("status"),
];
const CATEGORY: &[Field] = &[text("nameCategory")];
const LINK: &[Field] = &[text("customIdCard"), text("statusCard")];
const SWITCH: &[Field] = &[clear(text("idCard")), text("statusCard")];
const CAN_PAY: &[Field] = &[json("amount"), text("at")];
const LIMIT_CHANGE: &[Field] = &[text("setLimitsCardsId")];
const REPLENISHMENT: &[Field] = &[text("idReplenishment"), text("replenishmentId")];

const PURCHASE: &[Field] = &[json("amount"), text("place"), text("mcc"), text("merchantId"), text("at")];
const REFUND: &[Field] = &[json("transactionId"), json("amount")];
const BANK: &[Field] =
    &[json("latencyMs"), json("errorRate"), json("loseAnswerRate"), json("duplicateRate"), json("down")];

const PAGE: Field = clear(json("page"));
const PER_PAGE: Field = clear(json("per_page"));
const PER_PAGE_CAMEL: Field = clear(json("perPage"));
const PAGING: &[Field] = &[PAGE, PER_PAGE, PER_PAGE_CAMEL];
const EMPLOYEE_LIST: &[Field] =
    &[PAGE, PER_PAGE, PER_PAGE_CAMEL, text("status"), text("idCategory"), text("customId"), text("q")];
const AVAILABLE: &[Field] = &[PAGE, PER_PAGE, PER_PAGE_CAMEL, text("typeCard")];
const REQUESTS: &[Field] = &[PAGE, PER_PAGE, PER_PAGE_CAMEL, text("status")];
/// The interface marks the paging of this list alone as encrypted.
const TRANSACTIONS: &[Field] =
    &[json("page"), json("per_page"), json("perPage"), text("from"), text("to"), text("type")];

/// A text that the interface marks encrypted.
const fn text(name: &'static str) -> Field {
    Field { name, encoding: FieldEncoding::Text, may_be_clear: false }
}

/// A number or list that the interface marks encrypted.
const fn json(name: &'static str) -> Field {
    Field { name, encoding: FieldEncoding::Json, may_be_clear: false }
}

/// The field, not marked as encrypted.
const fn clear(field: Field) -> Field {
    Field { may_be_clear: true, ..field }
}

const fn token_call(
    name: &'static str,
    path: &'static str,
    effect: Effect,
    fields: &'static [Field],
) -> Route {
    Route { name, method: Method::POST, path, effect, discloses: false, needs_body: true, fields }
}

const fn get(name: &'static str, path: &'static str, fields: &'static [Field], handler: Handler) -> Route {
    Route {
        name,
        method: Method::GET,
        path,
        effect: Effect::Read(handler),
        discloses: false,
        needs_body: false,
        fields,
    }
}

const fn post(name: &'static str, path: &'static str, fields: &'static [Field], handler: Handler) -> Route {
    Route {
        name,
        method: Method::POST,
        path,
        effect: Effect::Mutate(handler),
        discloses: false,
        needs_body: true,
        fields,
    }
}

/// A `POST` that reads.
const fn question(
    name: &'static str,
    path: &'static str,
    fields: &'static [Field],
    handler: Handler,
) -> Route {
    Route {
        name,
        method: Method::POST,
        path,
        effect: Effect::Read(handler),
        discloses: false,
        needs_body: true,
        fields,
    }
}

const fn put(name: &'static str, path: &'static str, fields: &'static [Field], handler: Handler) -> Route {
    Route {
        name,
        method: Method::PUT,
        path,
        effect: Effect::Mutate(handler),
        discloses: false,
        needs_body: true,
        fields,
    }
}

const fn delete(name: &'static str, path: &'static str, handler: Handler) -> Route {
    Route {
        name,
        method: Method::DELETE,
        path,
        effect: Effect::Mutate(handler),
        discloses: false,
        needs_body: false,
        fields: &[],
    }
}

/// Marks an operation that shows activation codes.
const fn disclosing(mut route: Route) -> Route {
    route.discloses = true;
    route
}

/// A `POST` that needs no body.
const fn command(name: &'static str, path: &'static str, handler: Handler) -> Route {
    const FIELDS: &[Field] = &[text("activationCode")];
    Route {
        name,
        method: Method::POST,
        path,
        effect: Effect::Mutate(handler),
        discloses: false,
        needs_body: false,
        fields: FIELDS,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_operations_share_a_name_or_a_path_with_its_method() {
        let all: Vec<&Route> = INTERFACE.iter().chain(SANDBOX).collect();
        let names: HashSet<_> = all.iter().map(|route| route.name).collect();
        let calls: HashSet<_> = all.iter().map(|route| (route.method.as_str(), route.path)).collect();
        assert_eq!((names.len(), calls.len()), (all.len(), all.len()));
        assert!(all.iter().all(|route| !route.path.ends_with('/')));
    }

    #[test]
    fn placeholders_are_those_of_the_interface() {
        let allowed =
            ["idCard", "idEmployee", "idCategory", "order_id", "replenishmentId", "setLimitsCardsId"];
        for route in INTERFACE.iter().chain(SANDBOX) {
            assert!(route.placeholders().all(|name| allowed.contains(&name)), "{}", route.path);
        }
    }
}
