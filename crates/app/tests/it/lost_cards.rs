//! A card of an open closing as lost or stolen stays blocked until the bank's verdict.

use kopeck_port_bank::sandbox::{BankFaults, SandboxControl as _};
use serde_json::{Value, json};

use crate::api_client::{Api, start, text, virtual_order};
use crate::server::TestServer;

const STATUSES: [&str; 3] = ["MAIN", "ADDITIONAL", "TEMPORARILY_BLOCKED"];

async fn close(api: &Api, cards: &[(&str, &str)]) -> String {
    let item = |(card, reason): &(&str, &str)| json!({"idCard": card, "reason": reason});
    let body = json!({"data": cards.iter().map(item).collect::<Vec<_>>()});
    text(&api.post("/v1/closings", &body).await.ok(202)["closingId"])
}

async fn info(api: &Api, card: &str) -> Value {
    api.get(&format!("/v1/card/{card}")).await.ok(200)["data"].clone()
}

fn set_bank_down(server: &TestServer, down: bool) {
    server.bank.inject_faults(BankFaults { down, ..BankFaults::default() }).unwrap();
}

/// It keeps its block, and the status that it has is taken.
async fn expect_frozen(api: &Api, employee: &str, card: &str) {
    for status in ["MAIN", "ADDITIONAL"] {
        api.switch(employee, card, status).await.refused(409, "card_in_request");
    }
    api.switch(employee, card, "TEMPORARILY_BLOCKED").await.ok(200);
    let can_pay = api.post(&format!("/v1/card/{card}/can-pay"), &json!({"amount": 1})).await.ok(200);
    assert_eq!(can_pay["code"], "card_blocked");
}

#[tokio::test]
async fn a_lost_card_cannot_be_opened_again_before_the_verdict() {
    let (server, api) = start(100_000).await;
    let card = api.main_cards(&server, 1).await.remove(0);
    let employee = text(&info(&api, &card).await["idEmployee"]);
    set_bank_down(&server, true);
    let closing = close(&api, &[(&card, "LOST")]).await;
    expect_frozen(&api, &employee, &card).await;
    server.run_jobs();
    assert_eq!(api.get(&format!("/v1/closing/{closing}/status")).await.ok(200)["message"], "IN_PROCESS");
    expect_frozen(&api, &employee, &card).await;
    set_bank_down(&server, false);
    server.run_jobs();
    api.switch(&employee, &card, "MAIN").await.refused(409, "card_closed");
    api.delete(&format!("/v1/employee/{employee}/card/{card}")).await.ok(200);
}

/// Neither a link nor an unlink lifts the block of an unassigned card, or of one that was never activated and is empty.
#[tokio::test]
async fn a_stolen_card_is_neither_linked_nor_unlinked() {
    let (server, api) = start(100_000).await;
    let cards = api.plastic(&server, 1).await;
    api.post("/v1/order/virtualcards", &virtual_order(1, 5_000)).await.ok(202);
    server.run_jobs();
    let inactive = api.free().await.into_iter().find(|card| *card != cards[0]).unwrap();
    let employee = api.employee("E-1").await;
    api.link(&employee, &inactive.number, "MAIN").await.ok(200);
    api.post("/v1/withdrawals", &json!({"data": [{"idCard": inactive.id}]})).await.ok(202);
    server.run_jobs();
    assert_eq!(info(&api, &inactive.id).await["balance"], 0);
    set_bank_down(&server, true);
    close(&api, &[(&cards[0].id, "STOLEN"), (&inactive.id, "STOLEN")]).await;
    for status in STATUSES {
        api.link(&employee, &cards[0].number, status).await.refused(409, "card_in_request");
    }
    let link = format!("/v1/employee/{employee}/card/{}", inactive.id);
    api.delete(&link).await.refused(409, "card_in_request");
    expect_frozen(&api, &employee, &inactive.id).await;
    assert_eq!(info(&api, &cards[0].id).await["bankStatus"], "BLOCKING");
    set_bank_down(&server, false);
    server.run_jobs();
    api.link(&employee, &cards[0].number, "ADDITIONAL").await.refused(409, "card_closed");
    api.delete(&link).await.ok(200);
}

/// The reason counts per card, and a card is usable again once the closing is cancelled or the bank has refused.
#[tokio::test]
async fn only_lost_cards_are_kept_and_only_while_the_closing_is_open() {
    let (server, api) = start(100_000).await;
    let cards = api.main_cards(&server, 2).await;
    let employees =
        [text(&info(&api, &cards[0]).await["idEmployee"]), text(&info(&api, &cards[1]).await["idEmployee"])];
    // The bank refuses to close a card with a balance that ends in 13.
    for amount in [1_006, 1_007] {
        api.top_up(&[(&cards[0], amount)]).await;
        server.run_jobs();
    }
    let mixed = [(cards[0].as_str(), "LOST"), (cards[1].as_str(), "DAMAGED")];
    let closing = close(&api, &mixed).await;
    expect_frozen(&api, &employees[0], &cards[0]).await;
    for status in ["TEMPORARILY_BLOCKED", "MAIN"] {
        api.switch(&employees[1], &cards[1], status).await.ok(200);
    }
    api.delete(&format!("/v1/closing/{closing}")).await.ok(200);
    api.switch(&employees[0], &cards[0], "MAIN").await.ok(200);

    let closing = close(&api, &mixed).await;
    expect_frozen(&api, &employees[0], &cards[0]).await;
    server.run_jobs();
    let result = api.get(&format!("/v1/closing/{closing}/result")).await.ok(200);
    assert_eq!(result["data"][0]["errorClosing"], "refused by the bank");
    api.switch(&employees[0], &cards[0], "MAIN").await.ok(200);
    api.switch(&employees[1], &cards[1], "MAIN").await.refused(409, "card_closed");
}

/// Whichever comes first: after both responses the card is blocked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_switch_at_the_same_moment_does_not_open_the_card() {
    let (server, api) = start(100_000).await;
    for card in api.main_cards(&server, 12).await {
        let employee = text(&info(&api, &card).await["idEmployee"]);
        let switches = async {
            for status in ["ADDITIONAL", "MAIN", "ADDITIONAL", "MAIN"] {
                let reply = api.switch(&employee, &card, status).await;
                if reply.status != 200 {
                    reply.refused(409, "card_in_request");
                }
            }
        };
        let lost = [(card.as_str(), "LOST")];
        let (closing, ()) = tokio::join!(close(&api, &lost), switches);
        assert_eq!(info(&api, &card).await["statusCard"], "TEMPORARILY_BLOCKED", "{closing}");
        expect_frozen(&api, &employee, &card).await;
    }
    server.run_jobs();
    assert_eq!(server.check(), 0);
}
