//! The commands of the binary, as an operator calls them.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use kopeck_client::{EmployeeFilter, Error, Paging};

use crate::process::{Installation, MASTER_KEY, ask, pseudo_terminal};

#[test]
fn the_first_start_without_a_terminal_keeps_its_secrets_in_a_private_file() {
    let installation = Installation::new();
    let (_, file, shown) = installation.first_start();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let secrets: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let said = shown.join("\n") + &installation.log();
    let people = [&secrets["console"][0], &secrets["console"][1]];
    assert_eq!(people.map(|one| &one["login"]), ["owner@demo.example", "operator@demo.example"]);
    assert!(said.contains("/console"), "{said}");
    for secret in ["/apiKey", "/password", "/sealingKey", "/console/0/password", "/console/1/password"] {
        let value = secrets.pointer(secret).unwrap().as_str().unwrap();
        assert!(!said.contains(value), "the {secret} is in the output or the log: {said}");
    }

    let again = installation.serve(&[]);
    let (shown, good) = again.stop("INT");
    assert!(good, "{}", installation.log());
    assert!(!shown.iter().any(|line| line.contains("first start")), "{shown:?}");
}

#[test]
fn the_first_start_at_a_terminal_prints_its_secrets_and_a_request_that_works_when_pasted() {
    let installation = Installation::embedded();
    let (shown, terminal) = pseudo_terminal();
    let mut command = installation.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut server = command.stdout(terminal).stderr(Stdio::null()).spawn().unwrap();
    // The parent's copy of the terminal goes with it; the server's own keeps it open.
    drop(command);
    let mut lines = BufReader::new(shown).lines().map_while(Result::ok);
    let key = lines.find_map(|line| line.trim().strip_prefix("apiKey").map(str::to_owned));
    let pasted = lines.by_ref().skip_while(|line| !line.contains("nonce()"));
    let last = |line: &String| line.contains("/v1/balance");
    let mut script = String::new();
    for line in pasted {
        script += line.trim_end();
        script.push('\n');
        if last(&line) {
            break;
        }
    }
    let answer = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(key.is_some_and(|key| key.trim().starts_with("ak_")));
    let balance: serde_json::Value = serde_json::from_slice(&answer.stdout)
        .unwrap_or_else(|_| panic!("{script}\n{}", String::from_utf8_lossy(&answer.stdout)));
    assert_eq!(balance["available"], 100_000_000);
    let mode = std::fs::metadata(installation.path().join("demo-partner.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_secret_on_the_command_line_is_warned_of_and_not_shown() {
    let installation = Installation::new();
    let said = |arguments: &[&str]| {
        let output = installation.run(arguments);
        String::from_utf8(output.stderr).unwrap()
    };
    let create = ["partner", "create", "--name", "A", "--password"];
    for (arguments, instead) in [
        (&[&create[..], &["tractor-v7Q-rain"]].concat()[..], "--password-stdin"),
        (&["check", "--master-keys-accepted", MASTER_KEY], "KOPECK_MASTER_KEYS_ACCEPTED"),
    ] {
        let said = said(arguments);
        let warned = said.contains("list of processes") && said.contains(&format!("use {instead} instead"));
        assert!(warned && !said.contains("tractor") && !said.contains(MASTER_KEY), "{said}");
    }
    assert!(!said(&["check"]).contains("list of processes"));
}

#[test]
fn a_data_folder_that_others_may_write_to_is_refused_by_every_command() {
    let installation = Installation::embedded();
    installation.create_partner(&[]);
    let shared = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(installation.path(), shared).unwrap();
    let folder = installation.path().to_str().unwrap();
    let simulator = ["bank-simulator", "--listen", "127.0.0.1:0", "--data-dir", folder, "--secret", "x"];
    for arguments in [
        &["serve", "--listen", "127.0.0.1:0"][..],
        &["worker"],
        &["migrate"],
        &["check"],
        &["partner", "list"],
        &["audit", "verify"],
        &["audit", "list"],
        &["master-key", "rotate"],
        &simulator,
    ] {
        let refused = installation.run(arguments);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success() && said.contains("chmod 700"), "{arguments:?}: {said}");
    }
    std::fs::set_permissions(installation.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    installation.succeed(&["check"]);
}

#[test]
fn a_demo_partner_whose_secrets_cannot_be_written_is_not_stored() {
    let installation = Installation::embedded();
    let file = installation.path().join("demo-partner.json");
    std::fs::create_dir(&file).unwrap();
    let refused = installation.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert!(!refused.status.success());
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("cannot write"), "{said}");

    std::fs::remove_dir(&file).unwrap();
    installation.first_start();
    assert!(file.is_file());
}

/// Starts `serve` with these settings in place of those of an installation, in an empty folder.
fn bare(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Installation::embedded().command(&[&["serve"], arguments].concat());
    command.current_dir(folder).env_remove("KOPECK_DATABASE_URL").env_remove("KOPECK_SANDBOX");
    command
}

#[test]
fn only_the_embedded_default_on_loopback_is_a_sandbox_unless_requested() {
    let everywhere = ["--listen", "0.0.0.0:0"];
    let named = ["--listen", "127.0.0.1:0", "--database-url", "sqlite://kopeck-data/kopeck.sqlite"];
    let loopback = ["--listen", "127.0.0.1:0"];
    let asked_for = [&named[..], &["--sandbox", "true"]].concat();
    for (arguments, is_sandbox) in
        [(&loopback[..], true), (&everywhere[..], false), (&named[..], false), (&asked_for[..], true)]
    {
        let folder = tempfile::tempdir().unwrap();
        let installation = Installation::embedded();
        let mut command = bare(folder.path(), arguments);
        command.args(["--operations-listen", "127.0.0.1:0"]);
        let running = installation.start_command(command);
        let address = running.base_url.replace("0.0.0.0", "127.0.0.1");
        let (status, _) = ask(&address, "/sandbox/v1/bank");
        assert_eq!(status, if is_sandbox { 405 } else { 404 }, "{arguments:?}");
        let (_, ready) = running.ask("/health/ready");
        let ready: serde_json::Value = serde_json::from_str(&ready).unwrap();
        assert_eq!(ready["sandbox"], is_sandbox, "{arguments:?}");
        let (_, figures) = running.ask("/metrics");
        let figure = format!("\nkopeck_sandbox {}\n", u8::from(is_sandbox));
        assert!(figures.contains(&figure), "{arguments:?}: {figures}");
        let log = installation.log();
        let (said, unsaid) = ("the sandbox is on", "there is no bank");
        let (said, unsaid) = if is_sandbox { (said, unsaid) } else { (unsaid, said) };
        assert!(log.lines().any(|line| line.contains("WARN") && line.contains(said)), "{arguments:?}: {log}");
        assert!(!log.contains(unsaid), "{arguments:?}: {log}");
        assert!(running.stop("TERM").1);
        let demo = folder.path().join("kopeck-data/demo-partner.json");
        assert_eq!(demo.exists(), is_sandbox, "{arguments:?}");
    }
}

#[test]
fn the_master_key_of_an_embedded_database_is_its_owners_only() {
    let installation = Installation::embedded();
    installation.create_partner(&[]);
    let mode =
        |name: &str| std::fs::metadata(installation.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("master.key"), 0o600);
}

#[test]
fn a_second_server_on_the_same_folder_is_refused() {
    let installation = Installation::embedded();
    let _running = installation.serve(&[]);
    let second = installation.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert!(!second.status.success());
    let said = String::from_utf8(second.stderr).unwrap();
    assert!(said.contains("another `kopeck serve` is running"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn partners_are_made_suspended_resumed_and_given_money_beside_a_running_server() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--login", "acme", "--deposit", "50.00"]);
    assert_eq!(partner.login, "acme");
    let taken = installation.run(&["partner", "create", "--name", "Other", "--login", "acme"]);
    assert!(!taken.status.success());

    let running = installation.serve(&["--sandbox", "false"]);
    let client = running.client(&partner);
    assert_eq!(client.balance().await.unwrap().available, 5_000);

    let deposit = ["partner", "deposit", &partner.id, "7.00", "--reference", "wire-1"];
    for said in ["deposited 7.00", "nothing changed"] {
        assert!(installation.succeed(&deposit).contains(said));
    }
    assert_eq!(client.balance().await.unwrap().available, 5_700);
    let threshold = ["partner", "set-threshold", &partner.id, "5.00"];
    assert!(installation.succeed(&threshold).contains("5.00"), "roubles");
    let listed: serde_json::Value =
        serde_json::from_str(&installation.succeed(&["partner", "list", "--json"])).unwrap();
    assert_eq!(listed[0]["threshold"], 500);
    assert_eq!(listed[0]["balance"], listed[0]["available"]);
    let other_amount = ["partner", "deposit", &partner.id, "7.01", "--reference", "wire-1"];
    assert!(!installation.run(&other_amount).status.success());

    installation.succeed(&["partner", "suspend", &partner.id]);
    assert!(installation.succeed(&["partner", "list"]).contains("SUSPENDED"));
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(5);
    let refused = loop {
        match client.employees().list(&EmployeeFilter::default(), Paging::default()).await {
            Err(error) => break error,
            Ok(_) if std::time::Instant::now() > deadline => {
                panic!("a suspended partner is served for over 5 s")
            }
            Ok(_) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
        }
    };
    // The client meets a 401, tries to log in again, and is refused like anyone with wrong credentials.
    assert!(matches!(&refused, Error::Api { status: 400 | 401, .. }), "{refused:?}");
    installation.succeed(&["partner", "resume", &partner.id]);
    assert_eq!(running.client(&partner).balance().await.unwrap().available, 5_700);
    assert!(matches!(client.sandbox().deposit(1).await, Err(Error::Api { status: 404, .. })), "no sandbox");
    assert!(installation.succeed(&["check"]).contains("no discrepancies"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rotated_key_is_accepted_beside_the_new_one_and_a_third_ends_it() {
    let installation = Installation::new();
    let partner = installation.create_partner(&[]);
    let running = installation.serve(&[]);
    let rotate = || installation.succeed(&["partner", "rotate-keys", &partner.id]).trim().to_owned();
    let with_key = |key: &str| {
        let secrets = crate::process::PartnerSecrets { sealing_key: key.to_owned(), ..clone(&partner) };
        running.client(&secrets)
    };
    let second = rotate();
    for key in [&partner.sealing_key, &second] {
        with_key(key).login().await.unwrap();
    }
    let third = rotate();
    for key in [&second, &third] {
        with_key(key).login().await.unwrap();
    }
    assert!(matches!(with_key(&partner.sealing_key).login().await, Err(Error::Invalid { .. })));
}

fn clone(partner: &crate::process::PartnerSecrets) -> crate::process::PartnerSecrets {
    crate::process::PartnerSecrets {
        id: partner.id.clone(),
        api_key: partner.api_key.clone(),
        login: partner.login.clone(),
        password: partner.password.clone(),
        sealing_key: partner.sealing_key.clone(),
    }
}

#[test]
fn a_missing_or_another_master_key_and_a_missing_database_are_refused() {
    let installation = Installation::embedded();
    for command in [&["check"][..], &["partner", "list"]] {
        let output = installation.run(command);
        assert!(!output.status.success(), "{command:?}");
        assert!(String::from_utf8(output.stderr).unwrap().contains("there is no database"), "{command:?}");
    }
    assert_eq!(std::fs::read_dir(installation.path()).unwrap().count(), 0, "to look makes nothing");

    installation.create_partner(&[]);
    let other = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    for command in [&["check"][..], &["serve", "--listen", "127.0.0.1:0"]] {
        let output = installation.run(&[command, &["--master-key", other]].concat());
        assert!(!output.status.success(), "{command:?}");
        assert!(String::from_utf8(output.stderr).unwrap().contains("not the one"), "{command:?}");
    }
    std::fs::remove_file(installation.path().join("master.key")).unwrap();
    for command in
        [&["check"][..], &["partner", "create", "--name", "x"], &["serve", "--listen", "127.0.0.1:0"]]
    {
        let output = installation.run(command);
        assert!(String::from_utf8(output.stderr).unwrap().contains("put it back"), "{command:?}");
    }
    assert!(!installation.path().join("master.key").exists());
}

#[test]
fn every_command_refuses_a_database_of_a_newer_schema_and_names_both_versions() {
    let installation = Installation::new();
    let partner = installation.create_partner(&[]);
    let newest = "(SELECT max(version) FROM __diesel_schema_migrations)";
    installation.tamper(&format!("INSERT INTO __diesel_schema_migrations (version) SELECT '9' || {newest}"));
    for command in [
        &["serve", "--listen", "127.0.0.1:0"][..],
        &["worker"],
        &["migrate"],
        &["check"],
        &["partner", "create", "--name", "x"],
        &["partner", "list"],
        &["partner", "show", &partner.id],
        &["partner", "set-policy", &partner.id, "optional"],
        &["partner", "deposit", &partner.id, "0.01", "--reference", "r"],
        &["partner", "reverse-deposit", &partner.id, "r", "--reason", "x"],
        &["partner", "withdraw", &partner.id, "0.01", "--reference", "r"],
        &["partner", "set-threshold", &partner.id, "0.01"],
        &["partner", "set-approval", &partner.id, "0.01"],
        &["partner", "end-sessions", &partner.id],
        &["partner", "rotate-keys", &partner.id],
        &["webhooks", "list", &partner.id],
        &["requests", "stuck"],
        &["audit", "list"],
        &["audit", "verify"],
        &["master-key", "rotate", "--reencrypt-only"],
        &["reconcile", "--from", "01.03.2026", "--to", "01.03.2026"],
    ] {
        let output = installation.run(command);
        // 1 is the exit code of a comparison with differences.
        let code = if command[0] == "reconcile" { 2 } else { 1 };
        assert_eq!(output.status.code(), Some(code), "{command:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        let (_, versions) =
            said.split_once("the database has the schema ").unwrap_or_else(|| panic!("{said}"));
        let theirs = versions.split(',').next().unwrap();
        let ours = theirs.strip_prefix('9').unwrap();
        assert!(versions.contains(&format!("knows none after {ours}:")), "{said}");
    }
}

/// Beside its result a command prints nothing, not even the head of the audit log that it continues.
#[test]
fn a_command_that_succeeds_logs_nothing() {
    let installation = Installation::new();
    let partner = installation.create_partner(&[]);
    for command in [&["partner", "list"][..], &["partner", "suspend", &partner.id], &["migrate"], &["check"]]
    {
        let output = installation.run(command);
        assert!(output.status.success(), "{command:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{command:?}");
        assert!(!output.stdout.is_empty(), "{command:?}");
    }
}

#[test]
fn migrate_says_what_it_did_and_wrong_arguments_change_nothing() {
    let installation = Installation::new();
    assert!(installation.succeed(&["migrate"]).contains("applied"));
    assert!(installation.succeed(&["migrate"]).contains("up to date"));
    for wrong in [
        &["partner", "create", "--name", ""][..],
        &["partner", "create", "--name", "x", "--deposit", "0.00"],
        &["partner", "create", "--name", "x", "--sealing", "maybe"],
        &["partner", "suspend", "not-a-uuid"],
        &["partner", "suspend", "00000000-0000-0000-0000-000000000001"],
        &["serve", "--processing-delay", "3"],
        &["serve", "--utc-offset", "Moscow"],
        &["check", "--master-key", "short"],
        &["check", "--database-url", "mysql://x"],
    ] {
        assert!(!installation.run(wrong).status.success(), "{wrong:?}");
    }
    assert_eq!(installation.succeed(&["partner", "list"]).lines().count(), 1, "no partner was made");
}

/// A file of another program, a text and a folder: each is called what it is, and left as it is.
#[test]
fn a_file_that_is_no_database_of_kopeck_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.db");
    kopeck_adapter_store_diesel::testing::tamper(
        &format!("sqlite://{}", other.display()),
        "CREATE TABLE x (a TEXT)",
    );
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "a text that is long enough to be taken for something").unwrap();
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    for (name, says) in [
        ("other.db", "belongs to another program: it has x and none of Kopeck's tables"),
        ("notes.txt", "file is not a database"),
        ("folder", "is a folder: name a file in it, such as"),
    ] {
        let url = format!("sqlite://{}", folder.path().join(name).display());
        for command in
            [&["serve", "--listen", "127.0.0.1:0"][..], &["migrate"], &["check"], &["partner", "list"]]
        {
            let arguments = [command, &["--database-url", &url]].concat();
            let output = Installation::embedded().command(&arguments).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(!output.status.success() && said.contains(says), "{arguments:?}: {said}");
        }
    }
    let left: std::collections::BTreeSet<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "nothing was made: {left:?}");
}
