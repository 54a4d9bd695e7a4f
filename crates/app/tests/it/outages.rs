//! Outages of the database, seen from outside of a real process: callers get `Retry-After`, operators see the reason,
//! and nothing is lost.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bare::{Call, Got, fresh_nonce, get, login_call, post};
use crate::process::{Installation, PartnerSecrets, Running};

const TELLS: [&str; 2] = ["--operations-listen", "127.0.0.1:0"];

/// How long a test waits for the process to notice something before it fails.
const PATIENCE: Duration = Duration::from_secs(30);

fn add_category(running: &Running, token: &str, name: &str) -> Got {
    post("/v1/category", &json!({"nameCategory": name})).token(token).key(name).send_to(&running.base_url)
}

fn login(running: &Running, partner: &PartnerSecrets) -> Call {
    let call = login_call(&partner.api_key, &partner.login, &partner.password);
    assert_eq!(call.send_to(&running.base_url).status, 200);
    call
}

#[track_caller]
fn gets_503_with_retry_after(got: &Got) {
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

/// A process that cannot write a byte into a file, and then can.
#[test]
fn a_disk_that_takes_nothing_and_then_does() {
    let installation = Installation::embedded();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let server = installation.command(&[&["serve", "--listen", "127.0.0.1:0"], &TELLS[..]].concat());
    // Or the first byte would end it.
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""])
        .arg(server.get_program())
        .args(server.get_args());
    for (name, value) in server.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let running = installation.start_command(command);
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
