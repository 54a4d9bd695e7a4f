//! `kopeck reconcile`, the comparison that runs daily, and a backup that is put back while the bank is ahead.

use std::path::Path;
use std::time::{Duration, Instant};

use kopeck::compose::SystemAdapters;
use kopeck_client::{BankBehaviour, CardStatus, Client, NewEmployee, Purchase, TopUp, Wait};
use kopeck_domain::calendar::{Zone, date_text};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::api_client::plastic_item;
use crate::process::{Installation, Running};

const PATIENCE: Duration = Duration::from_secs(60);
const ZONE: &str = "+03:00";

fn wait() -> Wait {
    Wait::up_to(PATIENCE)
}

/// Yesterday and tomorrow, as the command takes them: a test may run over midnight.
fn days() -> [String; 2] {
    let today = Zone::parse(ZONE).unwrap().day(SystemAdapters::real().clock.now());
    [today.previous_day().unwrap(), today.next_day().unwrap()].map(date_text)
}

fn serve(installation: &Installation, extra: &[&str]) -> Running {
    installation.serve(&[&["--processing-delay", "0s"], extra].concat())
}

/// The exit code, and what is shown.
fn shown(installation: &Installation) -> (Option<i32>, Value) {
    let [from, to] = days();
    let output = installation.run(&["reconcile", "--from", &from, "--to", &to, "--json"]);
    let shown = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    (output.status.code(), shown)
}

/// The exit code, and the differences by name and bank key.
fn reconcile(installation: &Installation) -> (Option<i32>, Vec<(String, Option<String>)>) {
    let (code, shown) = shown(installation);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let differences = shown["differences"].as_array().unwrap().iter();
    let differences = differences.map(|one| (text(&one["difference"]).unwrap(), text(&one["bankKey"])));
    (code, differences.collect())
}

/// Waits until the service knows what the bank knows.
fn agree(installation: &Installation) {
    let until = Instant::now() + PATIENCE;
    loop {
        let (code, shown) = shown(installation);
        if code == Some(0) && shown["unread"] == json!([]) {
            assert_eq!(shown["differences"], json!([]));
            return;
        }
        assert!(Instant::now() < until, "{shown}");
    }
}

/// Two MAIN cards.
async fn two_cards(client: &Client) -> Vec<Uuid> {
    let order = client.orders().plastic(&[plastic_item(2)]).await.unwrap().order_id;
    client.orders().wait(order, wait(), |_| {}).await.unwrap();
    let mut cards = Vec::new();
    for issued in client.orders().result(order).await.unwrap().data {
        let employee =
            client.employees().add(&NewEmployee::new(issued.custom_id_card.as_str())).await.unwrap();
        let linked = client
            .cards()
            .link(employee.id_employee, &issued.custom_id_card, &CardStatus::Main)
            .await
            .unwrap();
        cards.push(linked.id_card);
    }
    cards
}

/// Tops both cards up and pays with one; returns the request.
async fn a_days_work(client: &Client, cards: &[Uuid]) -> Uuid {
    let top_ups: Vec<TopUp> = cards.iter().map(|card| TopUp::new(*card, 5_000)).collect();
    let request = client.replenishments().create(&top_ups).await.unwrap().replenishment_id;
    client.replenishments().wait(request, wait(), |_| {}).await.unwrap();
    assert!(client.sandbox().purchase(cards[0], &Purchase::new(300)).await.unwrap().approved);
    request
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_exits_by_what_it_finds() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--deposit", "10000.00"]);
    let running = serve(&installation, &[]);
    let client = running.client(&partner);
    let cards = two_cards(&client).await;
    a_days_work(&client, &cards).await;
    agree(&installation);
    let [from, to] = days();
    let command = ["reconcile", "--from", &*from, "--to", &*to];
    assert_eq!(installation.succeed(&command), "no differences\n");

    installation.tamper("UPDATE transactions SET amount = amount + 1 WHERE kind = 'PAYMENT'");
    let output = installation.run(&command);
    assert_eq!(output.status.code(), Some(1));
    let shown = String::from_utf8(output.stdout).unwrap();
    for part in ["-3.01", "-3.00", "another amount", "differences: 1"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let listed = installation.succeed(&["audit", "list", "--action", "bank.reconcile"]);
    assert!(listed.contains(&format!("from:{from} to:{to} differences:1")), "{listed}");

    for wrong in [
        &["reconcile", "--from", &*to, "--to", &*from][..],
        &["reconcile", "--from", &*from, "--to", &*to, "--database-url", "sqlite:///nowhere/kopeck.sqlite"],
        // No bank is there.
        &[&command[..], &["--bank-url", "http://127.0.0.1:9", "--bank-secret", "s"]].concat(),
        &["reconcile", "--from", "2026-03-02", "--to", &*to],
    ] {
        let output = installation.run(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{wrong:?}");
    }
    assert!(running.stop("TERM").1);
}

/// A bank that leaves a payment out of its feed, and tells the one after it: the next payment of that card ends the
/// difference.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_difference_is_rehearsed_with_a_feed_that_leaves_a_payment_out() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--deposit", "10000.00"]);
    let running = serve(&installation, &[]);
    let client = running.client(&partner);
    let cards = two_cards(&client).await;
    a_days_work(&client, &cards).await;
    agree(&installation);
    let pay = async |card: usize| {
        assert!(client.sandbox().purchase(cards[card], &Purchase::new(100)).await.unwrap().approved);
    };
    let silent = BankBehaviour { silent_feed: true, ..BankBehaviour::default() };
    client.sandbox().bank(&silent).await.unwrap();
    pay(0).await;
    client.sandbox().bank(&BankBehaviour::default()).await.unwrap();
    pay(1).await;
    let until = Instant::now() + PATIENCE;
    while reconcile(&installation) != (Some(1), vec![("missing_here".to_owned(), None)]) {
        assert!(Instant::now() < until, "{:?}", reconcile(&installation));
    }
    pay(0).await;
    agree(&installation);
    assert!(running.stop("TERM").1);
}

/// The day before is compared once, and once it differs, metric, log and audit log say so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_day_is_compared_by_itself() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--deposit", "10000.00"]);
    let running = serve(&installation, &["--operations-listen", "127.0.0.1:0", "--reconcile", "00:00"]);
    let figure = |name: &str| -> i64 {
        let (_, figures) = running.ask("/metrics");
        let line = figures.lines().find_map(|line| line.strip_prefix(&format!("{name} "))).unwrap();
        line.parse().unwrap()
    };
    let wait_for = |what: &str, is_so: &dyn Fn() -> bool| {
        let until = Instant::now() + PATIENCE;
        while !is_so() {
            assert!(Instant::now() < until, "{what}: {}", installation.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    wait_for("the day before the start", &|| figure("kopeck_reconciliation_last_timestamp_seconds") > 0);
    assert_eq!(figure("kopeck_reconciliation_differences"), 0);

    let client = running.client(&partner);
    let cards = two_cards(&client).await;
    a_days_work(&client, &cards).await;
    agree(&installation);
    installation.tamper("UPDATE transactions SET amount = amount + 1 WHERE kind = 'PAYMENT'");
    client.sandbox().advance_clock(86_400).await.unwrap();
    wait_for("the next day", &|| figure("kopeck_reconciliation_differences") == 1);
    assert_eq!(figure("kopeck_reconciliation_failures_total"), 0);
    let log = installation.log();
    assert!(log.contains("a difference to the bank: another amount"), "{log}");
    assert!(log.contains("the bank's registry and the service's records differ"), "{log}");
    assert!(running.stop("TERM").1);
    let listed = installation.succeed(&["audit", "list", "--action", "bank.reconcile"]);
    assert!(listed.contains("differences:1") && listed.contains("differences:0"), "{listed}");
}

fn file(folder: &Path, name: &str) -> std::path::PathBuf {
    folder.join(name)
}

/// As [OPERATIONS](../../../../docs/OPERATIONS.md#after-a-restore) has it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_that_is_put_back_while_the_bank_is_ahead_is_made_up_for() {
    let installation = Installation::embedded();
    let partner = installation.create_partner(&["--deposit", "10000.00"]);
    let running = serve(&installation, &[]);
    let cards = two_cards(&running.client(&partner)).await;
    agree(&installation);
    assert!(running.stop("TERM").1);
    let (database, backup) =
        (file(installation.path(), "kopeck.sqlite"), file(installation.path(), "backup"));
    std::fs::copy(&database, &backup).unwrap();

    let running = serve(&installation, &[]);
    let request = a_days_work(&running.client(&partner), &cards).await;
    agree(&installation);
    assert!(running.stop("TERM").1);

    std::fs::copy(&backup, &database).unwrap();
    for log in ["kopeck.sqlite-wal", "kopeck.sqlite-shm"] {
        drop(std::fs::remove_file(file(installation.path(), log)));
    }
    installation.succeed(&["partner", "suspend", &partner.id]);
    let keys = [0, 1].map(|ordinal| format!("replenishment/{request}/{ordinal}"));
    let expected = keys.clone().map(|key| ("missing_here".to_owned(), Some(key)));
    let sorted = |mut differences: Vec<_>| {
        differences.sort();
        differences
    };
    let (code, mut found) = reconcile(&installation);
    // The purchase is yet to come with the feed; it is a difference only if midnight has passed since.
    found.retain(|(_, key)| key.is_some());
    assert_eq!((code, sorted(found)), (Some(1), expected.to_vec()));

    // By the bank's feed the service gets all movements, but not the requests behind them.
    let running = serve(&installation, &[]);
    let until = Instant::now() + PATIENCE;
    while sorted(reconcile(&installation).1) != expected {
        assert!(Instant::now() < until, "{:?}", reconcile(&installation));
    }
    // The debits are posted under the bank keys.
    for key in &keys {
        installation.succeed(&["partner", "withdraw", &partner.id, "50.00", "--reference", key]);
    }
    installation.succeed(&["partner", "resume", &partner.id]);
    let balance = running.client(&partner).balance().await.unwrap();
    assert_eq!(balance.available, 1_000_000 - 2 * 5_000);
    assert!(installation.succeed(&["check"]).contains("no discrepancies"));
    assert!(running.stop("TERM").1);
}
