//! One thing of each kind that a partner can have, and for every operation requests about them that succeed.
//!
//! Rules for every operation are tested with these requests, so that a new operation cannot be forgotten: one
//! without a request here fails `coverage`.

mod programmes;
mod runs;

use std::collections::BTreeMap;

use kopeck_adapter_http::{OperationInfo, operations};
use kopeck_domain::ids::SessionId;
use kopeck_port_store::session::{PairState, TokenPair};
use kopeck_port_store::{Access, StoreError, UnitOfWork, transact};
use serde_json::{Value, json};
use time::Duration;

use crate::api_client::{UNKNOWN_ID, plastic_order, text, top_ups, virtual_order};
use crate::raw_http::{RawRequest, RawResponse, get, post};
use crate::server::{PASSWORD, TestServer};

/// The requests that carry the API key; all others carry a token.
pub const TOKEN_CALLS: [&str; 2] = ["token.access", "token.refresh"];

/// A card number that no bank has given out.
const NO_NUMBER: &str = "4006381333931";

/// An endpoint that gets nothing: the tests' server has no sender.
const HOOK: &str = "https://hooks.example/";

/// Identifiers by the names that stand for them in [`samples`].
pub struct Things(BTreeMap<&'static str, Value>);

/// A call of an operation. `<card>` stands for the identifier of a card, whose ever it is; `[card]` for the caller's
/// own.
pub struct Sample {
    pub operation: OperationInfo,
    /// The identifiers in the path, separated by slashes.
    at: &'static str,
    /// The fields of the body; of a `GET`, its query.
    fields: Value,
}

/// Every operation that is called with a token.
pub fn token_operations() -> impl Iterator<Item = OperationInfo> {
    operations().filter(|operation| !TOKEN_CALLS.contains(&operation.name))
}

/// Method and path of every operation that is called with a token; `{}` in place of an identifier.
pub fn calls() -> Vec<(&'static str, String)> {
    let of_operation = |operation: OperationInfo| {
        let pattern =
            operation.placeholders().fold(operation.path.to_owned(), |path, name| path.replace(name, ""));
        operation.methods().map(move |method| (method, pattern.clone()))
    };
    token_operations().flat_map(of_operation).collect()
}

/// At least one request of every operation that is called with a token. All of them succeed with [`Things`] that no
/// other request has touched.
pub fn samples() -> impl Iterator<Item = Sample> {
    token_operations().flat_map(|operation| {
        let rows: Vec<_> = table().into_iter().filter(|(name, ..)| *name == operation.name).collect();
        assert!(!rows.is_empty(), "{} has no call in this table", operation.name);
        rows.into_iter().map(move |(_, at, fields)| Sample { operation, at, fields })
    })
}

/// Samples with one identifier in the path, and its name there; without those with a category among their fields,
/// as an unknown category is a faulty value, which is reported first.
pub fn samples_by_path() -> impl Iterator<Item = (Sample, &'static str)> {
    let by_id =
        |sample: &Sample| sample.at.starts_with(['<', '[']) && sample.fields.get("idCategory").is_none();
    samples().filter(by_id).filter_map(|sample| {
        let mut placeholders = sample.operation.placeholders();
        let placeholder = placeholders.next()?;
        placeholders.next().is_none().then_some((sample, placeholder))
    })
}

/// Name of the operation, what stands in its path, its fields.
#[expect(clippy::too_many_lines, reason = "a line or two an operation")]
fn table() -> Vec<(&'static str, &'static str, Value)> {
    let none = || Value::Null;
    let of_card = |amount: i64| json!({"idCard": "<card>", "amountReplenishment": amount});
    let everything = json!({"unlimited": true});
    vec![
        ("session.list", "", none()),
        ("session.end", "<session>", none()),
        ("password.change", "", json!({"current": PASSWORD, "new": PASSWORD})),
        ("request.list", "", json!({"operation": "balance", "status": "200"})),
        ("employee.add", "", json!({"customId": "[new]", "idCategory": "<category>"})),
        ("employee.update", "<employee>", json!({"idCategory": "<category>"})),
        ("employee.update", "<employee>", json!({"status": "MEDICAL"})),
        ("employee.get", "<employee>", none()),
        ("employee.erase", "<leaver>", none()),
        ("employee.list", "", json!({"idCategory": "<category>"})),
        ("category.create", "", json!({"nameCategory": "[new]"})),
        ("category.rename", "<category>", json!({"nameCategory": "[new]"})),
        ("category.delete", "<empty category>", none()),
        ("category.list", "", none()),
        ("card.info", "<card>", none()),
        ("card.balance", "<card>", none()),
        ("card.transactions", "<card>", none()),
        ("card.can_pay", "<card>", json!({"amount": 1})),
        ("card.list", "", json!({"orderId": "<order>"})),
        ("card.list", "", json!({"idEmployee": "<employee>", "linked": "true"})),
        ("card.list", "", json!({"customIdCard": "<number>"})),
        ("card.available", "", json!({"typeCard": "MP4"})),
        ("card.link", "<employee>", json!({"customIdCard": "<number>", "statusCard": "ADDITIONAL"})),
        ("card.switch", "<employee>", json!({"idCard": "<card>", "statusCard": "ADDITIONAL"})),
        ("card.unlink", "<employee>/<expired card>", none()),
        ("order.plastic", "", plastic_order(1, "Nevsky 1")),
        ("order.virtual", "", virtual_order(1, 5_000)),
        ("order.status", "<order>", none()),
        ("order.result", "<order>", none()),
        ("order.confirm", "", json!({"orderId": "<order>"})),
        ("order.cancel", "", json!({"orderId": "<new order>"})),
        ("order.list", "", json!({"status": "NEW"})),
        ("replenishment.create", "", json!({"cards": [of_card(5)]})),
        ("replenishment.create", "", {
            json!({"cards": [{"idCard": "[other card]", "amountReplenishment": 5}, of_card(5)]})
        }),
        ("replenishment.status", "", json!({"idReplenishment": "<top-up>"})),
        ("replenishment.status", "", json!({"replenishmentId": "<top-up>"})),
        ("replenishment.result", "", json!({"idReplenishment": "<top-up>"})),
        ("replenishment.result", "", json!({"replenishmentId": "<top-up>"})),
        ("replenishment.status_by_path", "<top-up>", none()),
        ("replenishment.result_by_path", "<top-up>", none()),
        ("replenishment.cancel", "<new top-up>", none()),
        ("replenishment.list", "", none()),
        ("limits.set", "", json!({"data": [{"idCard": "<card>"}], "limit": everything})),
        ("limits.set", "", {
            json!({"data": [{"idCard": "[other card]"}, {"idCard": "<card>"}], "limit": everything})
        }),
        ("limits.status", "", json!({"setLimitsCardsId": "<change>"})),
        ("limits.cancel", "", json!({"setLimitsCardsId": "<new change>"})),
        ("limits.result", "<change>", none()),
        ("limits.list", "", none()),
        ("closing.create", "", json!({"data": [{"idCard": "<card>", "reason": "OTHER"}]})),
        ("closing.create", "", {
            json!({"data": [{"idCard": "[other card]", "reason": "LOST"}, {"idCard": "<card>", "reason": "STOLEN"}]})
        }),
        ("closing.status", "<closing>", none()),
        ("closing.result", "<closing>", none()),
        ("closing.cancel", "<new closing>", none()),
        ("closing.list", "", none()),
        ("withdrawal.create", "", json!({"data": [{"idCard": "<card>", "amount": 5}]})),
        ("withdrawal.create", "", json!({"data": [{"idCard": "[other card]"}, {"idCard": "<card>"}]})),
        ("withdrawal.status", "<withdrawal>", none()),
        ("withdrawal.result", "<withdrawal>", none()),
        ("withdrawal.cancel", "<new withdrawal>", none()),
        ("withdrawal.list", "", none()),
        ("balance", "", none()),
        ("balance.entries", "", json!({"type": "HOLD"})),
        ("statement", "2026-03", none()),
        ("report.employees", "2026-03", json!({"idCategory": "<category>", "idProgramme": "<programme>"})),
        ("report.close", "2026-02", none()),
        ("transaction.feed", "", json!({"idCard": "<card>"})),
        ("transaction.feed", "", json!({"idEmployee": "<employee>"})),
        ("event.feed", "", json!({"types": "card.issued,card.linked"})),
        ("webhook.create", "", json!({"url": HOOK})),
        ("webhook.list", "", none()),
        ("webhook.get", "<webhook>", none()),
        ("webhook.update", "<webhook>", json!({"description": "[new]"})),
        ("webhook.delete", "<spare webhook>", none()),
        ("webhook.rotate_secret", "<webhook>", none()),
        ("webhook.ping", "<webhook>", none()),
        ("webhook.deliveries", "<webhook>", none()),
        ("webhook.redeliver", "<webhook>", json!({"eventId": "<event>"})),
        ("webhook.redeliver", "<webhook>", json!({"after": 0})),
    ]
    .into_iter()
    .chain(runs::samples())
    .chain(programmes::samples())
    .chain(of_the_sandbox())
    .collect()
}

/// The same of the sandbox.
fn of_the_sandbox() -> Vec<(&'static str, &'static str, Value)> {
    let none = || Value::Null;
    vec![
        ("sandbox.deposit", "", json!({"amount": 1})),
        ("sandbox.purchase", "<card>", json!({"amount": 1})),
        ("sandbox.refund", "<card>", json!({"transactionId": "<payment>", "amount": 1})),
        ("sandbox.block", "<card>", none()),
        ("sandbox.unblock", "<card>", none()),
        ("sandbox.expire", "<card>", none()),
        ("sandbox.activate", "<sleeping card>", json!({"activationCode": "[code]"})),
        ("sandbox.activate", "<card>", none()),
        ("sandbox.bank", "", json!({})),
        ("sandbox.clock", "", json!({"seconds": 1})),
    ]
}

impl Sample {
    /// The identifiers in the request: placeholders of its path, and fields.
    pub fn parameters(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.operation.placeholders().collect();
        names.extend(self.fields.as_object().into_iter().flatten().map(|(name, _)| name.as_str()));
        names
    }

    /// The request with the caller's own things.
    pub fn call(&self, own: &Things) -> RawRequest {
        self.call_as(self.operation.method, own, &[], own)
    }

    /// The same, but under these parameters it names `strange` things.
    pub fn call_as(&self, method: &str, own: &Things, parameters: &[&str], strange: &Things) -> RawRequest {
        let whose = |parameter: &str| if parameters.contains(&parameter) { strange } else { own };
        let mut target = self.operation.path.to_owned();
        for (placeholder, at) in self.operation.placeholders().zip(self.at.split('/')) {
            let value = fill(&json!(at), whose(placeholder), own);
            target = target.replace(&format!("{{{placeholder}}}"), value.as_str().unwrap());
        }
        let fields: Vec<(&String, Value)> = self
            .fields
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name, fill(value, whose(name), own)))
            .collect();
        if method == "GET" {
            let query: Vec<_> =
                fields.iter().map(|(name, value)| format!("{name}={}", value.as_str().unwrap())).collect();
            let sign = if query.is_empty() { "" } else { "?" };
            return get(&format!("{target}{sign}{}", query.join("&")));
        }
        let call = RawRequest::new(method, &target);
        if self.fields.is_null() { call } else { call.json(&fields.into_iter().collect::<Value>()) }
    }
}

fn fill(template: &Value, things: &Things, own: &Things) -> Value {
    let within = |text: &str, open, close| {
        text.strip_prefix(open).and_then(|text: &str| text.strip_suffix(close)).map(str::to_owned)
    };
    match template {
        Value::String(text) => {
            if let Some(name) = within(text, '<', '>') {
                things.get(&name).clone()
            } else if let Some(name) = within(text, '[', ']') {
                own.get(&name).clone()
            } else {
                template.clone()
            }
        }
        Value::Array(list) => list.iter().map(|item| fill(item, things, own)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), fill(value, things, own))).collect()
        }
        other => other.clone(),
    }
}

impl Things {
    /// Identifiers of nothing.
    pub fn nothing() -> Self {
        let ids = [
            "employee",
            "leaver",
            "category",
            "empty category",
            "card",
            "other card",
            "expired card",
            "sleeping card",
            "order",
            "new order",
            "top-up",
            "new top-up",
            "change",
            "new change",
            "closing",
            "new closing",
            "withdrawal",
            "new withdrawal",
            "run",
            "waiting run",
            "webhook",
            "spare webhook",
            "event",
            "session",
        ];
        let ids = ids.into_iter().chain(programmes::THINGS);
        let mut things: BTreeMap<&str, Value> = ids.map(|name| (name, json!(UNKNOWN_ID))).collect();
        things.insert("number", json!(NO_NUMBER));
        things.insert("payment", json!(999_999_999));
        things.insert("code", json!("NOTACODE"));
        things.insert("new", json!("nothing"));
        things.insert("digest", json!("0".repeat(64)));
        things.insert("waiting digest", json!("0".repeat(64)));
        Self(things)
    }

    /// Makes them for the partner with this token. `tag` tells them from those that it has already.
    pub fn make(server: &TestServer, token: &str, tag: u32) -> Self {
        Maker { server, token, tag }.make()
    }

    pub fn get(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or_else(|| panic!("there is no <{name}>"))
    }

    /// An identifier that is a text.
    pub fn id(&self, name: &str) -> &str {
        self.get(name).as_str().unwrap()
    }

    /// The identifiers as they stand in a response.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.0.values().filter_map(Value::as_str)
    }
}

/// Makes things by requests.
struct Maker<'a> {
    server: &'a TestServer,
    token: &'a str,
    tag: u32,
}

impl Maker<'_> {
    fn make(&self) -> Things {
        let tag = self.tag;
        let category = |name: &str| self.post("/v1/category", &json!({"nameCategory": name}), "idCategory");
        let (full, empty) = (category(&format!("Office {tag}")), category(&format!("Empty {tag}")));
        let employee = self.employee("A", &full);
        let order = self.post("/v1/order/virtualcards", &virtual_order(1, 5_000), "orderId");
        let plastic = self.post("/v1/order/plasticcards", &plastic_order(8, "Nevsky 1"), "orderId");
        self.server.run_jobs();
        let numbers = self.issued(&plastic);
        let card = self.link(&employee, &numbers[0]["customIdCard"]);
        let [other, busy] = [("B", 1), ("C", 2)].map(|(name, place): (&str, usize)| {
            self.link(&self.employee(name, &full), &numbers[place]["customIdCard"])
        });
        let expired = self.link_as("ADDITIONAL", &employee, &numbers[4]["customIdCard"]);
        self.send(RawRequest::new("POST", &format!("/sandbox/v1/card/{expired}/expire"))).ok(200);
        let sleeping = self.issued(&order).remove(0);

        let top_up = self.top_up(&card);
        let change = self.change(&card);
        let [spare, unwanted, emptied] =
            [5, 6, 7].map(|place: usize| self.unassigned_card(&numbers[place]["customIdCard"]));
        let closing = self.closing(&unwanted);
        self.server.run_jobs();
        let withdrawal = self.withdrawal(&card);
        self.server.run_jobs();
        let run = self.run(&other);
        let holder = self.server.holder_of(&other);
        let (waiting, waiting_digest) = self.server.waiting_run_of(holder);
        let purchase = json!({"amount": 100});
        let bought = self.send(post(&format!("/sandbox/v1/card/{card}/purchase"), &purchase)).ok(200);
        let things = [
            ("employee", json!(employee)),
            ("leaver", json!(self.employee("D", &full))),
            ("category", json!(full)),
            ("empty category", json!(empty)),
            ("card", json!(card)),
            ("other card", json!(other)),
            ("expired card", json!(expired)),
            ("number", numbers[3]["customIdCard"].clone()),
            ("sleeping card", self.unassigned_card(&sleeping["customIdCard"])),
            ("code", sleeping["activationCode"].clone()),
            ("payment", bought["transactionId"].clone()),
            ("order", json!(order)),
            ("new order", json!(self.post("/v1/order/virtualcards", &virtual_order(1, 5_000), "orderId"))),
            ("top-up", json!(top_up)),
            ("new top-up", json!(self.top_up(&busy))),
            ("change", json!(change)),
            ("new change", json!(self.change(&busy))),
            ("closing", json!(closing)),
            ("new closing", json!(self.closing(&spare))),
            ("withdrawal", json!(withdrawal)),
            ("new withdrawal", json!(self.withdrawal(emptied.as_str().unwrap()))),
            ("new", json!(format!("new-{tag}"))),
            ("run", run["idRun"].clone()),
            ("digest", run["digest"].clone()),
            ("waiting run", json!(waiting)),
            ("waiting digest", json!(waiting_digest)),
            ("programme", json!(self.programme())),
            ("spare programme", json!(self.programme())),
            ("waiting programme", json!(self.server.waiting_programme_of(holder))),
            ("refused programme", json!(self.server.waiting_programme_of(holder))),
            ("webhook", json!(self.webhook())),
            ("spare webhook", json!(self.webhook())),
            ("session", json!(self.session())),
            ("event", self.send(get("/v1/events?limit=1")).ok(200)["data"][0]["id"].clone()),
        ];
        Things(things.into())
    }

    fn send(&self, call: RawRequest) -> RawResponse {
        call.token(self.token).send(self.server)
    }

    /// Posts `body` and returns the field `name` of the response.
    fn post(&self, path: &str, body: &Value, name: &str) -> String {
        self.send(post(path, body)).text_of(name)
    }

    fn employee(&self, name: &str, category: &str) -> String {
        let body = json!({"customId": format!("{name}-{}", self.tag), "idCategory": category});
        self.post("/v1/employee/add", &body, "idEmployee")
    }

    fn link(&self, employee: &str, number: &Value) -> String {
        self.link_as("MAIN", employee, number)
    }

    fn link_as(&self, status: &str, employee: &str, number: &Value) -> String {
        let body = json!({"customIdCard": number, "statusCard": status});
        self.post(&format!("/v1/employee/{employee}/link_card"), &body, "idCard")
    }

    fn top_up(&self, card: &str) -> String {
        self.post("/v1/replenishment", &top_ups(&[(card, 1_000)]), "replenishmentId")
    }

    fn change(&self, card: &str) -> String {
        let body = json!({"data": [{"idCard": card}], "limit": {"amount": 1_000, "period": "CDAY"}});
        self.post("/v1/setlimitscards", &body, "setLimitsCardsId")
    }

    fn closing(&self, card: &Value) -> String {
        let body = json!({"data": [{"idCard": card, "reason": "DAMAGED"}]});
        self.post("/v1/closings", &body, "closingId")
    }

    fn run(&self, card: &str) -> Value {
        let body = json!({"kind": "TOP_UP", "items": [{"idCard": card, "amount": 1_000}]});
        self.send(post("/v1/runs", &body)).ok(201)
    }

    fn programme(&self) -> String {
        let list = self.send(get("/v1/programmes?per_page=100")).ok(200);
        programmes::too_many(&list)
            .for_each(|path| drop(self.send(RawRequest::new("DELETE", &path)).ok(200)));
        self.post("/v1/programmes", &programmes::terms("Own", &json!({"all": true})), "idProgramme")
    }

    fn withdrawal(&self, card: &str) -> String {
        self.post("/v1/withdrawals", &json!({"data": [{"idCard": card, "amount": 100}]}), "withdrawalId")
    }

    /// A session beside the one that calls.
    fn session(&self) -> String {
        let application = &self.server.application;
        let partner = application.tokens.verify(self.token).unwrap().partner;
        let (session, now) = (SessionId::new(application.env.ids.next_id()), application.env.now());
        let pair = TokenPair {
            id: application.env.ids.next_id().into(),
            state: PairState::Fresh,
            used: false,
            successor: None,
            reissued: false,
            refresh_expires_at: now + Duration::DAY,
        };
        let begin = move |unit: &mut dyn UnitOfWork| {
            unit.sessions().insert(partner, session, None, now)?;
            unit.sessions().insert_pair(partner, session, &pair)
        };
        transact::<_, StoreError>(&*application.store, Access::Write, begin).unwrap();
        session.to_string()
    }

    /// A new webhook, in place of the oldest if there are many.
    fn webhook(&self) -> String {
        let list = self.send(get("/v1/webhooks")).ok(200);
        let webhooks = list["data"].as_array().unwrap();
        if webhooks.len() > 7 {
            let oldest = webhooks[0]["idWebhook"].as_str().unwrap();
            self.send(RawRequest::new("DELETE", &format!("/v1/webhook/{oldest}"))).ok(200);
        }
        self.post("/v1/webhooks", &json!({"url": HOOK}), "idWebhook")
    }

    /// The cards that an order brought.
    fn issued(&self, order: &str) -> Vec<Value> {
        let result = self.send(get(&format!("/v1/order/result/{order}"))).ok(200);
        result["data"].as_array().unwrap().clone()
    }

    /// The identifier of the unassigned card with this number.
    fn unassigned_card(&self, number: &Value) -> Value {
        let list = self.send(get("/v1/cards/available?per_page=500")).ok(200);
        let cards = list["data"].as_array().unwrap();
        let card = cards.iter().find(|card| text(&card["customIdCard"]) == text(number)).unwrap();
        card["idCard"].clone()
    }
}
