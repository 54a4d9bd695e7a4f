//! `kopeck call` with what people paste and save: files of any keyboard, line ends of Windows, addresses in every form; and
//! with what others wrote, on a terminal.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Output, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::command_line::PartnerShell;
use crate::process::Installation;

/// A service that gives tokens, and to all else one response.
struct Service {
    base_url: String,
    /// The idempotency keys of the requests for anything else; empty of a read.
    keys: Arc<Mutex<Vec<String>>>,
}

impl Service {
    fn answering(status: &'static str, body: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let keys = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&keys);
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = connection.unwrap();
                let mut reader = BufReader::new(connection.try_clone().unwrap());
                let head: Vec<String> = reader
                    .by_ref()
                    .lines()
                    .map_while(Result::ok)
                    .take_while(|line| !line.is_empty())
                    .collect();
                let header =
                    |name: &str| head.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
                let length = header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
                reader.read_exact(&mut vec![0; length]).unwrap();
                let pair = r#"{"tokenType":"bearer","accessToken":"a","accessExpireAt":4000000000,"refreshToken":"r","refreshExpireAt":4000000000}"#;
                let (status, body) = if head.first().is_some_and(|line| line.contains("get_access_token")) {
                    ("200 OK", pair)
                } else {
                    seen.lock().unwrap().push(header("idempotency-key").unwrap_or_default().to_owned());
                    (status, body.as_str())
                };
                let head =
                    format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: application/json");
                let _ = write!(connection, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            }
        });
        Self { base_url, keys }
    }
}

/// A command line with a temporary folder, logged in at a service.
struct Terminal {
    installation: Installation,
}

impl Terminal {
    fn new() -> Self {
        Self { installation: Installation::new() }
    }

    fn run(&self, arguments: &[&str], environment: &[(&str, &str)], input: &str) -> Output {
        let mut command = self.installation.command(&[&["call"], arguments].concat());
        command.env("KOPECK_PROFILES", self.installation.path().join("profiles.toml"));
        command.envs(environment.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A process that does not read its input may have exited already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    fn logged_in_at(service: &Service) -> Self {
        let terminal = Self::new();
        let credentials = json!({"apiKey": "ak", "login": "l", "password": "p"}).to_string();
        let login = terminal.run(&["login", "--base-url", &service.base_url, "--stdin"], &[], &credentials);
        assert!(login.status.success(), "{login:?}");
        terminal
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn counts(report: &Value) -> [i64; 4] {
    ["added", "updated", "unchanged", "faultyRows"].map(|name| report[name].as_i64().unwrap())
}

#[test]
fn a_second_run_of_an_import_changes_nothing_however_letters_were_typed() {
    let shell = PartnerShell::open("0.01");
    shell.json(&["categories", "create", "Drivers"], 0);
    shell.json(&["categories", "create", "Отдел кадров"], 0);
    // `й`, `ё` and `ü` with combining marks, other letter case, a no-break space.
    let staff = shell.file(
        "staff.csv",
        "customId,surname,name,category\n\
         И\u{306}-1,Е\u{308}лкина,Mu\u{308}ller, dRIVERS \n\
         E-2,Музеи\u{306},,отдел\u{a0}Кадров\n\
         E-3,Ёлкина,,Музей\u{a0}Янв\n\
         E-4,Ёлкина,,МУЗЕИ\u{306} ЯНВ\n\
         Й-1,Again,,\n",
    );
    let import = |more: &[&str]| {
        shell.json(&[&["employees", "import", &staff, "--create-categories"], more].concat(), 11)
    };
    let dry = import(&["--dry-run"]);
    assert_eq!((counts(&dry), &dry["createdCategories"]), ([4, 0, 0, 1], &json!(["Музей Янв"])), "{dry}");
    let first = import(&[]);
    assert_eq!(
        (counts(&first), &first["createdCategories"]),
        ([4, 0, 0, 1], &json!(["Музей Янв"])),
        "{first}"
    );
    let fault =
        json!({"line": 6, "customId": "Й-1", "field": "customId", "reason": "stands in line 2 already"});
    assert_eq!(first["faults"], json!([fault]));
    for _ in 0..2 {
        let again = import(&[]);
        assert_eq!((counts(&again), &again["changes"]), ([0, 0, 4, 1], &json!([])), "{again}");
    }
    assert_eq!(shell.json(&["categories", "list"], 0)["meta"]["total"], 3);
    assert_eq!(shell.json(&["employees", "list"], 0)["meta"]["total"], 4);
}

#[test]
fn lines_of_an_old_mac_are_counted() {
    let shell = PartnerShell::open("0.01");
    let staff = shell.file("staff.csv", "customId,surname\rT-1,Popov\rT 2,Popov\r");
    let report = shell.json(&["employees", "import", &staff], 11);
    assert_eq!((counts(&report), &report["faults"][0]["line"]), ([1, 0, 0, 1], &json!(3)), "{report}");
}

#[test]
fn top_ups_may_name_people() {
    let shell = PartnerShell::open("100000.00");
    for custom_id in ["И-1", "Т-2"] {
        shell.json(&["employees", "add", custom_id], 0);
    }
    let order = shell.json(&["orders", "virtual", "1x500.00", "--wait"], 0);
    let number = order["data"][0]["customIdCard"].as_str().unwrap();
    shell.json(&["cards", "link", "И-1", number], 0);
    let file = |text: &str| shell.file("payroll.csv", text);

    let good = file("customId;amount\nИ-1;120,50\n");
    shell.json(&["topup", "create", "--from-csv", &good], 0);
    let listed = shell.json(&["topup", "list"], 0);
    assert_eq!((&listed["data"][0]["amount"], &listed["meta"]["total"]), (&json!(12_050), &json!(1)));

    let bad = file("customId,amount\nТ-2,1.00\nNemo,1.00\nИ-1,1.00\n");
    let refused = shell.json(&["topup", "create", "--from-csv", &bad], 11);
    let faults: Vec<String> = refused["error"]["faults"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| format!("{} {}", fault["line"], fault["reason"].as_str().unwrap()))
        .collect();
    assert_eq!(faults, ["2 has no main card", "3 there is no such employee"]);
    for (text, said) in [
        ("customId,card,amount\n", "one of them says who gets the money"),
        ("amount\n1.00\n", "there is no column card or customId"),
    ] {
        let refused = shell.json(&["topup", "create", "--from-csv", &file(text)], 2);
        assert!(refused["error"]["message"].as_str().unwrap().contains(said), "{refused}");
    }
    assert_eq!(shell.json(&["topup", "list"], 0)["meta"]["total"], 1, "nothing was sent");
}

#[test]
fn a_credential_pasted_with_a_line_end_is_refused_at_once_and_named() {
    let service = Service::answering("200 OK", "{}".to_owned());
    let terminal = Terminal::new();
    let good = [
        ("KOPECK_API_KEY", "ak"),
        ("KOPECK_LOGIN", "l"),
        ("KOPECK_PASSWORD", "hunter2"),
        ("KOPECK_URL", service.base_url.as_str()),
    ];
    for (name, value, said) in [
        ("KOPECK_PASSWORD", "hunter2\r", "KOPECK_PASSWORD begins or ends with a control character"),
        ("KOPECK_PASSWORD", "hunter2\n", "KOPECK_PASSWORD begins or ends with a control character"),
        ("KOPECK_LOGIN", "l\r", "KOPECK_LOGIN begins or ends with a control character"),
        ("KOPECK_LOGIN", "\u{feff}l", "KOPECK_LOGIN begins with a byte-order mark"),
        ("KOPECK_URL", "127.0.0.1:8080", "base URL: it has to start with http:// or https://"),
    ] {
        let output = terminal.run(&["login"], &[&good[..], &[(name, value)]].concat(), "");
        assert!(!output.status.success() && stderr(&output).contains(said), "{output:?}");
        assert!(!stderr(&output).contains("hunter2"), "{output:?}");
    }
    let url = format!("{}/v1\r\n", service.base_url);
    let output = terminal.run(&["login"], &[&good[..], &[("KOPECK_URL", &url)]].concat(), "");
    assert!(output.status.success(), "{output:?}");
    let listed = terminal.run(&["profiles", "list", "--json"], &[], "");
    assert!(!String::from_utf8_lossy(&listed.stdout).contains("\\r"), "{listed:?}");
    let marked = format!("\u{feff}{}", json!({"apiKey": "ak", "login": "l", "password": "p"}));
    let output = terminal.run(&["login", "--stdin", "--base-url", &service.base_url], &[], &marked);
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_dead_proxy_is_named() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let proxy = format!("http://anna:hunter2@127.0.0.1:{port}");
    let terminal = Terminal::new();
    let given = [
        ("KOPECK_API_KEY", "ak"),
        ("KOPECK_LOGIN", "l"),
        ("KOPECK_PASSWORD", "p"),
        ("KOPECK_URL", "http://kopeck.invalid"),
        ("HTTP_PROXY", &proxy),
        ("NO_PROXY", ""),
    ];
    let output = terminal.run(&["login"], &given, "");
    let said = stderr(&output);
    assert!(
        said.contains(&format!("no connection to kopeck.invalid:80 by the proxy 127.0.0.1:{port}:")),
        "{said}"
    );
    assert!(!said.contains("hunter2"), "{said}");
}

#[test]
fn a_request_that_came_too_late_is_repeated_under_its_key() {
    let late =
        json!({"success": false, "code": "request_timeout", "message": "the body did not arrive in time"});
    let service = Service::answering("408 Request Timeout", late.to_string());
    let output = Terminal::logged_in_at(&service).run(&["sandbox", "deposit", "5.00"], &[], "");
    assert_eq!(output.status.code(), Some(8), "{output:?}");
    let keys = service.keys.lock().unwrap();
    assert!(keys.len() > 1 && keys.iter().all(|key| key == &keys[0] && !key.is_empty()), "{keys:?}");
}

#[test]
fn no_text_of_a_merchant_steers_a_terminal() {
    let place = "Кафе \u{9b}31m\u{85}\u{202e}\u{2066}\u{1b}[2J";
    let event = json!({
        "id": "0f8fad5b-d9cb-469f-a165-70867728950e", "seq": 1, "type": "newer", "createdAt": "2026-02-07T09:05:00Z",
        "data": {"place": place},
    });
    let feed = json!({"data": [event], "next": 1, "oldest": 1, "newest": 1}).to_string();
    let service = Service::answering("200 OK", feed);
    let terminal = Terminal::logged_in_at(&service);
    for arguments in
        [&["events", "list"][..], &["events", "list", "--json"], &["events", "follow", "--count", "1"]]
    {
        let output = terminal.run(arguments, &[], "");
        assert!(output.status.success(), "{output:?}");
        harmless(&output.stdout);
    }
    let refused = json!({"code": "internal", "message": place}).to_string();
    let service = Service::answering("404 Not Found", refused);
    let terminal = Terminal::logged_in_at(&service);
    for arguments in [&["balance"][..], &["balance", "--json"]] {
        harmless(&terminal.run(arguments, &[], "").stderr);
    }
}

fn harmless(printed: &[u8]) {
    let text = String::from_utf8(printed.to_vec()).unwrap();
    assert!(text.contains("\\u009b31m") && text.contains("\\u202e"), "{text:?}");
    assert!(
        !text.contains(|c: char| c != '\n' && c.is_control() || "\u{202e}\u{2066}".contains(c)),
        "{text:?}"
    );
}
