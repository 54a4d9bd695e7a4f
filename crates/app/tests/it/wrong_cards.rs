//! A bank that issues other cards than were ordered: none of them becomes a card, the money stays held, and the order
//! waits for a person.

use std::sync::Arc;

use kopeck_domain::Kopecks;
use kopeck_domain::card::CardType;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::partner::SealingPolicy;
use kopeck_port_bank::IssuedCard;
use kopeck_port_store::{Access, transact};
use kopeck_service::stuck::{self, StuckError, StuckOutcome};
use kopeck_service::worker::{Worker, WorkerSettings};
use kopeck_test_support::FakeBank;
use time::Duration;
use uuid::Uuid;

use crate::api_client::{Api, plastic_order, start, text, virtual_order};
use crate::server::TestServer;

/// Changes the last card of a page.
fn with_last(mut cards: Vec<IssuedCard>, change: impl FnOnce(&mut IssuedCard)) -> Vec<IssuedCard> {
    cards.last_mut().map(change);
    cards
}

/// Falsifies a page of issued cards; the number counts the cards of earlier pages.
type Lie = fn(u32, Vec<IssuedCard>) -> Vec<IssuedCard>;

/// Runs a worker several times at a bank that lies about the cards that it issued. It fetches two cards at a time.
fn work(server: &TestServer, lie: Lie) {
    let gateway =
        Arc::new(FakeBank::over(Arc::clone(&server.bank) as _).on_issued_cards(
            move |bank, key, skip, limit| Ok(lie(skip, bank.issued_cards(key, skip, limit)?)),
        ));
    let settings = WorkerSettings { chunk: 2, ..WorkerSettings::default() };
    let worker =
        Worker::new(server.application.store(), gateway, Arc::clone(&server.application.env), settings);
    for _ in 0..3 {
        server.clock.advance(Duration::seconds(10));
        while worker.run_once(&|| false).unwrap() > 0 {}
    }
}

fn stuck_orders(server: &TestServer) -> Vec<String> {
    let stuck = transact(&*server.application.store, Access::Read, stuck::list).unwrap();
    stuck.iter().map(|request| request.instructions[0].key.as_str().to_owned()).collect()
}

fn refuse(server: &TestServer, order: &str) -> Result<usize, StuckError> {
    let (env, order) = (Arc::clone(&server.application.env), Uuid::parse_str(order).unwrap());
    transact(&*server.application.store, Access::Write, move |unit| {
        stuck::settle(unit, &env, order, StuckOutcome::Refused, None)
    })
}

async fn order(api: &Api, cards: u32) -> String {
    text(&api.post("/v1/order/virtualcards", &virtual_order(cards, 5_000)).await.ok(202)["orderId"])
}

#[tokio::test]
async fn cards_that_were_not_ordered_are_left_to_a_person() {
    let lies: [Lie; 5] = [
        |_, cards| with_last(cards, |card| card.kind = CardType::Mp4),
        |_, cards| with_last(cards, |card| card.number = CardNumber::ean13(460_000_000_000).unwrap()),
        |_, cards| with_last(cards, |card| card.first_top_up = Some(Kopecks::new(5_001))),
        |_, cards| with_last(cards, |card| card.first_top_up = None),
        // One number twice.
        |_, mut cards| {
            cards[1].number = cards[0].number;
            cards
        },
    ];
    for (place, lie) in lies.into_iter().enumerate() {
        let (server, api) = start(100_000).await;
        let id = order(&api, 2).await;
        work(&server, lie);
        assert_eq!(api.order_state(&id).await, "IN_PROCESS", "lie {place}");
        api.get(&format!("/v1/order/result/{id}")).await.refused(404, "order_not_processed");
        assert!(api.free().await.is_empty(), "lie {place}");
        api.expect_money(100_000, 10_000).await;
        assert_eq!(stuck_orders(&server), [format!("order/{id}")], "lie {place}");
        assert_eq!(server.check(), 1);

        // A bank that mends its response ends it without a person; else a person does.
        if place == 0 {
            work(&server, |_, cards| cards);
            assert_eq!(api.order_state(&id).await, "SUCCESS");
            assert_eq!(api.free().await.len(), 2);
            api.expect_money(90_000, 0).await;
        } else {
            assert_eq!(refuse(&server, &id), Ok(1));
            assert_eq!(api.order_state(&id).await, "DECLINE");
            api.expect_money(100_000, 0).await;
        }
        assert!(stuck_orders(&server).is_empty());
        assert_eq!(server.check(), 0);
    }
}

/// The first two of three cards are good, and stay; the bank has issued something, so a person cannot call it refused.
#[tokio::test]
async fn an_order_with_good_cards_waits_for_the_rest() {
    let lies: [Lie; 2] = [
        |skip, cards| if skip < 2 { cards } else { Vec::new() },
        |skip, cards| if skip < 2 { cards } else { with_last(cards, |card| card.kind = CardType::Kkl) },
    ];
    for lie in lies {
        let (server, api) = start(100_000).await;
        let id = order(&api, 3).await;
        work(&server, lie);
        assert_eq!(api.order_state(&id).await, "IN_PROCESS");
        api.expect_money(100_000, 15_000).await;
        assert_eq!(stuck_orders(&server), [format!("order/{id}")]);
        assert_eq!(refuse(&server, &id), Err(StuckError::OrderHasCards));
        assert_eq!(server.check(), 1);
        work(&server, |_, cards| cards);
        assert_eq!(api.order_state(&id).await, "SUCCESS");
        api.expect_money(85_000, 0).await;
        assert!(stuck_orders(&server).is_empty());
    }
}

/// Plastic cards hold nothing from the start.
#[tokio::test]
async fn a_plastic_card_with_money_was_not_ordered() {
    let (server, api) = start(0).await;
    let id = text(&api.post("/v1/order/plasticcards", &plastic_order(1, "Tula")).await.ok(202)["orderId"]);
    work(&server, |_, cards| with_last(cards, |card| card.first_top_up = Some(Kopecks::new(5_000))));
    assert_eq!(api.order_state(&id).await, "IN_PROCESS");
    assert_eq!(stuck_orders(&server), [format!("order/{id}")]);
    assert_eq!(refuse(&server, &id), Ok(1));
    assert_eq!(api.order_state(&id).await, "DECLINE");
}

/// The bank knows a card by its number alone, so no partner may get another's.
#[tokio::test]
async fn the_number_of_another_partners_card_is_left_to_a_person() {
    const TAKEN: u64 = 1_234_567_890;
    fn take(_: u32, cards: Vec<IssuedCard>) -> Vec<IssuedCard> {
        with_last(cards, |card| card.number = CardNumber::from_u64(TAKEN).unwrap())
    }
    let (server, api) = start(100_000).await;
    let other = Api::login(&server, &server.partner(SealingPolicy::Optional, 100_000)).await;
    let theirs = order(&other, 1).await;
    work(&server, take);
    assert_eq!(other.order_state(&theirs).await, "SUCCESS");

    let mine = order(&api, 2).await;
    work(&server, take);
    assert_eq!(api.order_state(&mine).await, "IN_PROCESS");
    assert!(api.free().await.is_empty(), "nor the card beside it");
    api.expect_money(100_000, 10_000).await;
    assert_eq!(stuck_orders(&server), [format!("order/{mine}")]);
    assert_eq!(other.free().await.len(), 1);
    assert_eq!(server.check(), 1);
    assert_eq!(refuse(&server, &mine), Ok(1));
    api.expect_money(100_000, 0).await;
}
