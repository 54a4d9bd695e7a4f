//! The end of a partner's contract, by the operators' commands beside a running server.

use std::time::{Duration, Instant};

use kopeck_adapter_store_diesel::testing::inserts;
use kopeck_client::{NewEmployee, RequestState, VirtualItem, Wait};

use crate::process::Installation;

/// Runs a command until it succeeds, at most a minute; returns what it printed first and last.
fn until_done(installation: &Installation, arguments: &[&str]) -> (String, String) {
    let began = Instant::now();
    let mut first = None;
    loop {
        let output = installation.run(arguments);
        let (out, err) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        let first = first.get_or_insert_with(|| err.clone()).clone();
        if output.status.success() {
            return (first, out);
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{err}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_contract_ends_and_the_partner_is_deleted_without_a_trace() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--deposit", "1000.00"]);
    installation.succeed(&[
        "user",
        "create",
        "--partner",
        &partner.id,
        "--role",
        "HR",
        "--login",
        "hr@example.ru",
        "--json",
    ]);
    let running = installation.serve(&[]);
    let client = running.client(&partner);
    client
        .employees()
        .add(&NewEmployee { surname: Some("Petrova".to_owned()), ..NewEmployee::new("T-1") })
        .await
        .unwrap();
    let order = client.orders().virtual_cards(&[VirtualItem::new(3, 5_000)]).await.unwrap().order_id;
    assert_eq!(
        client.orders().wait(order, Wait::up_to(Duration::from_secs(60)), |_| {}).await.unwrap(),
        RequestState::Success
    );

    let renamed = installation.succeed(&["partner", "rename", &partner.id, "Bakery & Sons"]);
    assert!(renamed.contains("\"Bakery & Sons\""), "{renamed}");
    let close = ["partner", "close", &partner.id, "--reference", "wire-1"];
    let (first, last) = until_done(&installation, &close);
    assert!(first.contains("3 cards are not closed yet, 3 of them are in a closing now"), "{first}");
    assert!(
        last.contains("1000.00 are booked as paid out under wire-1"),
        "what was on the cards came back: {last}"
    );
    assert!(client.balance().await.is_err(), "its sessions have ended");
    let again = installation.succeed(&close);
    assert_eq!(again, last, "the amount can be read again");

    let early = installation.run(&["partner", "delete", &partner.id]);
    assert!(!early.status.success());
    let early = String::from_utf8(early.stderr).unwrap();
    assert!(early.contains("its last movement is younger than the retention"), "{early}");
    installation.succeed(&["check"]);
    installation.succeed(&["partner", "delete", &partner.id, "--retention", "0s"]);
    assert!(!installation.succeed(&["partner", "list"]).contains(&partner.id));
    installation.succeed(&["check"]);
    installation.succeed(&["audit", "verify"]);
    drop(running);

    let id = partner.id.replace('-', "");
    let rows = inserts(installation.database_url());
    let left = rows.lines().filter(|row| {
        let row = row.replace('-', "").to_lowercase();
        row.contains(&id) && !row.starts_with("insert into audit_")
    });
    assert_eq!(left.collect::<Vec<_>>(), [""; 0]);
}
