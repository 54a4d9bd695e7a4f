//! Commands of operators: settings from the environment, ports, pipes, terminals, lists.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{Installation, pseudo_terminal};
use crate::raw_http::{login_call, post};

/// With a partner, and with a deposit that was carried out and one that was refused.
fn with_history() -> (Installation, String) {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--login", "acme", "--deposit", "1500.00"]);
    installation.succeed(&["partner", "rotate-api-key", &partner.id]);
    let deposit =
        |amount| ["partner", "deposit", &*partner.id, amount, "--reference", "wire-1"].map(str::to_owned);
    installation.succeed(&deposit("0.01").each_ref().map(String::as_str));
    assert!(!installation.run(&deposit("0.02").each_ref().map(String::as_str)).status.success());
    (installation, partner.id)
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_closed_pipe_ends_no_command_and_a_full_disk_is_reported() {
    let (installation, _) = with_history();
    for command in [
        &["completion", "bash"][..],
        &["audit", "list"],
        &["audit", "list", "--json"],
        &["audit", "verify"],
        &["audit", "verify", "--print-heads"],
        &["partner", "list"],
        &["requests", "stuck"],
        &["check"],
        &["migrate"],
        &["call", "profiles", "path"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = installation.command(command).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()), "{command:?}");
    }
    for command in [&["completion", "bash"][..], &["audit", "list"], &["partner", "list"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = installation.command(command).stdout(full).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        assert!(stderr(&output).starts_with("kopeck: standard output: "), "{command:?}: {}", stderr(&output));
    }
}

#[test]
fn the_audit_log_is_listed_in_columns_and_in_the_requested_zone() {
    let (installation, _) = with_history();
    let shown = installation.succeed(&["audit", "list"]);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(shown.contains("REFUSED") && lines.len() >= 4, "{shown}");
    let place = |line: &&str| line.find("partner.").or_else(|| line.find("database.")).unwrap();
    let places: BTreeSet<_> = lines.iter().map(place).collect();
    assert_eq!(places.len(), 1, "{shown}");
    let user = lines[0].split_whitespace().nth(3).unwrap();
    let places: BTreeSet<_> = lines.iter().map(|line| line.find(&format!("  {user}  ")).unwrap()).collect();
    assert_eq!(places.len(), 1, "{shown}");

    for (zone, offset) in [("+03:00", "+03:00"), ("-09:30", "-09:30")] {
        let shown = installation.succeed(&["audit", "list", "--utc-offset", zone]);
        let oldest = shown.lines().last().unwrap().split_whitespace().next().unwrap();
        assert!(oldest.ends_with(offset), "{oldest}");
        let since =
            |minute: &str| installation.succeed(&["audit", "list", "--utc-offset", zone, "--since", minute]);
        assert_eq!(since(&oldest[.."YYYY-MM-DDTHH:MM".len()]), shown, "what is shown can be asked for");
    }
}

#[test]
fn a_start_whose_port_is_taken_leaves_nothing_behind() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let installation = Installation::embedded();
    let bank = installation.path().join("bank");
    for command in [
        &["serve", "--listen", &taken][..],
        &["serve", "--listen", "127.0.0.1:0", "--operations-listen", &taken],
        &["bank-simulator", "--listen", &taken, "--secret", "s", "--data-dir", bank.to_str().unwrap()],
    ] {
        let output = installation.run(command);
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        assert!(stderr(&output).contains(&format!("cannot listen on {taken}")), "{}", stderr(&output));
        assert_eq!(std::fs::read_dir(installation.path()).unwrap().count(), 0, "{command:?}");
    }
    let (_, file, _) = installation.first_start();
    assert!(file.is_file(), "the first start is still to come");
}

/// The variables of a command and of all below it.
fn variables(command: &clap::Command) -> BTreeSet<String> {
    let own = command.get_arguments().filter_map(|argument| argument.get_env()?.to_str().map(str::to_owned));
    own.chain(command.get_subcommands().flat_map(variables)).collect()
}

#[test]
fn an_empty_variable_counts_as_absent_and_an_unknown_one_is_reported() {
    let installation = Installation::embedded();
    let all = variables(&kopeck::cli::command());
    assert!(all.len() > 30);
    let empty = |arguments: &[&str]| {
        let mut command = installation.command(arguments);
        let given: BTreeSet<_> = command.get_envs().map(|(name, _)| name.to_owned()).collect();
        command.envs(
            all.iter()
                .filter(|name| !given.contains(std::ffi::OsStr::new(name.as_str())))
                .map(|name| (name, "")),
        );
        command
    };
    let running = installation.start_command(empty(&["serve", "--listen", "127.0.0.1:0"]));
    assert!(running.stop("TERM").1);
    assert!(!installation.log().contains("is not a setting"), "{}", installation.log());

    let mut misspelt = empty(&["migrate"]);
    let output = misspelt.env("KOPECK_LISTN", "hunter2").env("KOPECK_WHATEVER", "hunter2").output().unwrap();
    assert!(output.status.success());
    let said = stderr(&output);
    assert!(said.contains("KOPECK_LISTN is not a setting; did you mean KOPECK_LISTEN?"), "{said}");
    assert!(said.contains("KOPECK_WHATEVER is not a setting\n"), "{said}");
    assert_eq!((said.lines().count(), said.contains("hunter2")), (2, false), "{said}");
}

#[test]
fn partners_are_listed_with_their_balances() {
    let (installation, id) = with_history();
    let shown = installation.succeed(&["partner", "list", "--json"]);
    let mut shown: Value = serde_json::from_str(&shown).unwrap();
    assert!(shown[0]["createdAt"].take().is_string());
    let expected = json!([{
        "partnerId": id,
        "name": "Test",
        "login": "acme",
        "status": "ACTIVE",
        "sealing": "required",
        "createdAt": null,
        "balance": 150_001,
        "hold": 0,
        "available": 150_001,
        "threshold": 0,
    }]);
    assert_eq!(shown, expected);
    let text = installation.succeed(&["partner", "list"]);
    assert!(text.contains("1500.01"), "{text}");
    let ends: BTreeSet<_> = text.lines().map(|line| line.find("  ").unwrap() < 37).collect();
    assert_eq!(ends.len(), 1, "{text}");
}

#[test]
fn one_partner_is_shown_with_its_keys_sessions_and_open_requests() {
    let (installation, id) = with_history();
    installation.succeed(&["partner", "rotate-keys", &id]);
    let show = || -> Value {
        serde_json::from_str(&installation.succeed(&["partner", "show", &id, "--json"])).unwrap()
    };
    let shown = show();
    let listed: Value = serde_json::from_str(&installation.succeed(&["partner", "list", "--json"])).unwrap();
    for (field, value) in listed[0].as_object().unwrap() {
        assert_eq!(&shown[field], value, "{field}");
    }
    assert_eq!((&shown["sessions"], &shown["openRequests"]), (&json!(0), &json!(0)));
    let date = "DD.MM.YYYY HH:MM".len();
    assert_eq!(shown["formerApiKeyAcceptedUntil"].as_str().unwrap().len(), date, "with_history rotated it");
    let keys = shown["sealingKeys"].as_array().unwrap();
    assert_eq!((keys.len(), &keys[0]["acceptedUntil"]), (2, &Value::Null));
    assert_eq!(keys[1]["acceptedUntil"].as_str().unwrap().len(), date);
    let text = installation.succeed(&["partner", "show", &id]);
    for part in ["1500.01", "former API key", "active", keys[1]["keyId"].as_str().unwrap()] {
        assert!(text.contains(part), "{part}: {text}");
    }
    installation.succeed(&["partner", "rotate-keys", &id, "--at-once"]);
    installation.succeed(&["partner", "rotate-api-key", &id, "--at-once"]);
    let after = show();
    assert_eq!(after["formerApiKeyAcceptedUntil"], Value::Null);
    assert_eq!(after["sealingKeys"].as_array().unwrap().len(), 1);
    let unknown = installation.run(&["partner", "show", "00000000-0000-0000-0000-000000000001"]);
    assert_eq!(unknown.status.code(), Some(1));
}

#[test]
fn the_amount_that_needs_an_approval_is_shown_and_audited() {
    let (installation, id) = with_history();
    let above = || -> Value {
        let shown = installation.succeed(&["partner", "show", &id, "--json"]);
        serde_json::from_str::<Value>(&shown).unwrap()["approvalAbove"].clone()
    };
    assert_eq!(above(), 0);
    for (amount, said, kopecks) in
        [("500.01", "more than 500.01", 50_001), ("0.00", "nothing of partner", 0), ("1.00", "1.00", 100)]
    {
        assert!(installation.succeed(&["partner", "set-approval", &id, amount]).contains(said));
        assert_eq!(above(), kopecks);
    }
    let text = installation.succeed(&["partner", "show", &id]);
    assert!(text.lines().any(|line| line.starts_with("approval above") && line.ends_with("1.00")), "{text}");
    let entries = installation.succeed(&["audit", "list", "--action", "partner.set_approval", "--json"]);
    assert!(entries.contains("approval:50001") && entries.contains(&id), "{entries}");
    let unknown = "00000000-0000-0000-0000-000000000001";
    assert_eq!(installation.run(&["partner", "set-approval", unknown, "1.00"]).status.code(), Some(1));
}

#[test]
fn a_sealing_policy_holds_for_a_running_service_within_seconds() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let running = installation.serve(&[]);
    let login = login_call(&partner.api_key, &partner.login, &partner.password);
    let token = login.send_to(&running.base_url).text_of("accessToken");
    let status = |id: &str| {
        post("/v1/employee/add", &json!({"customId": id})).token(&token).send_to(&running.base_url).status
    };
    assert_eq!(status("E-0"), 200);
    for (policy, expected) in [("required", 422), ("optional", 200)] {
        let said = installation.succeed(&["partner", "set-policy", &partner.id, policy]);
        assert_eq!(said, format!("sealing is {policy} for partner {}\n", partner.id));
        let until = Instant::now() + Duration::from_secs(5);
        let mut tries = 0;
        while status(&format!("{policy}-{tries}")) != expected {
            assert!(Instant::now() < until, "{policy} does not hold after 5 s");
            tries += 1;
        }
    }
    assert!(!installation.run(&["partner", "set-policy", &partner.id, "never"]).status.success());
}

#[test]
fn money_is_paid_out_once_and_a_deposit_is_reversed_once() {
    let (installation, id) = with_history();
    let partner = |command: &str, arguments: &[&str]| {
        installation.run(&[&["partner", command, &id], arguments].concat())
    };
    let available = || -> i64 {
        let shown = installation.succeed(&["partner", "show", &id, "--json"]);
        serde_json::from_str::<Value>(&shown).unwrap()["available"].as_i64().unwrap()
    };
    let withdraw = |amount: &str, reference: &str| partner("withdraw", &[amount, "--reference", reference]);
    for said in ["withdrew 500.00", "nothing changed"] {
        let output = withdraw("500.00", "out-1");
        assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains(said));
        assert_eq!(available(), 100_001);
    }
    for (amount, reference, code, said) in [
        ("500.01", "out-1", 1, "another amount before: 500.00"),
        ("1000.02", "out-2", 1, "only 1000.01 is available"),
        ("0.00", "out-3", 2, "must be 0.01 or more"),
        ("50000", "out-3", 2, "it could be meant in kopecks; write 500.00 or 50000.00"),
    ] {
        let output = withdraw(amount, reference);
        assert_eq!(output.status.code(), Some(code));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
    for (command, arguments) in [
        ("deposit", &["50000", "--reference", "wire-7"][..]),
        ("set-threshold", &["50000"]),
        ("set-threshold", &["0"]),
        ("set-approval", &["1000"]),
    ] {
        let output = partner(command, arguments);
        assert_eq!(output.status.code(), Some(2), "{command}");
        assert!(stderr(&output).contains("could be meant in kopecks"), "{}", stderr(&output));
    }
    for arguments in [
        &["partner", "create", "--name", "x", "--deposit", "50000"][..],
        &["requests", "settle", &id, "--as", "applied", "--returned", "50000"],
    ] {
        assert!(stderr(&installation.run(arguments)).contains("could be meant in kopecks"), "{arguments:?}");
    }
    assert_eq!(available(), 100_001);

    assert!(partner("deposit", &["1000.00", "--reference", "wire-2"]).status.success());
    let reverse = |reference: &str| partner("reverse-deposit", &[reference, "--reason", "the wrong partner"]);
    for (reference, code, said, left) in [
        ("wire-1", Some(0), "", 200_000),
        ("wire-1", Some(1), "reversed before", 200_000),
        ("wire-9", Some(1), "no deposit under this reference", 200_000),
        ("opening", Some(1), "no deposit under this reference", 200_000),
        ("out-1", Some(1), "no deposit under this reference", 200_000),
        ("wire-2", Some(0), "", 100_000),
    ] {
        let output = reverse(reference);
        assert_eq!(output.status.code(), code, "{reference}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
        assert_eq!(available(), left, "{reference}");
    }
    assert!(partner("deposit", &["0.05", "--reference", "wire-3"]).status.success());
    assert!(withdraw("1000.02", "out-4").status.success());
    assert!(stderr(&reverse("wire-3")).contains("only 0.03 is available"));
    assert!(!partner("reverse-deposit", &["wire-3"]).status.success(), "without a reason");
    assert!(installation.succeed(&["check"]).contains("no discrepancies"));

    let listed = installation.succeed(&["audit", "list", "--action", "partner.reverse_deposit", "--json"]);
    assert!(listed.contains("transfer:wire-1 reason:the wrong partner"), "{listed}");
    assert!(listed.contains("REFUSED"), "{listed}");
}

#[test]
fn a_rotation_tells_programs_when_the_former_key_ends() {
    let (installation, id) = with_history();
    for (command, field, start) in [("rotate-api-key", "apiKey", "ak_"), ("rotate-keys", "sealingKey", "sk_")]
    {
        let rotated = |more: &[&str]| -> Value {
            let arguments = [&["partner", command, &id, "--json"], more].concat();
            serde_json::from_str(&installation.succeed(&arguments)).unwrap()
        };
        let overlapping = rotated(&[]);
        assert!(overlapping[field].as_str().unwrap().starts_with(start), "{field}");
        assert_eq!(overlapping["formerAcceptedUntil"].as_str().unwrap().len(), "DD.MM.YYYY HH:MM".len());
        assert_eq!(rotated(&["--at-once"])["formerAcceptedUntil"], Value::Null);
    }
}

#[test]
fn at_a_terminal_suspending_a_partner_needs_confirmation() {
    let (installation, id) = with_history();
    // The output of the command, its success, and the partner's status afterwards.
    let suspend = |typed: &str, more: &[&str]| {
        let (mut ours, theirs) = pseudo_terminal();
        ours.write_all(typed.as_bytes()).unwrap();
        let mut command = installation.command(&[&["partner", "suspend", &id], more].concat());
        let output = command.stdin(theirs).output().unwrap();
        let listed: Value =
            serde_json::from_str(&installation.succeed(&["partner", "list", "--json"])).unwrap();
        (stderr(&output), output.status.success(), listed[0]["status"].as_str().unwrap().to_owned())
    };
    for no in ["n\n", "\n"] {
        let (said, done, status) = suspend(no, &[]);
        assert!(said.contains("Suspend \"Test\"?") && said.contains("nothing was changed"), "{said}");
        assert_eq!((done, &*status), (false, "ACTIVE"));
    }
    let (_, done, status) = suspend("y\n", &[]);
    assert_eq!((done, &*status), (true, "SUSPENDED"));
    installation.succeed(&["partner", "resume", &id]);
    let (said, done, status) = suspend("", &["--yes"]);
    assert_eq!((&*said, done, &*status), ("", true, "SUSPENDED"));
    let ended = installation.succeed(&["partner", "end-sessions", &id]);
    assert_eq!(ended, format!("sessions of partner {id} ended: 0\n"));
}

#[test]
fn every_start_prints_where_the_reference_is() {
    let installation = Installation::new();
    for (more, is_served) in [(&[][..], true), (&[], true), (&["--docs", "false"], false)] {
        let running = installation.serve(more);
        let line = format!("API reference on {}/docs", running.base_url);
        let (shown, good) = running.stop("TERM");
        assert!(good);
        assert_eq!(shown.contains(&line), is_served, "{shown:?}");
    }
}

#[test]
fn the_demo_partner_logs_in_from_a_private_file_without_a_secret_on_the_command_line() {
    let installation = Installation::new();
    let (base_url, file, shown) = installation.first_start();
    let login = shown.iter().find_map(|line| line.strip_prefix("To log in: ")).unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&file).unwrap();
    let credentials: Value = serde_json::from_str(&text).unwrap();
    for secret in ["apiKey", "password", "sealingKey"] {
        assert!(!login.contains(credentials[secret].as_str().unwrap()), "{login}");
    }

    let again = installation.serve(&[]);
    std::fs::write(&file, text.replace(&base_url, &again.base_url)).unwrap();
    let profiles = installation.path().join("profiles.toml");
    let paste = Command::new("bash").args(["-c", login]).env("KOPECK_PROFILES", &profiles).output().unwrap();
    assert!(paste.status.success(), "{paste:?}");
    let mut balance = installation.command(&["call", "balance", "--json", "--profile", "demo"]);
    let balance = balance.env("KOPECK_PROFILES", &profiles).output().unwrap();
    let balance: Value = serde_json::from_slice(&balance.stdout).unwrap_or_else(|_| panic!("{balance:?}"));
    assert_eq!(balance["available"], 100_000_000);
}
