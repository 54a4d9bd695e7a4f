//! Closings and withdrawals: cards that are closed, and money that comes back.

mod faults;

use std::sync::Arc;

use kopeck_domain::ids::CardId;
use kopeck_domain::{Kopecks, card_number::CardNumber};
use kopeck_port_bank::sandbox::{BankFaults, Purchase, PurchaseOutcome, SandboxControl as _};
use kopeck_port_bank::{BankError, BankKey, Submission, Verdict};
use kopeck_port_store::{Access, transact};
use kopeck_service::stuck::{self, StuckError, StuckOutcome};
use kopeck_service::worker::{Worker, WorkerSettings};
use kopeck_test_support::FakeBank;
use serde_json::{Value, json};
use time::Duration;
use uuid::Uuid;

use crate::api_client::{Api, Plastic, start, text, top_ups, virtual_order};
use crate::server::TestServer;

/// The fields by which the two kinds differ.
#[derive(Clone, Copy)]
struct ReturnKind {
    list: &'static str,
    one: &'static str,
    id: &'static str,
    amount: &'static str,
    done: &'static str,
    error: &'static str,
}

const CLOSING: ReturnKind = ReturnKind {
    list: "/v1/closings",
    one: "/v1/closing",
    id: "closingId",
    amount: "amountReturned",
    done: "resultClosing",
    error: "errorClosing",
};
const WITHDRAWAL: ReturnKind = ReturnKind {
    list: "/v1/withdrawals",
    one: "/v1/withdrawal",
    id: "withdrawalId",
    amount: "amountWithdrawn",
    done: "resultWithdrawal",
    error: "errorWithdrawal",
};

impl ReturnKind {
    async fn create(self, api: &Api, items: &[Value]) -> String {
        text(&api.post(self.list, &json!({"data": items})).await.ok(202)[self.id])
    }

    async fn refuse(self, api: &Api, items: &[Value], expected: &[(&str, &str)]) {
        api.post(self.list, &json!({"data": items})).await.faulty_cards(409, expected);
    }

    async fn state(self, api: &Api, id: &str) -> String {
        text(&api.get(&format!("{}/{id}/status", self.one)).await.ok(200)["message"])
    }

    /// For each card: success, the amount returned, and the reason of a failure.
    async fn result(self, api: &Api, id: &str) -> Vec<(bool, i64, Value)> {
        let result = api.get(&format!("{}/{id}/result", self.one)).await.ok(200);
        let item = |item: &Value| {
            (
                item[self.done].as_bool().unwrap(),
                item[self.amount].as_i64().unwrap(),
                item[self.error].clone(),
            )
        };
        result["data"].as_array().unwrap().iter().map(item).collect()
    }
}

fn close(card: &str, reason: &str) -> Value {
    json!({"idCard": card, "reason": reason})
}

fn take(card: &str, amount: i64) -> Value {
    json!({"idCard": card, "amount": amount})
}

fn all_of(card: &str) -> Value {
    json!({"idCard": card})
}

/// MAIN cards with so much on each, of employees that are numbered.
async fn loaded(server: &TestServer, api: &Api, amounts: &[i64]) -> Vec<Plastic> {
    let cards = api.plastic(server, u32::try_from(amounts.len()).unwrap()).await;
    let mut top_ups = Vec::new();
    for (number, (card, amount)) in cards.iter().zip(amounts).enumerate() {
        let employee = api.employee(&format!("E-{number}")).await;
        api.link(&employee, &card.number, "MAIN").await.ok(200);
        if *amount > 0 {
            top_ups.push((card.id.as_str(), *amount));
        }
    }
    if !top_ups.is_empty() {
        api.top_up(&top_ups).await;
        server.run_jobs();
    }
    cards
}

/// An urgent closing looks again, a moment after the request that has its cards is done.
fn run_one_after_the_other(server: &TestServer) {
    for _ in 0..2 {
        server.run_jobs();
    }
}

async fn info(api: &Api, card: &str) -> Value {
    api.get(&format!("/v1/card/{card}")).await.ok(200)["data"].clone()
}

/// The types and data of the events after a number, and the number of the last.
async fn events(api: &Api, after: i64) -> (Vec<(String, Value)>, i64) {
    let page = api.get(&format!("/v1/events?after={after}&limit=500")).await.ok(200);
    let told = page["data"].as_array().unwrap().iter();
    (
        told.map(|event| (text(&event["type"]), event["data"].clone())).collect(),
        page["next"].as_i64().unwrap(),
    )
}

async fn available(api: &Api) -> i64 {
    api.get("/v1/balance").await.ok(200)["available"].as_i64().unwrap()
}

#[tokio::test]
async fn a_closed_card_gives_its_money_back_and_changes_no_more() {
    let (server, api) = start(10_000).await;
    let cards = loaded(&server, &api, &[3_000, 0]).await;
    let employee = text(&info(&api, &cards[0].id).await["idEmployee"]);
    let (_, before) = events(&api, 0).await;
    let id = CLOSING.create(&api, &[close(&cards[0].id, "LEAVER"), close(&cards[1].id, "OTHER")]).await;
    assert_eq!(CLOSING.state(&api, &id).await, "NEW");
    api.get(&format!("/v1/closing/{id}/result")).await.refused(409, "request_not_processed");
    assert_eq!(
        info(&api, &cards[0].id).await["bankStatus"],
        "OPEN",
        "only lost and stolen ones are blocked at once"
    );
    server.run_jobs();
    assert_eq!(CLOSING.state(&api, &id).await, "SUCCESS");
    assert_eq!(CLOSING.result(&api, &id).await, [(true, 3_000, Value::Null), (true, 0, Value::Null)]);
    api.expect_money(10_000, 0).await;
    let listed = api.get("/v1/closings?status=SUCCESS").await.ok(200)["data"][0].clone();
    assert_eq!((&listed["amount"], &listed["amountMoved"]), (&Value::Null, &json!(3_000)));

    let closed = info(&api, &cards[0].id).await;
    let shown = ["bankStatus", "statusCard", "balance", "idEmployee"].map(|name| closed[name].clone());
    assert_eq!(shown, [json!("CLOSED"), json!("TEMPORARILY_BLOCKED"), json!(0), json!(employee)]);
    let moved = api.get(&format!("/v1/card/{}/transactions", cards[0].id)).await.ok(200)["data"][0].clone();
    assert_eq!((&moved["type"], &moved["amount"]), (&json!("REVERSAL"), &json!(3_000)));

    let (told, _) = events(&api, before).await;
    let types: Vec<&str> = told.iter().map(|(of, _)| of.as_str()).collect();
    let expected = [
        "closing.status",
        "closing.status",
        "closing.status",
        "card.bank_status",
        "card.status",
        "balance.returned",
        "card.bank_status",
        "card.status",
        "card.transaction",
        "card.transaction",
    ];
    assert_eq!(types, expected);
    let back = json!({"amount": 3_000, "reference": null, "closingId": id, "withdrawalId": null});
    assert_eq!(told[5].1, back);
    assert_eq!(
        (&told[3].1["bankStatus"], &told[4].1["statusCard"]),
        (&json!("CLOSED"), &json!("TEMPORARILY_BLOCKED"))
    );

    // Its place is its own, but another card can be the MAIN one.
    let card = cards[0].id.as_str();
    let closed = [("card_closed", card)];
    CLOSING.refuse(&api, &[close(card, "LOST")], &closed).await;
    WITHDRAWAL.refuse(&api, &[all_of(card)], &closed).await;
    api.post("/v1/replenishment", &top_ups(&[(card, 100)])).await.faulty_cards(409, &closed);
    let limit = json!({"data": [{"idCard": card}], "limit": {"unlimited": true}});
    api.post("/v1/setlimitscards", &limit).await.faulty_cards(409, &closed);
    api.switch(&employee, card, "MAIN").await.refused(409, "card_closed");
    api.link(&employee, &cards[0].number, "ADDITIONAL").await.refused(409, "card_closed");
    let spare = api.plastic(&server, 1).await.remove(0);
    api.link(&employee, &spare.number, "MAIN").await.ok(200);
    assert_eq!(server.check(), 0);
}

#[tokio::test]
async fn a_lost_card_is_blocked_with_the_response_and_closed_at_once() {
    let (server, api) = start(10_000).await;
    let cards = loaded(&server, &api, &[500, 700]).await;
    let free = api.plastic(&server, 1).await.remove(0);
    let (_, before) = events(&api, 0).await;
    let items = [close(&cards[0].id, "LOST"), close(&cards[1].id, "DAMAGED"), close(&free.id, "STOLEN")];
    let id = CLOSING.create(&api, &items).await;
    let statuses = async || {
        let mut statuses = Vec::new();
        for card in [&cards[0].id, &cards[1].id, &free.id] {
            statuses.push(text(&info(&api, card).await["bankStatus"]));
        }
        statuses
    };
    assert_eq!(statuses().await, ["BLOCKING", "OPEN", "BLOCKING"]);
    assert_eq!(info(&api, &cards[0].id).await["statusCard"], "TEMPORARILY_BLOCKED");
    let (told, _) = events(&api, before).await;
    let types: Vec<&str> = told.iter().map(|(of, _)| of.as_str()).collect();
    assert_eq!(types, ["closing.status", "card.status", "card.bank_status"]);
    server.work_now();
    assert_eq!(CLOSING.state(&api, &id).await, "SUCCESS", "there is no processing delay");
    assert_eq!(statuses().await, ["CLOSED"; 3]);
    api.expect_money(10_000, 0).await;
}

/// Once the card is closed, it can be unlinked, and the employee erased.
#[tokio::test]
async fn a_closed_card_is_unlinked_and_its_employee_erased() {
    let (server, api) = start(10_000).await;
    let cards = loaded(&server, &api, &[3_000]).await;
    let card = cards[0].id.as_str();
    let employee = text(&info(&api, card).await["idEmployee"]);
    let (person, unlink) =
        (format!("/v1/employee/{employee}"), format!("/v1/employee/{employee}/card/{card}"));
    let id = CLOSING.create(&api, &[close(card, "LEAVER")]).await;
    api.delete(&unlink).await.refused(409, "card_in_use");
    api.delete(&person).await.refused(409, "employee_has_cards");
    server.run_jobs();
    assert_eq!(CLOSING.result(&api, &id).await, [(true, 3_000, Value::Null)]);
    api.delete(&unlink).await.ok(200);
    api.delete(&person).await.ok(200);
    api.get(&person).await.refused(404, "employee_not_found");
    let shown = info(&api, card).await;
    let shown = ["bankStatus", "statusCard", "idEmployee"].map(|name| shown[name].clone());
    assert_eq!(shown, [json!("CLOSED"), Value::Null, Value::Null]);
    assert_eq!(api.free().await.len(), 0, "a closed card cannot be linked again");
    let other = api.employee("E-9").await;
    api.link(&other, &cards[0].number, "MAIN").await.refused(409, "card_closed");
    api.expect_money(10_000, 0).await;
    assert_eq!(server.check(), 0);
}

/// A virtual card that was never activated: it is emptied, closed and unlinked.
#[tokio::test]
async fn an_unused_virtual_card_gives_its_first_money_back() {
    let (server, api) = start(10_000).await;
    api.post("/v1/order/virtualcards", &virtual_order(1, 5_000)).await.ok(202);
    server.run_jobs();
    let card = api.free().await.remove(0);
    let employee = api.employee("E-1").await;
    api.link(&employee, &card.number, "MAIN").await.ok(200);
    let unlink = format!("/v1/employee/{employee}/card/{}", card.id);
    api.delete(&unlink).await.refused(409, "card_in_use");
    let id = WITHDRAWAL.create(&api, &[all_of(&card.id)]).await;
    server.run_jobs();
    assert_eq!(WITHDRAWAL.result(&api, &id).await, [(true, 5_000, Value::Null)]);
    api.expect_money(10_000, 0).await;
    let id = CLOSING.create(&api, &[close(&card.id, "OTHER")]).await;
    server.run_jobs();
    assert_eq!(CLOSING.result(&api, &id).await, [(true, 0, Value::Null)]);
    api.delete(&unlink).await.ok(200);
    assert_eq!(info(&api, &card.id).await["idEmployee"], Value::Null);
    api.expect_money(10_000, 0).await;
    assert_eq!(server.check(), 0);
}

/// The block stays, and the partner lifts it.
#[tokio::test]
async fn a_cancelled_closing_unblocks_nothing() {
    let (server, api) = start(10_000).await;
    let cards = loaded(&server, &api, &[500, 700]).await;
    let id = CLOSING.create(&api, &[close(&cards[0].id, "LOST"), close(&cards[1].id, "OTHER")]).await;
    let path = format!("/v1/closing/{id}");
    for _ in 0..2 {
        let cancelled = api.delete(&path).await.ok(200);
        assert_eq!((&cancelled["message"], &cancelled["closingId"]), (&json!("REJECTED"), &json!(id)));
    }
    api.get(&format!("{path}/result")).await.refused(409, "request_cancelled");
    let card = info(&api, &cards[0].id).await;
    assert_eq!(
        (&card["statusCard"], &card["bankStatus"]),
        (&json!("TEMPORARILY_BLOCKED"), &json!("BLOCKING"))
    );
    server.run_jobs();
    assert_eq!(info(&api, &cards[1].id).await["bankStatus"], "OPEN");
    api.switch(&text(&card["idEmployee"]), &cards[0].id, "MAIN").await.ok(200);
    // The cards are free for other requests again.
    WITHDRAWAL.create(&api, &[all_of(&cards[0].id), all_of(&cards[1].id)]).await;
    server.run_jobs();
    api.expect_money(10_000, 0).await;
}

#[tokio::test]
async fn money_is_taken_back_card_by_card() {
    let (server, api) = start(10_000).await;
    let cards = loaded(&server, &api, &[1_000, 1_000, 1_000, 0, 1_000]).await;
    api.expect_money(6_000, 0).await;
    let [a, b, c, empty, refused] = [0, 1, 2, 3, 4].map(|at| cards[at].id.as_str());
    let items = [take(a, 300), all_of(b), take(c, 1_001), all_of(empty), take(refused, 113)];
    let id = WITHDRAWAL.create(&api, &items).await;
    server.run_jobs();
    assert_eq!(WITHDRAWAL.state(&api, &id).await, "PART_SUCCESS");
    let (short, bank) = (json!("not enough money on the card"), json!("refused by the bank"));
    let expected = [
        (true, 300, Value::Null),
        (true, 1_000, Value::Null),
        (false, 0, short.clone()),
        (false, 0, short),
        (false, 0, bank),
    ];
    assert_eq!(WITHDRAWAL.result(&api, &id).await, expected);
    api.expect_money(7_300, 0).await;
    assert_eq!(info(&api, a).await["balance"], 700);
    let listed = api.get("/v1/withdrawals").await.ok(200)["data"][0].clone();
    assert_eq!((&listed["amount"], &listed["amountMoved"]), (&Value::Null, &json!(1_300)));

    let id = WITHDRAWAL.create(&api, &[take(a, 200), take(c, 400)]).await;
    server.run_jobs();
    assert_eq!(WITHDRAWAL.state(&api, &id).await, "SUCCESS");
    let listed = api.get("/v1/withdrawals").await.ok(200)["data"][0].clone();
    assert_eq!((&listed["amount"], &listed["amountMoved"]), (&json!(600), &json!(600)));
    api.expect_money(7_900, 0).await;
    assert_eq!(server.check(), 0);
}

/// A card that cannot pay still returns its money to the partner.
#[tokio::test]
async fn a_card_that_cannot_pay_gives_its_money_back_and_can_be_closed() {
    let (server, api) = start(50_000).await;
    let cards = loaded(&server, &api, &[1_000, 1_000, 1_000]).await;
    let virtual_order = json!({"data": [{"typeCard": "MLZ", "numberCards": 1, "amount": 5_000}]});
    api.post("/v1/order/virtualcards", &virtual_order).await.ok(202);
    server.run_jobs();
    let asleep = api.get("/v1/cards/available").await.ok(200)["data"][0]["idCard"].clone();
    let (frozen, blocked, expired) = (&cards[0], &cards[1], &cards[2]);
    let employee = text(&info(&api, &frozen.id).await["idEmployee"]);
    api.switch(&employee, &frozen.id, "TEMPORARILY_BLOCKED").await.ok(200);
    server.send_blocks();
    api.sandbox(&blocked.id, "block").await;
    api.sandbox(&expired.id, "expire").await;
    let ids = [frozen.id.clone(), blocked.id.clone(), expired.id.clone(), text(&asleep)];
    let parts: Vec<Value> = ids.iter().map(|card| take(card, 400)).collect();
    let withdrawal = WITHDRAWAL.create(&api, &parts).await;
    server.run_jobs();
    assert_eq!(WITHDRAWAL.state(&api, &withdrawal).await, "SUCCESS");
    let rest: Vec<Value> = ids.iter().map(|card| close(card, "OTHER")).collect();
    let closing = CLOSING.create(&api, &rest).await;
    server.run_jobs();
    let amounts: Vec<i64> = CLOSING.result(&api, &closing).await.iter().map(|item| item.1).collect();
    assert_eq!(amounts, [600, 600, 600, 4_600]);
    api.expect_money(50_000, 0).await;
}

#[tokio::test]
async fn requests_that_move_money_exclude_each_other() {
    let (server, api) = start(10_000).await;
    let cards = loaded(&server, &api, &[1_000]).await;
    let card = cards[0].id.as_str();
    let busy = [("card_in_request", card)];
    let open: [(&str, Value); 3] = [
        ("/v1/replenishment", top_ups(&[(card, 100)])),
        ("/v1/withdrawals", json!({"data": [take(card, 100)]})),
        ("/v1/closings", json!({"data": [close(card, "OTHER")]})),
    ];
    let limit = json!({"data": [{"idCard": card}], "limit": {"unlimited": true}});
    for (at, (path, body)) in open.iter().enumerate() {
        let created = api.post(path, body).await.ok(202);
        for (other, body) in &open {
            api.post(other, body).await.faulty_cards(409, &busy);
        }
        api.post("/v1/setlimitscards", &limit).await.ok(202);
        let (cancel, id) = [
            ("/v1/replenishment", "replenishmentId"),
            ("/v1/withdrawal", "withdrawalId"),
            ("/v1/closing", "closingId"),
        ][at];
        api.delete(&format!("{cancel}/{}", text(&created[id]))).await.ok(200);
        server.run_jobs();
    }
    api.expect_money(9_000, 0).await;
}

/// The stolen card is blocked at once, and closed as soon as the other request is finished; its money is returned.
#[tokio::test]
async fn a_stolen_card_is_closed_after_the_request_that_has_it() {
    let (server, api) = start(10_000).await;
    let cards = loaded(&server, &api, &[1_000]).await;
    let card = cards[0].id.as_str();
    // The other request is at the bank, whose response is lost: the closing waits.
    server.bank.inject_faults(BankFaults { lose_answer_rate: 1.0, ..BankFaults::default() }).unwrap();
    let top_up = api.top_up(&[(card, 250)]).await;
    server.run_jobs();
    let id = CLOSING.create(&api, &[close(card, "STOLEN")]).await;
    assert_eq!(info(&api, card).await["bankStatus"], "BLOCKING");
    api.delete(&format!("/v1/closing/{id}")).await.refused(409, "request_not_cancellable");
    let busy = [("card_in_request", card)];
    CLOSING.refuse(&api, &[close(card, "LOST")], &busy).await;
    WITHDRAWAL.refuse(&api, &[all_of(card)], &busy).await;

    server.work_now();
    assert_eq!(
        (api.top_up_state(&top_up).await, CLOSING.state(&api, &id).await),
        ("IN_PROCESS".into(), "NEW".into())
    );
    server.bank.inject_faults(BankFaults::default()).unwrap();
    run_one_after_the_other(&server);
    assert_eq!(
        (api.top_up_state(&top_up).await, CLOSING.state(&api, &id).await),
        ("SUCCESS".into(), "SUCCESS".into())
    );
    assert_eq!(CLOSING.result(&api, &id).await, [(true, 1_250, Value::Null)]);
    api.expect_money(10_000, 0).await;
    assert_eq!(server.check(), 0);
}

/// The second closing finds the card closed.
#[tokio::test]
async fn a_card_that_is_closed_meanwhile_is_refused_alone() {
    let (server, api) = start(10_000).await;
    let cards = loaded(&server, &api, &[1_000, 200]).await;
    let first = CLOSING.create(&api, &[close(&cards[0].id, "DAMAGED")]).await;
    let second = CLOSING.create(&api, &[close(&cards[0].id, "LOST"), close(&cards[1].id, "STOLEN")]).await;
    run_one_after_the_other(&server);
    assert_eq!(CLOSING.result(&api, &first).await, [(true, 1_000, Value::Null)]);
    assert_eq!(CLOSING.state(&api, &second).await, "PART_SUCCESS");
    let closed = json!("the card is closed already");
    assert_eq!(CLOSING.result(&api, &second).await, [(false, 0, closed), (true, 200, Value::Null)]);
    api.expect_money(10_000, 0).await;
}

#[tokio::test]
async fn the_bank_refuses_what_ends_in_thirteen_kopecks() {
    let (server, api) = start(10_000).await;
    let cards = loaded(&server, &api, &[1_000]).await;
    let number = CardNumber::parse(&cards[0].number).unwrap();
    let buy = |amount| Purchase {
        amount: Kopecks::new(amount),
        place: None,
        mcc: None,
        merchant_id: None,
        at: None,
        key: None,
    };
    assert!(matches!(server.bank.purchase(number, &buy(87)), Ok(PurchaseOutcome::Approved(_))));
    let id = CLOSING.create(&api, &[close(&cards[0].id, "OTHER")]).await;
    server.run_jobs();
    assert_eq!(CLOSING.state(&api, &id).await, "DECLINE");
    assert_eq!(CLOSING.result(&api, &id).await, [(false, 0, json!("refused by the bank"))]);
    assert_eq!(info(&api, &cards[0].id).await["bankStatus"], "OPEN");
    // A purchase that comes before the withdrawal of all: the bank says what was left.
    assert!(matches!(server.bank.purchase(number, &buy(13)), Ok(PurchaseOutcome::Approved(_))));
    let id = WITHDRAWAL.create(&api, &[all_of(&cards[0].id)]).await;
    assert!(matches!(server.bank.purchase(number, &buy(400)), Ok(PurchaseOutcome::Approved(_))));
    server.run_jobs();
    assert_eq!(WITHDRAWAL.result(&api, &id).await, [(true, 500, Value::Null)]);
    api.expect_money(9_500, 0).await;
}

#[tokio::test]
async fn faulty_requests_are_refused_as_a_whole() {
    let (server, api) = start(10_000).await;
    let card = api.plastic(&server, 1).await.remove(0).id;
    let unknown_id = crate::api_client::UNKNOWN_ID;
    for (kind, good) in [(CLOSING, close(&card, "LOST")), (WITHDRAWAL, take(&card, 1))] {
        let unknown = if kind.id == "closingId" { close(unknown_id, "LOST") } else { take(unknown_id, 1) };
        api.post(kind.list, &json!({"data": [unknown, good]}))
            .await
            .faulty_cards(404, &[("card_not_found", unknown_id)]);
        api.post(kind.list, &json!({"data": [good, good]})).await.faulty(&["data[1].idCard"]);
        api.post(kind.list, &json!({"data": []})).await.faulty(&["data"]);
        for what in ["status", "result"] {
            api.get(&format!("{}/{unknown_id}/{what}", kind.one)).await.refused(404, "request_not_found");
        }
        api.delete(&format!("{}/{unknown_id}", kind.one)).await.refused(404, "request_not_found");
    }
    for reason in [json!("TIRED"), json!("lost"), Value::Null] {
        api.post("/v1/closings", &json!({"data": [{"idCard": card, "reason": reason}]}))
            .await
            .faulty(&["data[0].reason"]);
    }
    for amount in [0, -1, 100_000_001] {
        api.post("/v1/withdrawals", &json!({"data": [take(&card, amount)]}))
            .await
            .faulty(&["data[0].amount"]);
    }
    assert_eq!(info(&api, &card).await["bankStatus"], "OPEN", "what was refused blocks nothing");
}
