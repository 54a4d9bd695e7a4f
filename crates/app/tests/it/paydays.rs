//! Payday in its particulars: cards that could not pay, a ceiling, and other terms that a person approves.

use kopeck_domain::Kopecks;
use kopeck_domain::card::{BankView, Standing};
use kopeck_domain::programme::{Grant, TermsFields};
use serde_json::{Value, json};
use time::Duration;
use uuid::Uuid;

use crate::programmes::{Firm, TO_THE_FIFTH, column, monthly, path, with};

/// The service's copy of the card, changed as if the bank had said so.
fn believe(firm: &Firm, card: usize, change: fn(BankView) -> BankView) {
    let card: Uuid = firm.cards[card].parse().unwrap();
    firm.server.change_partners(move |unit, env, partner| {
        let record = unit.cards().get(partner, card.into())?.unwrap();
        let view = BankView { seen_at: env.now(), ..change(record.bank) };
        assert!(unit.cards().set_bank_view(partner, card.into(), &view, record.card.valid_until())?);
        Ok(())
    });
}

/// A fixed amount does not depend on what the bank says, but whether a card can have it does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_bank_is_asked_about_cards_that_could_not_pay() {
    let mut firm = Firm::start(10_000, 3).await;
    let programme = firm.create(monthly()).await;
    firm.api.post(&format!("/sandbox/v1/card/{}/block", firm.cards[1]), &json!({})).await.ok(200);
    firm.server.clock.advance(TO_THE_FIFTH);
    believe(&firm, 0, |view| BankView { standing: Standing::Blocked, ..view });
    believe(&firm, 2, |view| BankView { activated_at: None, ..view });
    firm.pass(Duration::SECOND).await;
    let runs = firm.runs(&programme).await;
    let items = firm.items(&runs[0]).await;
    assert_eq!(column(&items, "outcome"), ["DONE", "REFUSED", "DONE"]);
    assert_eq!(items[1]["reason"], "the card is blocked by the bank");
    assert_eq!((&runs[0]["status"], firm.balances().await), (&json!("PART_SUCCESS"), vec![1_000, 0, 1_000]));
    firm.server.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_card_gets_above_the_cap() {
    let mut firm = Firm::start(10_000, 3).await;
    let programme = firm.create(with(monthly(), json!({"amount": {"fixed": 1_000, "cap": 1_500}}))).await;
    firm.api.top_up(&[(&firm.cards[1], 700), (&firm.cards[2], 1_500)]).await;
    firm.server.run_jobs();
    firm.pass(TO_THE_FIFTH).await;
    let runs = firm.runs(&programme).await;
    let items = firm.items(&runs[0]).await;
    assert_eq!(
        (column(&items, "customId"), column(&items, "amount")),
        (vec![&json!("T-1"), &json!("T-2")], vec![&json!(1_000), &json!(800)])
    );
    // In the next month one of them has room, as has who went shopping.
    firm.buy(2, 1_400).await;
    firm.pass(Duration::days(31)).await;
    assert_eq!(firm.balances().await, [1_500, 1_500, 1_100]);
    assert_eq!(column(&firm.runs(&programme).await, "amount"), [1_500, 1_800]);
    firm.server.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_former_terms_go_on_until_others_are_approved() {
    let mut firm = Firm::start(100_000, 2).await;
    let programme = firm.create(monthly()).await;
    let id = programme["idProgramme"].as_str().unwrap();
    let double =
        |fields| TermsFields { grant: Grant::Fixed { amount: Kopecks::new(2_000), cap: None }, ..fields };
    firm.server.propose_change(firm.partner.id, id, double);
    firm.pass(TO_THE_FIFTH).await;
    assert_eq!(column(&firm.runs(&programme).await, "amount"), [2_000]);
    let shown = firm.api.get(&path(&programme, "")).await.ok(200);
    assert_eq!(
        (&shown["status"], &shown["amount"], &shown["proposed"]["amount"]),
        (&json!("WAITING_APPROVAL"), &json!({"fixed": 1_000}), &json!({"fixed": 2_000}))
    );
    // Who made the programme approves nothing of it.
    firm.api.post(&path(&programme, "/approve"), &json!({})).await.refused(403, "forbidden");
    firm.server.approve_programme(firm.partner.id, id);
    let approved = firm.api.get(&path(&programme, "")).await.ok(200);
    assert_eq!(
        (&approved["status"], &approved["amount"]["fixed"], &approved["proposed"]),
        (&json!("ACTIVE"), &json!(2_000), &Value::Null)
    );
    // The period that has its run keeps it.
    firm.due();
    assert_eq!(firm.balances().await, [1_000; 2]);
    firm.pass(Duration::days(31)).await;
    assert_eq!(column(&firm.runs(&programme).await, "amount"), [4_000, 2_000]);
    assert_eq!(firm.balances().await, [3_000; 2]);
    firm.server.check();
}
