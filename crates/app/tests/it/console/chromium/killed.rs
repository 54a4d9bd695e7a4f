//! A real process is killed while a run of a file is carried out that a person follows in the browser.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kopeck_adapter_bank_simulator::Simulator;
use kopeck_adapter_system::{OsEntropy, SystemClock};
use kopeck_client::BankBehaviour;
use kopeck_domain::calendar::Zone;
use kopeck_port_system::Clock as _;

use super::{Screen, is_refusal};
use crate::console::browser::{NEW_PASSWORD, app_code};
use crate::kill::{CARDS, FIRST_TOP_UP, SERVE, set_up};
use crate::process::Installation;

/// In kopecks.
const DEPOSIT: i64 = 1_000_000_000;
const AMOUNT: i64 = 12_345;

/// The file is chosen, looked at and submitted. The bank has moved the money and its response is on the way when the service is killed:
/// the page goes on with the next process, the run ends, and everybody has the money once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Chromium and its driver: scripts/test-console"]
async fn a_service_that_is_killed_goes_on_with_the_run_of_a_file() {
    let installation = Installation::embedded();
    let partner = installation.create_partner(&["--deposit", "10000000.00", "--yes"]);
    set_up(&installation, &partner).await;
    let user = [
        "user",
        "create",
        "--partner",
        &*partner.id,
        "--role",
        "FINANCE",
        "--login",
        "a@example.ru",
        "--json",
    ];
    let user: serde_json::Value = serde_json::from_str(&installation.succeed(&user)).unwrap();
    let mut running = installation.serve(SERVE);
    let screen = Screen::start(&running.base_url).await;
    screen.speak("en").await;
    log_in(&screen, user["password"].as_str().unwrap()).await;

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Выплаты.csv");
    let rows: String = (0..CARDS).map(|place| format!("T-{place};123,45\n")).collect();
    std::fs::write(&file, format!("Табельный номер;Сумма\n{rows}")).unwrap();
    screen.follow("/runs").await;
    screen.follow("/runs/new").await;
    screen.send("/runs/upload", &[("reference", "Meals"), ("file", file.to_str().unwrap())]).await;
    let amount = AMOUNT * i64::try_from(CARDS).unwrap();
    screen.sees(&["Top-ups: Meals", "draft", "Available afterwards", "₽2,962.80", "T-23"]).await;
    let slow = BankBehaviour { latency_ms: 60_000, ..BankBehaviour::default() };
    running.client(&partner).sandbox().bank(&slow).await.unwrap();
    let path = screen.path().await;
    screen.send(&format!("{path}/submit"), &[]).await;
    screen.sees(&["In process", "0 of 24"]).await;
    wait_for_money(&installation, amount).await;
    running.kill();

    let address = running.base_url.trim_start_matches("http://");
    let again = installation.command(&[&["serve", "--listen", address], SERVE].concat());
    let running = installation.start_command(again);
    // By itself: it was not opened again.
    screen.sees(&["24 of 24"]).await;
    screen.follow(&path).await;
    screen.sees(&["done"]).await;
    let downloads = tempfile::tempdir().unwrap();
    screen.browser.save_into(downloads.path()).await;
    let result = screen.save(&format!("{path}/result/csv"), downloads.path()).await;
    let result = String::from_utf8(result).unwrap();
    assert_eq!(result.matches(",DONE,").count(), CARDS, "{result}");
    screen.end(|one| is_refusal(one) || is_of_kill(one, &path)).await;

    let client = running.client(&partner);
    let balance = client.balance().await.unwrap();
    let ordered = FIRST_TOP_UP * i64::try_from(CARDS).unwrap();
    assert_eq!((balance.hold, balance.available), (0, DEPOSIT - ordered - amount));
    running.stop("TERM");
    assert!(installation.succeed(&["check"]).contains("no discrepancies"));
    let bank = books(&installation);
    assert!(bank.check().unwrap().is_empty());
    assert_eq!(bank.totals().unwrap().top_ups.get(), amount);
}

/// The first login of a user, up to a new password.
async fn log_in(screen: &Screen, password: &str) {
    screen.open("/").await;
    screen.send("/login", &[("login", "a@example.ru"), ("password", password)]).await;
    let secret = screen.browser.text_of(".setup code").await;
    screen.send("/login/code", &[("code", &app_code(&secret, SystemClock::default().now()))]).await;
    screen.follow("/").await;
    screen.send("/password", &[("current", password), ("new", NEW_PASSWORD), ("again", NEW_PASSWORD)]).await;
    screen.follow("/").await;
}

/// The books of the bank.
fn books(installation: &Installation) -> Simulator {
    let zone = Zone::parse("+03:00").unwrap();
    let books = installation.path().join("bank.sqlite");
    Simulator::open(&books, Arc::new(SystemClock::default()), Arc::new(OsEntropy), zone).unwrap()
}

/// Waits until the bank has moved this amount.
async fn wait_for_money(installation: &Installation, amount: i64) {
    let (bank, began) = (books(installation), Instant::now());
    while bank.totals().unwrap().top_ups.get() != amount {
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", bank.totals());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Whether the browser says that the page did not reach the service that was killed.
fn is_of_kill(complaint: &str, path: &str) -> bool {
    complaint.contains(&format!("/console/poll{path} ")) && complaint.contains("net::ERR_")
}
