//! What belongs to another partner answers exactly as what does not exist.

use kopeck_domain::partner::SealingPolicy;
use reqwest::Method;
use serde_json::{Value, json};

use crate::calls::{Api, NOBODY, plastic_order, text, top_ups};
use crate::server::TestServer;

/// Card numbers that no bank has given out.
const NO_NUMBER: &str = "4006381333931";

/// One thing of each kind.
struct Things {
    employee: String,
    category: String,
    order: String,
    card: String,
    number: String,
    replenishment: String,
}

impl Things {
    fn nothing() -> Self {
        let id = || NOBODY.to_owned();
        let number = NO_NUMBER.to_owned();
        Self { employee: id(), category: id(), order: id(), card: id(), number, replenishment: id() }
    }

    async fn of(api: &Api, server: &TestServer) -> Self {
        let category = api.category("Office").await;
        let employee = api.employee("T-1").await;
        let order =
            text(&api.post("/v1/order/plasticcards", &plastic_order(2, "Nevsky 1")).await.ok(202)["orderId"]);
        server.work();
        let cards = api.free().await;
        api.link(&employee, &cards[0].number, "MAIN").await.ok(200);
        let card = cards[0].id.clone();
        let replenishment = api.top_up(&[(&card, 100)]).await;
        Self { employee, category, order, card, number: cards[1].number.clone(), replenishment }
    }

    /// `template` with the identifiers of these things in place of their names in these brackets.
    fn put_into(&self, template: &str, open: char, close: char) -> String {
        let mut text = template.to_owned();
        for (name, value) in self.names() {
            text = text.replace(&format!("{open}{name}{close}"), value);
        }
        text
    }

    /// `answer` with the names of these things in place of their identifiers.
    fn take_out_of(&self, answer: &str) -> String {
        let mut text = answer.to_owned();
        for (_, value) in self.names() {
            text = text.replace(value, "<it>");
        }
        text
    }

    fn names(&self) -> [(&'static str, &String); 6] {
        [
            ("employee", &self.employee),
            ("category", &self.category),
            ("order", &self.order),
            ("card", &self.card),
            ("number", &self.number),
            ("replenishment", &self.replenishment),
        ]
    }
}

/// Every call that takes an identifier, in a path, a query or a body. `[employee]` is the caller's own.
fn calls() -> Vec<(Method, &'static str, Value)> {
    let (get, post, put) = (Method::GET, Method::POST, Method::PUT);
    let status = |card: &str| json!({"idCard": card, "statusCard": "MAIN"});
    let link = |number: &str| json!({"customIdCard": number, "statusCard": "ADDITIONAL"});
    let none = Value::Null;
    vec![
        (get.clone(), "/v1/employee/<employee>", none.clone()),
        (put.clone(), "/v1/employee/<employee>", json!({"name": "X"})),
        (Method::PATCH, "/v1/employee/<employee>", json!({"status": "MEDICAL"})),
        (put.clone(), "/v1/employee/[employee]", json!({"idCategory": "<category>"})),
        (post.clone(), "/v1/employee/add", json!({"customId": "new", "idCategory": "<category>"})),
        (get.clone(), "/v1/employees?idCategory=<category>", none.clone()),
        (put.clone(), "/v1/category/<category>", json!({"nameCategory": "X"})),
        (Method::PATCH, "/v1/category/<category>", json!({"nameCategory": "X"})),
        (Method::DELETE, "/v1/category/<category>", none.clone()),
        (get.clone(), "/v1/card/<card>", none.clone()),
        (get.clone(), "/v1/card/<card>/balance", none.clone()),
        (get.clone(), "/v1/card/<card>/transactions", none.clone()),
        (post.clone(), "/v1/employee/<employee>/link_card", link("[number]")),
        (post.clone(), "/v1/employee/[employee]/link_card", link("<number>")),
        (post.clone(), "/v1/employee/<employee>/link_card", link("<number>")),
        (post.clone(), "/v1/employee/<employee>/card/switch", status("[card]")),
        (post.clone(), "/v1/employee/[employee]/card/switch", status("<card>")),
        (post.clone(), "/v1/employee/<employee>/card/switch", status("<card>")),
        (get.clone(), "/v1/order/status/<order>", none.clone()),
        (get.clone(), "/v1/order/result/<order>", none.clone()),
        (post.clone(), "/v1/order/confirm/", json!({"orderId": "<order>"})),
        (post.clone(), "/v1/order/cancel/", json!({"orderId": "<order>"})),
        (post.clone(), "/v1/replenishment", top_ups(&[("<card>", 5)])),
        (post.clone(), "/v1/replenishment", top_ups(&[("[card]", 5), ("<card>", 5)])),
        (get.clone(), "/v1/replenishment/status/?idReplenishment=<replenishment>", none.clone()),
        (get.clone(), "/v1/replenishment/result/?replenishmentId=<replenishment>", none.clone()),
        (get.clone(), "/v1/replenishment/<replenishment>/status", none.clone()),
        (get, "/v1/replenishment/<replenishment>/result", none.clone()),
        (Method::DELETE, "/v1/replenishment/<replenishment>", none),
        (post.clone(), "/sandbox/v1/card/<card>/block", json!({})),
        (post.clone(), "/sandbox/v1/card/<card>/unblock", json!({})),
        (post.clone(), "/sandbox/v1/card/<card>/expire", json!({})),
        (post, "/sandbox/v1/card/<card>/activate", json!({})),
    ]
}

/// The status and the bytes of an answer, the identifiers asked about aside.
async fn ask(
    api: &Api,
    own: &Things,
    things: &Things,
    call: &(Method, &'static str, Value),
) -> (u16, String) {
    let (method, path, body) = call;
    let fill = |template: &str| things.put_into(&own.put_into(template, '[', ']'), '<', '>');
    let reply = api.call(method.clone(), &fill(path), &filled(body, &fill)).await;
    (reply.status, things.take_out_of(&reply.text))
}

fn filled(body: &Value, fill: &impl Fn(&str) -> String) -> Value {
    match body {
        Value::String(text) => json!(fill(text)),
        Value::Array(list) => list.iter().map(|item| filled(item, fill)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), filled(value, fill))).collect()
        }
        other => other.clone(),
    }
}

#[tokio::test]
async fn nothing_of_another_partner_can_be_told_from_nothing() {
    let server = TestServer::start();
    let victim = Api::login(&server, &server.partner(SealingPolicy::Optional, 10_000)).await;
    let theirs = Things::of(&victim, &server).await;
    let api = Api::login(&server, &server.partner(SealingPolicy::Optional, 10_000)).await;
    let own = Things::of(&api, &server).await;
    server.work();
    let before = everything(&victim, &theirs).await;
    for call in calls() {
        let nothing = ask(&api, &own, &Things::nothing(), &call).await;
        let foreign = ask(&api, &own, &theirs, &call).await;
        assert_eq!(foreign, nothing, "{} {}", call.0, call.1);
        let expected = if nothing.1.contains("\"meta\"") { 200..=200 } else { 404..=422 };
        assert!(expected.contains(&nothing.0), "{} {}: {nothing:?}", call.0, call.1);
    }
    assert_eq!(everything(&victim, &theirs).await, before, "and nothing of it has changed");
    server.work();
}

/// The same calls work for who the things belong to, so that the matrix above is not right by misspelling.
#[tokio::test]
async fn the_same_calls_work_for_the_owner() {
    let server = TestServer::start();
    for call in calls() {
        let api = Api::login(&server, &server.partner(SealingPolicy::Optional, 10_000)).await;
        let own = Things::of(&api, &server).await;
        server.work();
        let (status, text) = ask(&api, &own, &own, &call).await;
        let refused_by_rule = ["order_not_cancellable", "request_not_cancellable", "employee_has_main_card"];
        let is_rule = status == 409 && refused_by_rule.iter().any(|code| text.contains(code));
        let is_twice = status == 422 && text.contains("cards[1].idCard");
        assert!(
            (200..=202).contains(&status) || is_rule || is_twice,
            "{} {}: {status} {text}",
            call.0,
            call.1
        );
        server.work();
    }
}

/// Everything that a partner sees of its things.
async fn everything(api: &Api, things: &Things) -> Vec<String> {
    let mut seen = Vec::new();
    for path in [
        "/v1/employees",
        "/v1/categories",
        "/v1/cards/available",
        "/v1/orders",
        "/v1/replenishments",
        "/v1/balance",
        "/v1/employee/<employee>",
        "/v1/card/<card>",
        "/v1/card/<card>/transactions",
        "/v1/replenishment/<replenishment>/result",
        "/v1/order/result/<order>",
    ] {
        let reply = api.get(&things.put_into(path, '<', '>')).await;
        assert_eq!(reply.status, 200, "{path}");
        seen.push(reply.text);
    }
    seen
}

#[tokio::test]
async fn lists_and_balances_hold_ones_own_alone() {
    let server = TestServer::start();
    let busy = Api::login(&server, &server.partner(SealingPolicy::Optional, 10_000)).await;
    Things::of(&busy, &server).await;
    server.work();
    let api = Api::login(&server, &server.partner(SealingPolicy::Optional, 0)).await;
    for path in [
        "/v1/employees",
        "/v1/categories",
        "/v1/cards/available",
        "/v1/orders",
        "/v1/replenishments",
        "/v1/employees?q=T",
    ] {
        let list = api.get(path).await.ok(200);
        assert_eq!((&list["data"], &list["meta"]["total"]), (&json!([]), &json!(0)), "{path}");
    }
    api.expect_money(0, 0).await;
    busy.expect_money(9_900, 0).await;
}
