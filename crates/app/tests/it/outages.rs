//! Outages of the database, seen from outside of a real process: callers get `Retry-After`, operators see the reason,
//! and nothing is lost.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::api_client::virtual_order;
use crate::process::{Installation, PartnerSecrets, Running};
use crate::raw_http::{RawRequest, RawResponse, fresh_nonce, get, login_call, post};

const TELLS: [&str; 2] = ["--operations-listen", "127.0.0.1:0"];

/// How long a test waits for the process to notice something before it fails.
const PATIENCE: Duration = Duration::from_secs(30);

fn add_category(running: &Running, token: &str, name: &str) -> RawResponse {
    post("/v1/category", &json!({"nameCategory": name})).token(token).key(name).send_to(&running.base_url)
}

fn login(running: &Running, partner: &PartnerSecrets) -> RawRequest {
    let call = login_call(&partner.api_key, &partner.login, &partner.password);
    assert_eq!(call.send_to(&running.base_url).status, 200);
    call
}

#[track_caller]
fn gets_503_with_retry_after(got: &RawResponse) {
    assert_eq!((got.status, got.header("retry-after")), (503, Some("1")), "{got:?}");
}

/// Waits until the database part is like this; answers all.
#[track_caller]
fn comes_to(running: &Running, database: &str) -> Value {
    let began = Instant::now();
    loop {
        let (status, text) = running.ask("/health/ready");
        let told: Value = serde_json::from_str(&text).unwrap();
        if told["parts"]["database"] == database {
            assert_eq!(status == 200, database == "ready", "{text}");
            return told;
        }
        assert!(began.elapsed() < PATIENCE, "{text}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn figure(running: &Running, name: &str) -> u64 {
    let (_, text) = running.ask("/metrics");
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).expect(name);
    line.parse().unwrap()
}

/// The command after `first`, which has a shell ignore SIGXFSZ: or the first byte would end the process.
fn by_a_shell(server: &Command, first: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{first}; exec \"$0\" \"$@\"")])
        .arg(server.get_program())
        .args(server.get_args());
    for (name, value) in server.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// A process that cannot write a byte into a file, and then can.
#[test]
fn a_disk_that_takes_nothing_and_then_does() {
    let installation = Installation::embedded();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let server = installation.command(&[&["serve", "--listen", "127.0.0.1:0"], &TELLS[..]].concat());
    let running = installation.start_command(by_a_shell(&server, "trap '' XFSZ"));
    let login = login(&running, &partner);
    let token = login.clone().nonce(&fresh_nonce()).send_to(&running.base_url).text_of("accessToken");
    assert_eq!(add_category(&running, &token, "before").status, 201);
    comes_to(&running, "ready");
    assert_eq!(figure(&running, "kopeck_database_up"), 1);

    running.limit_files(Some(0));
    for _ in 0..3 {
        gets_503_with_retry_after(&add_category(&running, &token, "meanwhile"));
        gets_503_with_retry_after(&login.clone().nonce(&fresh_nonce()).send_to(&running.base_url));
    }
    let told = comes_to(&running, "I/O error");
    assert_eq!(told["status"], "not ready");
    assert_eq!(figure(&running, "kopeck_database_up"), 0);
    assert!(figure(&running, r#"kopeck_database_failures_total{reason="io"}"#) >= 6);
    let listed = get("/v1/categories").token(&token).send_to(&running.base_url);
    assert_eq!(listed.status, 200, "what only reads is served: {listed:?}");

    running.limit_files(None);
    comes_to(&running, "ready");
    assert_eq!(figure(&running, "kopeck_database_up"), 1);
    assert_eq!(add_category(&running, &token, "meanwhile").status, 201);
    let names = get("/v1/categories").token(&token).send_to(&running.base_url).json();
    assert_eq!(names["data"].as_array().unwrap().len(), 2, "{names}");
    assert_eq!(figure(&running, r#"kopeck_audit_notes_total{outcome="dropped"}"#), 0);
    let (_, good) = running.stop("TERM");
    assert!(good, "{}", installation.log());
    let entries = installation.succeed(&["audit", "list", "--outcome", "failed", "--json"]);
    let failed = |action: &str| entries.lines().filter(|line| line.contains(action)).count();
    assert_eq!((failed("category.create"), failed("token.access")), (3, 3), "{entries}");
    installation.succeed(&["check"]);
}

#[test]
fn a_database_file_that_is_gone() {
    let installation = Installation::embedded();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let database = std::fs::read_dir(installation.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|end| end == "sqlite") && !path.ends_with("bank.sqlite"))
        .expect("the database");
    let running = installation.serve(&TELLS);
    let login = login(&running, &partner);
    let token = login.nonce(&fresh_nonce()).send_to(&running.base_url).text_of("accessToken");
    std::fs::remove_file(&database).unwrap();
    gets_503_with_retry_after(&add_category(&running, &token, "meanwhile"));
    comes_to(&running, "its file was removed or replaced: restart");
    gets_503_with_retry_after(&get("/v1/categories").token(&token).send_to(&running.base_url));
    assert_eq!(figure(&running, "kopeck_database_up"), 0);
    running.stop("TERM");
    assert!(
        installation.log().contains("the database file was removed or replaced"),
        "{}",
        installation.log()
    );
    assert!(!database.exists());

    // A start would make an empty one beside the old key.
    for command in
        [&["serve", "--listen", "127.0.0.1:0"][..], &["migrate"], &["partner", "create", "--name", "x"]]
    {
        let output = installation.run(command);
        assert!(!output.status.success(), "{command:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("master.key") && said.contains("--new-database"), "{command:?}: {said}");
        assert!(!database.exists(), "{command:?}");
    }
    let anew = installation.serve(&["--new-database"]);
    anew.stop("TERM");
    assert!(database.exists());
    let usual = installation.serve(&[]);
    usual.stop("TERM");
}

/// Loses the latest deposit, as a failover to a copy that lagged behind would: every connection to a server is a new one.
fn rewind(installation: &Installation) {
    installation.tamper(
        "DELETE FROM entries WHERE movement = (SELECT max(number) FROM movements);
         UPDATE balances SET last_movement = last_movement - 1, available = available - 200, deposited = deposited + 200
             WHERE last_movement > 0;
         DELETE FROM movements WHERE number = (SELECT max(number) FROM movements)",
    );
    if !installation.is_embedded() {
        installation.tamper(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        );
    }
}

#[test]
fn commits_that_vanish_stop_changes_until_an_operator_accepts_that() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let running = installation.serve(&TELLS);
    let token =
        login(&running, &partner).nonce(&fresh_nonce()).send_to(&running.base_url).text_of("accessToken");
    for (key, amount) in [("first", 100), ("second", 200)] {
        let deposit = json!({"amount": amount});
        let got =
            post("/sandbox/v1/balance/deposit", &deposit).token(&token).key(key).send_to(&running.base_url);
        assert!([200, 201].contains(&got.status), "{got:?}");
    }
    installation.succeed(&["check"]);
    rewind(&installation);
    let began = Instant::now();
    while add_category(&running, &token, "meanwhile").status != 503
        || figure(&running, "kopeck_database_rewound") == 0
    {
        assert!(began.elapsed() < PATIENCE, "{}", installation.log());
    }
    let told = comes_to(&running, "commits are missing: see kopeck check");
    assert_eq!(told["status"], "not ready");
    assert_eq!(get("/v1/balance").token(&token).send_to(&running.base_url).status, 200, "reads are served");
    let log = installation.log();
    assert!(log.contains("the database was rewound") && log.contains("movement 2 of partner"), "{log}");
    let checked = || installation.run(&["check"]);
    let began = Instant::now();
    // The process has noted it in the database.
    while checked().status.success() {
        assert!(began.elapsed() < PATIENCE, "`check` does not say it");
    }
    assert!(String::from_utf8(checked().stdout).unwrap().contains("the database was rewound"));

    // No restart accepts it.
    running.stop("TERM");
    let running = installation.serve(&TELLS);
    comes_to(&running, "commits are missing: see kopeck check");
    gets_503_with_retry_after(&add_category(&running, &token, "meanwhile"));
    let accepted = installation.succeed(&["check", "--accept-history"]);
    assert!(accepted.contains("accepted: movement 2 of partner"), "{accepted}");
    comes_to(&running, "ready");
    assert_eq!(figure(&running, "kopeck_database_rewound"), 0);
    assert_eq!(add_category(&running, &token, "afterwards").status, 201);
    let entries = installation.succeed(&["audit", "list", "--action", "database.accept_history", "--json"]);
    assert!(entries.contains("movement 2 of partner"), "{entries}");

    let deposit = json!({"amount": 200});
    post("/sandbox/v1/balance/deposit", &deposit).token(&token).key("third").send_to(&running.base_url);
    rewind(&installation);
    comes_to(&running, "commits are missing: see kopeck check");
    running.stop("TERM");
    let running = installation.serve(&[&TELLS[..], &["--accept-history"]].concat());
    comes_to(&running, "ready");
    assert_eq!(add_category(&running, &token, "with-option").status, 201);
}

#[test]
fn a_database_file_that_is_damaged() {
    for (end, length) in [("", 4096 * 3), ("-wal", 0)] {
        let installation = Installation::embedded();
        let partner = installation.create_partner(&["--sealing", "optional"]);
        let running = installation.serve(&TELLS);
        let login = login(&running, &partner);
        let token = login.nonce(&fresh_nonce()).send_to(&running.base_url).text_of("accessToken");
        assert_eq!(add_category(&running, &token, "before").status, 201);
        let path = installation.path().join(format!("kopeck.sqlite{end}"));
        std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(length).unwrap();
        gets_503_with_retry_after(&add_category(&running, &token, "meanwhile"));
        comes_to(&running, "its file is damaged: restore it and restart");
        gets_503_with_retry_after(&get("/v1/categories").token(&token).send_to(&running.base_url));
        assert_eq!(figure(&running, "kopeck_database_up"), 0);
        assert!(figure(&running, r#"kopeck_database_failures_total{reason="malformed"}"#) >= 2);
        assert!(installation.log().contains("the database file is damaged"), "{}", installation.log());
    }
}

/// One line for the beginning and one for the end, whatever runs in the process; loops name themselves.
#[test]
fn the_log_of_a_database_that_is_away_and_comes_back() {
    let installation = Installation::on_a_server();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    for workers in [&["--no-workers"][..], &[]] {
        let running = installation.serve(&[&TELLS[..], workers].concat());
        let token =
            login(&running, &partner).nonce(&fresh_nonce()).send_to(&running.base_url).text_of("accessToken");
        installation.allow_connections(false);
        while add_category(&running, &token, "away").status != 503 {}
        let has = |words: &str| installation.log().contains(words);
        let began = Instant::now();
        while !has("database unavailable reason=")
            || (workers.is_empty() && !has("job loop failed loop=bank_feed"))
        {
            let _ = add_category(&running, &token, "away");
            assert!(began.elapsed() < PATIENCE, "{}", installation.log());
        }
        installation.allow_connections(true);
        let began = Instant::now();
        while !has("database available again after=")
            || (workers.is_empty() && !has("job loop recovered loop=bank_feed"))
        {
            let _ = get("/v1/categories").token(&token).send_to(&running.base_url);
            assert!(began.elapsed() < PATIENCE, "{}", installation.log());
        }
        comes_to(&running, "ready");
        let log = installation.log();
        assert_eq!(log.matches("database unavailable").count(), 1, "{log}");
        assert_eq!(
            log.matches("job loop failed loop=bank_feed").count(),
            usize::from(workers.is_empty()),
            "{log}"
        );
    }
}

/// After a SIGKILL, as a power cut or an out-of-memory killer does it while the disk is full.
#[test]
fn a_start_on_a_full_disk_serves_reads() {
    let installation = Installation::embedded();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let mut running = installation.serve(&TELLS);
    let token =
        login(&running, &partner).nonce(&fresh_nonce()).send_to(&running.base_url).text_of("accessToken");
    assert_eq!(add_category(&running, &token, "before").status, 201);
    let ordered = post("/v1/order/virtualcards", &virtual_order(1, 0)).token(&token).key("order");
    ordered.send_to(&running.base_url);
    running.kill();

    let server = installation.command(&[&["serve", "--listen", "127.0.0.1:0"], &TELLS[..]].concat());
    // SQLite needs 32 KiB for the index of its log, which it had before.
    let running = installation.start_command(by_a_shell(&server, "trap '' XFSZ; ulimit -S -f 64"));
    let listed = get("/v1/categories").token(&token).send_to(&running.base_url);
    assert_eq!(listed.status, 200, "{listed:?}");
    gets_503_with_retry_after(&add_category(&running, &token, "meanwhile"));
    let bought = post("/sandbox/v1/balance/deposit", &json!({"amount": 1})).token(&token).key("deposit");
    gets_503_with_retry_after(&bought.send_to(&running.base_url));
    running.limit_files(None);
    comes_to(&running, "ready");
    assert_eq!(add_category(&running, &token, "meanwhile").status, 201);
}

/// The simulator's own database fails as the service's does.
#[test]
fn a_purchase_on_a_full_disk_gets_503() {
    let installation = Installation::embedded();
    let partner = installation.create_partner(&["--sealing", "optional", "--deposit", "1000000.00"]);
    let server = installation
        .command(&[&["serve", "--listen", "127.0.0.1:0", "--processing-delay", "0s"], &TELLS[..]].concat());
    let running = installation.start_command(by_a_shell(&server, "trap '' XFSZ"));
    let token =
        login(&running, &partner).nonce(&fresh_nonce()).send_to(&running.base_url).text_of("accessToken");
    let ordered = post("/v1/order/virtualcards", &virtual_order(1, 5_000)).token(&token).key("order");
    assert_eq!(ordered.send_to(&running.base_url).status, 202);
    let began = Instant::now();
    let card = loop {
        let listed = get("/v1/cards").token(&token).send_to(&running.base_url).json();
        if let Some(id) = listed["data"][0]["idCard"].as_str() {
            break id.to_owned();
        }
        assert!(began.elapsed() < PATIENCE, "{listed}");
    };
    running.limit_files(Some(0));
    for key in ["one", "two", "three"] {
        let purchase = json!({"amount": 100, "place": "shop"});
        let call = post(&format!("/sandbox/v1/card/{card}/purchase"), &purchase).token(&token).key(key);
        gets_503_with_retry_after(&call.send_to(&running.base_url));
    }
}
