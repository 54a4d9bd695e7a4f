//! The service over a bank in another process: the simulator behind its HTTP server, both as real binaries.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use kopeck_adapter_bank_http::PublicKeyPin;
use kopeck_client::{
    CardStatus, Client, ErrorCode, NewEmployee, Purchase, RequestState, TopUp, TransactionFilter,
    VirtualItem, Wait,
};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use uuid::Uuid;

use crate::certificates::{Authority, Certified};
use crate::process::{Installation, PartnerSecrets, Running};

const SECRET: &str = "correct-horse-battery";

/// A service and its bank, in separate folders.
struct Pair {
    bank_at: Installation,
    service_at: Installation,
    partner: PartnerSecrets,
    bank: Running,
}

impl Pair {
    fn new() -> Self {
        let (bank_at, service_at) = (Installation::new(), Installation::new());
        let partner = service_at.create_partner(&["--deposit", "100000.00"]);
        let bank = bank_at.bank_simulator("127.0.0.1:0", SECRET);
        Self { bank_at, service_at, partner, bank }
    }

    fn serve(&self) -> (Running, Client) {
        let running = self.service_at.serve(&self.serve_arguments(SECRET));
        let client = running.client(&self.partner);
        (running, client)
    }

    fn serve_arguments<'a>(&'a self, secret: &'a str) -> [&'a str; 10] {
        let url = &self.bank.base_url;
        [
            "--bank-url",
            url,
            "--bank-secret",
            secret,
            "--sandbox",
            "true",
            "--processing-delay",
            "0s",
            "--card-cache",
            "0s",
        ]
    }

    /// Starts another process of the bank at the same address on the same books.
    fn restart_bank(&mut self) {
        let address = self.bank.base_url.trim_start_matches("http://").to_owned();
        self.bank = self.bank_at.bank_simulator(&address, SECRET);
    }
}

fn patience() -> Wait {
    Wait::up_to(Duration::from_secs(60)).intervals(Duration::from_millis(20), Duration::from_millis(200))
}

/// An activated MAIN card with 5,000 kopecks.
async fn card(client: &Client) -> Uuid {
    let order = client.orders().virtual_cards(&[VirtualItem::new(1, 5_000)]).await.unwrap().order_id;
    assert_eq!(client.orders().wait(order, patience(), |_| {}).await.unwrap(), RequestState::Success);
    let issued = client.orders().result(order).await.unwrap().data.remove(0);
    let employee = client.employees().add(&NewEmployee::new("T-1")).await.unwrap().id_employee;
    let linked = client.cards().link(employee, &issued.custom_id_card, &CardStatus::Main).await.unwrap();
    client.sandbox().activate(linked.id_card, issued.activation_code.as_ref()).await.unwrap();
    linked.id_card
}

fn purchase(amount: i64) -> Purchase {
    Purchase {
        amount,
        place: Some("Пекарня".to_owned()),
        mcc: Some("5462".to_owned()),
        merchant_id: Some("M-1".to_owned()),
        at: None,
    }
}

#[tokio::test]
async fn an_order_a_top_up_and_a_purchase_across_the_network() {
    let pair = Pair::new();
    let (running, client) = pair.serve();
    let card = card(&client).await;
    let top_up = client.replenishments().create(&[TopUp::new(card, 3_000)]).await.unwrap().replenishment_id;
    assert_eq!(
        client.replenishments().wait(top_up, patience(), |_| {}).await.unwrap(),
        RequestState::Success
    );
    let bought = client.sandbox().purchase(card, &purchase(2_500)).await.unwrap();
    assert!(bought.approved, "{:?}", bought.reason);
    client.sandbox().refund(card, bought.transaction_id.unwrap(), 500).await.unwrap();
    client.sandbox().block(card).await.unwrap();
    let refused = client.sandbox().purchase(card, &purchase(1)).await.unwrap();
    assert_eq!(refused.reason.as_deref(), Some("the card is blocked"));

    assert_eq!(client.cards().balance(card).await.unwrap().balance, 6_000);
    let seen = client.cards().transactions(card, &TransactionFilter::default(), Default::default()).await;
    let mut amounts: Vec<i64> = seen.unwrap().data.iter().map(|transaction| transaction.amount).collect();
    amounts.sort_unstable();
    assert_eq!(amounts, [500, 2_500, 3_000, 5_000]);
    assert_eq!(client.balance().await.unwrap().available, 10_000_000 - 8_000);

    let (_, well) = running.stop("TERM");
    assert!(well, "{}", pair.service_at.log());
    assert!(pair.service_at.succeed(&["check"]).contains("no discrepancies"));
    for log in [pair.service_at.log(), pair.bank_at.log()] {
        assert!(!log.contains(SECRET), "{log}");
    }
    let (_, well) = pair.bank.stop("TERM");
    assert!(well, "{}", pair.bank_at.log());
}

#[tokio::test]
async fn a_bank_that_is_away_holds_work_up_and_loses_none() {
    let mut pair = Pair::new();
    let (_running, client) = pair.serve();
    let card = card(&client).await;
    pair.bank.kill();
    let top_up = client.replenishments().create(&[TopUp::new(card, 3_000)]).await.unwrap().replenishment_id;
    // Requests to the bank fail or wait; the rest of the service continues.
    let failed = client.sandbox().purchase(card, &purchase(1)).await.unwrap_err();
    assert_eq!((failed.status(), failed.code()), (Some(503), Some(&ErrorCode::BankUnavailable)), "{failed}");
    assert!(failed.retry_after().is_some());
    assert!(!client.replenishments().status(top_up).await.unwrap().state.is_final());
    pair.restart_bank();
    assert_eq!(
        client.replenishments().wait(top_up, patience(), |_| {}).await.unwrap(),
        RequestState::Success
    );
    let balance = client.balance().await.unwrap();
    assert_eq!((balance.hold, balance.available), (0, 10_000_000 - 8_000));
}

/// The simulator's clock is the one that is moved; every service goes with it.
#[tokio::test]
async fn the_clock_of_the_bank_is_that_of_the_service() {
    let pair = Pair::new();
    let (_running, client) = pair.serve();
    let offset = |at: &Installation, file: &str| {
        let text = std::fs::read_to_string(at.path().join(file)).unwrap();
        text.lines().next().unwrap().to_owned()
    };
    client.sandbox().advance_clock(86_400).await.unwrap();
    assert_eq!(offset(&pair.bank_at, "bank/clock"), "86400000000");
    assert_eq!(offset(&pair.service_at, "clock"), "86400000000", "at once");
    // Another service begins at the bank's time.
    let other = Installation::new();
    other.create_partner(&[]);
    let _second = other.serve(&pair.serve_arguments(SECRET));
    assert_eq!(offset(&other, "clock"), "86400000000");
}

#[test]
fn a_sandbox_is_refused_where_the_bank_does_not_let_itself_be_ruled() {
    let pair = Pair::new();
    let refused = pair
        .service_at
        .run(&[&["serve", "--listen", "127.0.0.1:0"], &pair.serve_arguments("wrong")[..]].concat());
    assert!(!refused.status.success());
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("status 401") && said.contains("--sandbox false"), "{said}");
    assert!(!said.contains("wrong"));
}

#[test]
fn a_simulator_needs_a_secret_and_a_folder_of_its_own() {
    let pair = Pair::new();
    let folder = pair.bank_at.path().join("bank");
    let arguments = ["bank-simulator", "--listen", "127.0.0.1:0", "--data-dir", folder.to_str().unwrap()];
    let second = pair.bank_at.run(&[&arguments[..], &["--secret", SECRET]].concat());
    assert!(String::from_utf8(second.stderr).unwrap().contains("another process serves"));
    for secret in [&[][..], &["--secret", ""]] {
        assert!(!pair.bank_at.run(&[&arguments[..], secret].concat()).status.success());
    }
}

/// Writes a certificate and its key; answers their files.
fn write_certificate(at: &Installation, name: &str, certified: &Certified) -> [String; 2] {
    let file = |end: &str| at.path().join(format!("{name}.{end}")).to_str().unwrap().to_owned();
    let [certificate, key] = [file("pem"), file("key")];
    std::fs::write(&certificate, &certified.certificate).unwrap();
    std::fs::write(&key, &certified.key).unwrap();
    [certificate, key]
}

/// By a private authority, a pinned key and client certificates.
#[tokio::test]
async fn bank_and_service_authenticate_each_other_by_tls() {
    let (bank_at, service_at) = (Installation::new(), Installation::new());
    let authority = Authority::new("Ours");
    let ca = bank_at.path().join("ca.pem");
    std::fs::write(&ca, authority.certificate()).unwrap();
    let ca = ca.to_str().unwrap();
    let own = authority.certify("127.0.0.1");
    let pin = PublicKeyPin::of(&CertificateDer::from_pem_slice(own.certificate.as_bytes()).unwrap()).unwrap();
    let [bank_cert, bank_key] = write_certificate(&bank_at, "bank", &own);
    let [client_cert, client_key] = write_certificate(&service_at, "client", &authority.certify("kopeck"));
    let folder = bank_at.path().join("bank");
    let mut simulator = bank_at.command(&["bank-simulator", "--listen", "127.0.0.1:0", "--secret", SECRET]);
    simulator.arg("--data-dir").arg(folder);
    simulator.args(["--tls-cert", &bank_cert, "--tls-key", &bank_key, "--tls-client-ca", ca]);
    let bank = bank_at.start_command(simulator);
    assert!(bank.base_url.starts_with("https://"));

    let partner = service_at.create_partner(&["--deposit", "100000.00"]);
    let trusting = ["--bank-url", &bank.base_url, "--bank-secret", SECRET, "--bank-ca", ca];
    let pin = pin.to_string();
    let mutual = ["--bank-client-cert", &client_cert, "--bank-client-key", &client_key, "--bank-pin", &pin];
    let sandbox = ["--sandbox", "true", "--processing-delay", "0s"];
    let running = service_at.serve(&[&trusting[..], &mutual, &sandbox].concat());
    card(&running.client(&partner)).await;
    let (_, well) = running.stop("TERM");
    assert!(well, "{}", service_at.log());

    // Without its certificate the service starts, as a bank may be away, and reaches nothing.
    let running = service_at.serve(&[&trusting[..], &["--processing-delay", "0s"]].concat());
    let client = running.client(&partner);
    let order = client.orders().virtual_cards(&[VirtualItem::new(1, 5_000)]).await.unwrap().order_id;
    while !service_at.log().contains("bank unavailable") {
        assert!(!client.orders().status(order).await.unwrap().state.is_final());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[test]
fn a_bank_by_plain_http_on_another_machine_has_to_be_permitted() {
    let installation = Installation::new();
    let serve =
        ["serve", "--listen", "127.0.0.1:0", "--bank-url", "http://bank.invalid", "--bank-secret", SECRET];
    let refused = installation.run(&serve);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.contains("KOPECK_BANK_ALLOW_HTTP=true"), "{said}");
    let permitted = [&serve[..], &["--bank-allow-http", "true"]].concat();
    let (_, well) = installation.start_command(installation.command(&permitted)).stop("TERM");
    assert!(well && installation.log().contains("can be read on their way"), "{}", installation.log());
}

/// The file is delivered as by the agent of a vault.
#[tokio::test]
async fn the_banks_secret_comes_from_a_private_file() {
    let pair = Pair::new();
    let file = pair.service_at.path().join("bank-secret");
    std::fs::write(&file, format!("{SECRET}\n")).unwrap();
    let url = pair.bank.base_url.as_str();
    let arguments = ["--bank-url", url, "--bank-secret-file", file.to_str().unwrap(), "--sandbox", "true"];
    let set_mode = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    set_mode(0o640);
    let refused = pair.service_at.run(&[&["serve", "--listen", "127.0.0.1:0"][..], &arguments].concat());
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.contains("chmod 600") && !said.contains(SECRET), "{said}");
    set_mode(0o600);
    let running = pair.service_at.serve(&arguments);
    let client = running.client(&pair.partner);
    client.sandbox().deposit(5).await.unwrap();
}
