//! The rehearsal of operators in a sandbox: a request that needs an operator. `reconcile_command` has a discrepancy.

use std::time::{Duration, Instant};

use kopeck_client::{BankBehaviour, CardStatus, Client, NewEmployee, TopUp, VirtualItem, Wait};
use uuid::Uuid;

use crate::process::Installation;

/// An activated MAIN card with 5,000 kopecks.
async fn card(client: &Client) -> Uuid {
    let order = client.orders().virtual_cards(&[VirtualItem::new(1, 5_000)]).await.unwrap().order_id;
    client.orders().wait(order, Wait::up_to(Duration::from_secs(60)), |_| {}).await.unwrap();
    let issued = client.orders().result(order).await.unwrap().data.remove(0);
    let employee = client.employees().add(&NewEmployee::new("T-1")).await.unwrap().id_employee;
    let number = &issued.custom_id_card;
    let card = client.cards().link(employee, number, &CardStatus::Main).await.unwrap().id_card;
    client.sandbox().activate(card, None).await.unwrap();
    card
}

/// Repeats a command until its output contains `part`, within a minute.
fn until(installation: &Installation, arguments: &[&str], part: &str) -> String {
    let began = Instant::now();
    loop {
        let said = String::from_utf8(installation.run(arguments).stdout).unwrap();
        if said.contains(part) {
            return said;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{said}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_waits_for_a_person_is_rehearsed() {
    let installation = Installation::embedded();
    let partner = installation.create_partner(&["--deposit", "1000.00"]);
    let running = installation.serve(&["--bank-repeat-safe", "false"]);
    let client = running.client(&partner);
    let card = card(&client).await;
    let lost = BankBehaviour { lose_request_rate: 1.0, ..BankBehaviour::default() };
    client.sandbox().bank(&lost).await.unwrap();
    let top_up = client.replenishments().create(&[TopUp::new(card, 1_000)]).await.unwrap().replenishment_id;
    let stuck = until(&installation, &["requests", "stuck"], &top_up.to_string());
    assert!(stuck.contains("10.00 held"), "{stuck}");
    client.sandbox().bank(&BankBehaviour::default()).await.unwrap();
    installation.succeed(&["requests", "settle", &top_up.to_string(), "--as", "refused"]);
    assert_eq!(client.balance().await.unwrap().available, 95_000);
}
