//! A bank that cannot do everything, as partners and operators see it.

use std::time::{Duration, Instant};

use kopeck_client::{CardClosing, CardLimit, ClosingReason, ErrorCode, LimitPeriod, VirtualItem, Wait};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::process::Installation;

const SECRET: &str = "correct-horse-battery";

/// How long a busy machine may take.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn what_the_bank_cannot_do_is_refused_at_once() {
    let (bank_at, service_at) = (Installation::new(), Installation::new());
    let partner = service_at.create_partner(&["--deposit", "1000.00"]);
    let folder = bank_at.path().join("bank");
    let poor = "weekly-limits,merchant-categories,withdrawals,closings,feed";
    let bank = bank_at.start_command(bank_at.command(&[
        "bank-simulator",
        "--listen",
        "127.0.0.1:0",
        "--data-dir",
        folder.to_str().unwrap(),
        "--secret",
        SECRET,
        "--without",
        poor,
        "--largest-batch",
        "7",
    ]));
    let to_bank = ["--bank-url", &bank.base_url, "--bank-secret", SECRET, "--processing-delay", "0s"];
    let running = service_at.serve(&[&to_bank[..], &["--operations-listen", "127.0.0.1:0"]].concat());
    // It asks the bank beside its start.
    let began = Instant::now();
    while !service_at.log().contains("bank capabilities") && began.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(20));
    }
    let log = service_at.log();
    assert!(log.contains("bank capabilities") && log.contains(poor), "{log}");
    let ready: Value = serde_json::from_str(&running.ask("/health/ready").1).unwrap();
    assert_eq!(ready["bank"]["largestBatch"], 7);
    assert_eq!(ready["bank"]["without"], json!(poor.split(',').collect::<Vec<_>>()));

    let client = running.client(&partner);
    let order = client.orders().virtual_cards(&[VirtualItem::new(9, 5_000)]).await.unwrap().order_id;
    let patience =
        Wait::up_to(Duration::from_secs(60)).intervals(Duration::from_millis(20), Duration::from_millis(200));
    client.orders().wait(order, patience, |_| {}).await.unwrap();
    let cards: Vec<Uuid> = client
        .cards()
        .available(None, Default::default())
        .await
        .unwrap()
        .data
        .iter()
        .map(|card| card.id_card)
        .collect();
    assert_eq!(cards.len(), 9);

    let refused = |error: kopeck_client::Error, what: &str| {
        assert_eq!((error.status(), error.code()), (Some(409), Some(&ErrorCode::NotSupported)), "{error}");
        assert!(error.to_string().contains(&format!("the bank does not support {what}")), "{error}");
    };
    let weekly = CardLimit::per(LimitPeriod::Week, 1_000);
    refused(client.limits().set(&cards, &weekly).await.unwrap_err(), "spending limits per week");
    let closings = [CardClosing::new(cards[0], ClosingReason::Leaver)];
    refused(client.closings().create(&closings).await.unwrap_err(), "closing cards");
    let monthly = CardLimit::per(LimitPeriod::Month, 1_000);
    let change = client.limits().set(&cards, &monthly).await.unwrap().set_limits_cards_id;
    client.limits().wait(change, patience, |_| {}).await.unwrap();
    assert!(client.limits().result(change).await.unwrap().iter().all(|card| card.result_limit));
}
