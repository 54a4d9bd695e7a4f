//! The daily refresh of the cards' accounts, through the client, which logs in again when its token expires.

use kopeck_client::{Client, Paging, VirtualItem};
use kopeck_port_bank::sandbox::{BankFaults, SandboxControl as _};
use time::macros::{date, datetime};
use time::{Duration, PrimitiveDateTime};

use crate::api_client::start_client;
use crate::server::TestServer;

/// When the accounts of the partner's unassigned cards were refreshed, and with what.
async fn accounts(client: &Client) -> Vec<(PrimitiveDateTime, i64)> {
    let mut accounts = Vec::new();
    for card in client.cards().available(None, Paging::default()).await.unwrap().data {
        let account = client.cards().balance(card.id_card).await.unwrap().balance_account;
        accounts.push((account.updated_at, account.value));
    }
    accounts
}

/// A server with `count` unassigned virtual cards with 50 roubles each.
async fn with_cards(count: u32) -> (TestServer, Client) {
    let (server, client) = start_client(100_000);
    client.orders().virtual_cards(&[VirtualItem::new(count, 5_000)]).await.unwrap();
    server.run_jobs();
    (server, client)
}

/// Once a calendar day of the service's zone, and once however many days the clock jumps.
#[tokio::test]
async fn accounts_are_refreshed_once_a_day() {
    let (server, client) = with_cards(1).await;
    let issued = vec![(datetime!(2026-03-02 12:00), 5_000)];
    assert_eq!(accounts(&client).await, issued);
    let number =
        client.cards().available(None, Paging::default()).await.unwrap().data[0].custom_id_card.clone();
    let number = kopeck_domain::card_number::CardNumber::parse(&number).unwrap();
    server.bank.activate(number, None).unwrap();
    let purchase = kopeck_port_bank::sandbox::Purchase::new(kopeck_domain::Kopecks::new(1_000));
    server.bank.purchase(number, &purchase).unwrap();
    server.refresh_accounts();
    assert_eq!(accounts(&client).await, issued, "it is the same day");
    server.clock.advance(Duration::hours(12) - Duration::seconds(3));
    assert_eq!(accounts(&client).await, issued, "the bank was not queried yet");
    server.refresh_accounts();
    assert_eq!(accounts(&client).await, [(datetime!(2026-03-03 00:00), 4_000)]);
    server.clock.advance(Duration::days(5) + Duration::HOUR);
    server.refresh_accounts();
    server.refresh_accounts();
    assert_eq!(accounts(&client).await, [(datetime!(2026-03-08 01:00), 4_000)]);
}

/// A bank that is away makes no difference but the delay.
#[tokio::test]
async fn accounts_without_a_bank_response_are_refreshed_later() {
    let (server, client) = with_cards(10).await;
    server.clock.advance(Duration::DAY);
    let down = BankFaults { down: true, ..BankFaults::default() };
    let shaky = BankFaults { error_rate: 0.7, ..BankFaults::default() };
    for behaviour in [down, shaky, BankFaults::default()] {
        server.bank.inject_faults(behaviour).unwrap();
        for _ in 0..3 {
            server.clock.advance(Duration::seconds(10));
            server.refresh_accounts();
        }
    }
    let refreshed = accounts(&client).await;
    assert_eq!(refreshed.len(), 10);
    assert!(refreshed.iter().all(|(on, _)| on.date() == date!(2026 - 03 - 03)), "{refreshed:?}");
}
