//! `kopeck call` against a server, both as processes: cases beside the examples of the page.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kopeck_client::{SealingKey, SigningSecret, WebhookHeaders, WebhookVerifier};
use serde_json::{Value, json};

use crate::process::{Installation, PartnerSecrets, Running};
use crate::webhooks::receiver::Receiver;

/// A partner who has to seal, at a command line.
pub struct PartnerShell {
    installation: Installation,
    server: Option<Running>,
    partner: PartnerSecrets,
    /// Everything that was printed.
    printed: Mutex<String>,
}

impl PartnerShell {
    /// Logged in, with so many kopecks.
    pub fn open(deposit: &str) -> Self {
        let installation = Installation::new();
        let partner = installation.create_partner(&["--deposit", deposit]);
        let server = installation.serve(&["--processing-delay", "1s"]);
        let shell = Self { installation, server: Some(server), partner, printed: Mutex::default() };
        let login = shell.login(&shell.base_url());
        assert!(login.status.success(), "{login:?}");
        shell
    }

    fn base_url(&self) -> String {
        self.server.as_ref().map_or_else(String::new, |server| server.base_url.clone())
    }

    fn login(&self, base_url: &str) -> Output {
        let PartnerSecrets { api_key, login, password, sealing_key, .. } = &self.partner;
        let credentials =
            json!({"apiKey": api_key, "login": login, "password": password, "sealingKey": sealing_key});
        self.given(&["login", "--base-url", base_url, "--stdin"], &credentials.to_string())
    }

    fn profiles(&self) -> PathBuf {
        self.installation.path().join("partner/profiles.toml")
    }

    fn token(&self) -> PathBuf {
        self.installation.path().join("partner/profiles.default.token")
    }

    fn call(&self, arguments: &[&str]) -> Output {
        self.given(arguments, "")
    }

    /// With this on standard input.
    fn given(&self, arguments: &[&str], input: &str) -> Output {
        let mut command = self.installation.command(&[&["call"], arguments].concat());
        command.env("KOPECK_PROFILES", self.profiles());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A process that does not read its input may have exited already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let mut printed = self.printed.lock().unwrap();
        printed.push_str(&String::from_utf8_lossy(&output.stdout));
        printed.push_str(&String::from_utf8_lossy(&output.stderr));
        output
    }

    /// The JSON of a request that ends with this code: of standard output, or of standard error if that is all there is.
    pub fn json(&self, arguments: &[&str], code: i32) -> Value {
        let output = self.call(&[arguments, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        let said = if output.stdout.is_empty() { &output.stderr } else { &output.stdout };
        serde_json::from_slice(said).unwrap_or_else(|_| panic!("no JSON document: {output:?}"))
    }

    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.installation.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for PartnerShell {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let PartnerSecrets { api_key, password, sealing_key, .. } = &self.partner;
        let printed = self.printed.lock().unwrap();
        for secret in [api_key, password, sealing_key] {
            assert!(!printed.contains(secret.as_str()), "a secret was printed: {printed}");
        }
        assert!(!printed.contains("eyJ"), "a token was printed: {printed}");
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_file_is_imported_once_however_often_it_is_run() {
    let shell = PartnerShell::open("0.01");
    let staff = shell.file(
        "staff.csv",
        "\u{feff}customId;surname;phone;category;status\r\nT-1;Попов;0031234567;Склад;\r\nT-2;Ёжиков;;;VACATION\r\n\
         T 3;Петров2;12;Склад;\r\nT-4;Orlov;;;busy\r\nT-1;Again;;;\r\n;Nemo;;;\r\nT-5;x\r\n",
    );
    let import = |more: &[&str]| shell.json(&[&["employees", "import", &staff], more].concat(), 11);
    let told = |report: &Value| {
        let faults = report["faults"].as_array().unwrap().iter();
        faults
            .map(|fault| format!("{} {}", fault["line"], fault["field"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };
    let dry = import(&["--create-categories", "--dry-run"]);
    assert_eq!((&dry["added"], &dry["dryRun"]), (&2.into(), &true.into()), "{dry}");
    assert_eq!(dry["createdCategories"], json!(["Склад"]));
    assert_eq!(shell.json(&["employees", "list"], 0)["meta"]["total"], 0, "a dry run changes nothing");
    assert_eq!(shell.json(&["categories", "list"], 0)["meta"]["total"], 0);

    let first = import(&["--create-categories"]);
    assert_eq!((&first["added"], &first["faultyRows"]), (&2.into(), &5.into()), "{first}");
    let faults = ["4 customId", "4 surname", "4 phone", "5 status", "6 customId", "7 customId", "8 row"];
    assert_eq!(told(&first), faults);
    assert_eq!(first["faults"], dry["faults"], "a dry run knows the rules of the service");

    let second = import(&[]);
    let counts = ["added", "updated", "unchanged"].map(|name| second[name].as_i64().unwrap());
    assert_eq!((counts, told(&second).len()), ([0, 0, 2], faults.len()), "{second}");

    let changed =
        shell.file("changed.csv", "customId,surname,phone\nT-1,,0031234567\nT-2,Ёжиков,9031234567\n");
    let updated = shell.json(&["employees", "import", &changed], 0);
    assert_eq!((&updated["updated"], &updated["changes"][0]["fields"]), (&2.into(), &json!(["surname"])));
    let employee = shell.json(&["employees", "get", "T-1"], 0);
    assert_eq!(
        (&employee["surname"], &employee["phone"]),
        (&Value::Null, &"0031234567".into()),
        "{employee}"
    );
    assert_eq!(shell.json(&["employees", "import", &changed], 0)["unchanged"], 2);
}

#[test]
fn a_renamed_employee_does_not_keep_a_newcomer_out() {
    let shell = PartnerShell::open("0.01");
    let staff = shell.file("staff.csv", "customId,surname\nT-1,Orlov\n");
    assert_eq!(shell.json(&["employees", "import", &staff], 0)["added"], 1);
    shell.json(&["employees", "update", "T-1", "--custom-id", "T-old"], 0);
    assert_eq!(shell.json(&["employees", "import", &staff], 0)["added"], 1);
    assert_eq!(shell.json(&["employees", "list"], 0)["meta"]["total"], 2);
    assert_eq!(shell.json(&["employees", "import", &staff], 0)["unchanged"], 1);
}

#[test]
fn cards_are_ordered_linked_and_topped_up_from_a_file() {
    let shell = PartnerShell::open("100000.00");
    let order = shell.json(&["orders", "virtual", "2x500.00", "--wait"], 0);
    assert_eq!(order["status"], "SUCCESS");
    assert!(order["data"][0]["activationCode"].is_null(), "{order}");
    let id = order["id"].as_str().unwrap();
    let codes = shell.json(&["orders", "result", id, "--codes"], 0);
    assert!(codes["data"][0]["activationCode"].is_string(), "{codes}");
    let numbers: Vec<&str> =
        order["data"].as_array().unwrap().iter().map(|card| card["customIdCard"].as_str().unwrap()).collect();
    for (employee, number) in ["T-1", "T-2"].into_iter().zip(&numbers) {
        shell.json(&["employees", "add", employee], 0);
        shell.json(&["cards", "link", employee, number], 0);
        shell.json(&["sandbox", "activate", number], 0);
    }

    let (first, second) = (numbers[0], numbers[1]);
    let faulty = shell
        .file("faulty.csv", &format!("card;amount\n{first};150\n{second};1,00\n{second};2,00\n77;3,00\n"));
    let refused = shell.json(&["topup", "create", "--from-csv", &faulty], 11);
    let lines: Vec<_> =
        refused["error"]["faults"].as_array().unwrap().iter().map(|fault| fault["line"].clone()).collect();
    assert_eq!(lines, [2, 4, 5], "{refused}");
    assert_eq!(shell.json(&["topup", "list"], 0)["meta"]["total"], 0, "nothing was sent");

    // Kopecks that end in 13 are refused by the simulated bank.
    let partly = shell.file("partly.csv", &format!("card;amount\n{first};1 150,00\n{second};10,13\n"));
    let top_up = shell.json(&["topup", "create", "--from-csv", &partly, "--wait"], 9);
    assert_eq!(top_up["status"], "PART_SUCCESS");
    let amounts: Vec<_> =
        top_up["data"].as_array().unwrap().iter().map(|card| &card["amountReplenishment"]).collect();
    assert_eq!(amounts, [115_000, 1_013]);
    assert_eq!(shell.json(&["cards", "balance", first], 0)["balance"], 165_000);
    shell.json(&["topup", "cancel", top_up["id"].as_str().unwrap()], 6);

    let waited = shell.json(&["limits", "set", first, second, "--unlimited", "--wait=0s"], 10);
    assert_eq!(waited["status"], "NEW", "{waited}");
    let limits = shell.json(&["limits", "status", waited["id"].as_str().unwrap(), "--wait"], 0);
    assert_eq!(limits["data"].as_array().unwrap().len(), 2, "{limits}");

    // One card gives a part of its money back, the other does not have as much.
    let (part, too_much) = (format!("{first}=150.00"), format!("{second}=600.00"));
    let taken = shell.json(&["withdrawals", "create", &part, &too_much, "--wait"], 9);
    let amounts: Vec<_> =
        taken["data"].as_array().unwrap().iter().map(|card| &card["amountWithdrawn"]).collect();
    assert_eq!(amounts, [15_000, 0], "{taken}");
    let closed = shell.json(&["closings", "create", &format!("{second}=leaver"), "--wait"], 0);
    assert_eq!(closed["data"][0]["amountReturned"], 50_000, "{closed}");
    let listed = shell.json(&["withdrawals", "list"], 0);
    assert_eq!(
        (&listed["data"][0]["amount"], &listed["data"][0]["amountMoved"]),
        (&json!(75_000), &json!(15_000))
    );
    shell.json(&["closings", "result", closed["id"].as_str().unwrap()], 0);
    shell.json(&["closings", "create", &format!("{second}=other")], 6);
}

#[test]
fn one_key_is_one_call() {
    let shell = PartnerShell::open("0.01");
    let deposit = ["sandbox", "deposit", "5.00", "--idempotency-key", "wire-7"];
    for _ in 0..2 {
        assert_eq!(shell.json(&deposit, 0)["balance"], 501);
    }
    let other = shell.json(&["sandbox", "deposit", "6.00", "--idempotency-key", "wire-7"], 3);
    assert_eq!(other["error"]["faults"][0]["field"], "idempotency-key", "{other}");
}

#[test]
fn secrets_are_kept_for_their_owner_only() {
    let shell = PartnerShell::open("0.01");
    let folder = shell.profiles().parent().unwrap().to_owned();
    assert_eq!((mode(&folder), mode(&shell.profiles()), mode(&shell.token())), (0o700, 0o600, 0o600));
    for open in [0o644, 0o620, 0o601] {
        std::fs::set_permissions(shell.profiles(), std::fs::Permissions::from_mode(open)).unwrap();
        for command in [&["balance"][..], &["profiles", "list"], &["login", "--stdin"]] {
            let refused = shell.json(command, 1);
            assert!(refused["error"]["message"].as_str().unwrap().contains("chmod 600"), "{refused}");
        }
    }
    std::fs::set_permissions(shell.profiles(), std::fs::Permissions::from_mode(0o600)).unwrap();
    shell.json(&["balance"], 0);
    shell.json(&["profiles", "remove", "default"], 0);
    assert!(!shell.token().exists());
    let text = std::fs::read_to_string(shell.profiles()).unwrap();
    assert!(!text.contains(&shell.partner.password) && !text.contains(&shell.partner.sealing_key));
    shell.json(&["balance"], 1);
}

#[test]
fn a_token_serves_many_commands_and_wrong_credentials_are_reported() {
    let shell = PartnerShell::open("0.01");
    let text = std::fs::read_to_string(shell.profiles()).unwrap();
    std::fs::write(shell.profiles(), text.replace(&shell.partner.password, "wrong")).unwrap();
    shell.json(&["balance"], 0);
    let kept = std::fs::read(shell.token()).unwrap();
    shell.json(&["balance"], 0);
    assert_eq!(std::fs::read(shell.token()).unwrap(), kept, "there was no login");

    std::fs::remove_file(shell.token()).unwrap();
    let refused = shell.json(&["balance"], 5);
    assert_eq!(
        (&refused["error"]["code"], &refused["error"]["status"]),
        (&"bad_credentials".into(), &400.into())
    );

    let before = std::fs::read(shell.profiles()).unwrap();
    let wrong = json!({"apiKey": "ak", "login": "l", "password": "p"}).to_string();
    let output = shell.given(&["login", "--base-url", &shell.base_url(), "--stdin"], &wrong);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert_eq!(std::fs::read(shell.profiles()).unwrap(), before, "only what works is kept");
    assert_eq!(shell.login(&shell.base_url()).status.code(), Some(0));
    shell.json(&["balance"], 0);
}

#[test]
fn exit_codes_tell_what_happened() {
    let mut shell = PartnerShell::open("0.01");
    for (code, arguments) in [
        (2, &["topup", "create", "0f8fad5b-d9cb-469f-a165-70867728950e=150"][..]),
        (2, &["employees", "update", "T-1"]),
        (2, &["employees", "import", "/nowhere.csv"]),
        (3, &["orders", "virtual", "1x500.00"]),
        (3, &["employees", "add", "T 1"]),
        (4, &["employees", "get", "T-1"]),
        (4, &["categories", "delete", "None"]),
        (4, &["cards", "info", "0f8fad5b-d9cb-469f-a165-70867728950e"]),
        (4, &["cards", "info", "1234567890"]),
        (4, &["topup", "create", "0f8fad5b-d9cb-469f-a165-70867728950e=1.50"]),
    ] {
        let output = shell.call(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{output:?}");
    }
    // There is no terminal for a prompt.
    assert_eq!(shell.call(&["login", "--base-url", "http://127.0.0.1:9"]).status.code(), Some(2));
    let quoted = shell.given(&["login", "--stdin"], "{\"password\": hunter2}");
    assert!(!String::from_utf8_lossy(&quoted.stderr).contains("hunter2"), "{quoted:?}");
    drop(shell.server.take());
    let gone = shell.json(&["balance"], 8);
    assert_eq!(gone["error"]["kind"], "unavailable");
}

#[test]
fn errors_name_what_was_typed_and_not_what_was_sent() {
    let shell = PartnerShell::open("100000.00");
    let said = |arguments: &[&str], code: i32| {
        let output = shell.call(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    for group in ["orders", "topup", "limits", "closings", "withdrawals"] {
        for verb in ["status", "result", "cancel"] {
            let told = said(&[group, verb, "nope"], 2);
            assert!(told.contains("invalid value 'nope'") && told.contains("must be a uuid"), "{told}");
        }
    }
    let told = said(&["orders", "virtual", "1x500.00", "2x10.00"], 3);
    assert!(told.contains("\n  2x10.00: must be from 50.00 to 15 000.00 roubles\n"), "{told}");
    let programs = shell.json(&["orders", "virtual", "2x10.00"], 3);
    let fault = json!({"field": "data[0].amount", "reason": "must be from 5000 to 1500000 kopecks"});
    assert_eq!(programs["error"]["faults"][0], fault, "programs are told of kopecks");
    let address = ["--address", "", "--recipient", "Anna", "--phone", "12"];
    let told = said(&[&["orders", "plastic", "1xXYZ"], &address[..]].concat(), 3);
    for argument in ["1xXYZ", "--address", "--phone"] {
        assert!(told.contains(&format!("\n  {argument}: must ")), "{argument}: {told}");
    }
    let card = "0f8fad5b-d9cb-469f-a165-70867728950e";
    let told = said(&["topup", "create", &format!("{card}=0.00")], 3);
    assert!(told.contains(&format!("\n  {card}=0.00: must be from 0.01 to ")), "{told}");
    let told = said(&["limits", "set", card, "--amount", "0.00", "--period", "day"], 3);
    assert!(told.contains("\n  --amount: must be 0.01 roubles or more\n"), "{told}");
    let told = said(&["limits", "set", card, "--only-at", "5812,581"], 3);
    assert!(
        told.contains("\n  --only-at: must be a merchant category code NNNN or a range NNNN-NNNN\n"),
        "{told}"
    );
}

#[test]
fn every_shell_gets_its_completion() {
    let installation = Installation::embedded();
    for shell in ["bash", "zsh", "fish"] {
        let script = installation.succeed(&["completion", shell]);
        assert!(script.contains("employees") && script.contains("topup"), "{shell}");
    }
    assert!(!installation.run(&["completion", "cmd"]).status.success());
}

/// A service that accepts every login, and does not respond to any other request.
struct Mute {
    address: String,
    keys: Arc<Mutex<Vec<String>>>,
    /// The requests that are left without a response.
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Mute {
    /// Hangs up on callers, or keeps them waiting.
    fn start(keeps_waiting: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let keys = Arc::new(Mutex::new(Vec::new()));
        let (seen, open) = (Arc::clone(&keys), Arc::<Mutex<Vec<_>>>::default());
        let waiting = Arc::clone(&open);
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
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                if head.first().is_some_and(|line| line.contains("get_access_token")) {
                    let pair = r#"{"tokenType":"bearer","accessToken":"a","accessExpireAt":4000000000,"refreshToken":"r","refreshExpireAt":4000000000}"#;
                    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json";
                    write!(connection, "{head}\r\ncontent-length: {}\r\n\r\n{pair}", pair.len()).unwrap();
                } else {
                    if keeps_waiting {
                        waiting.lock().unwrap().push(connection);
                    }
                    seen.lock().unwrap().extend(header("idempotency-key").map(str::to_owned));
                }
            }
        });
        Self { address, keys, open }
    }

    /// A partner of this service, as the profile `mute`.
    fn keep(&self, shell: &PartnerShell) {
        let clear = json!({"apiKey": "ak", "login": "l", "password": "p"}).to_string();
        let login = ["login", "--profile", "mute", "--base-url", &self.address, "--stdin"];
        assert!(shell.given(&login, &clear).status.success());
    }
}

/// The second event is refused at first.
#[test]
fn events_are_forwarded_to_a_local_receiver() {
    const SECRET: &str = "whsec_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
    let shell = PartnerShell::open("0.01");
    shell.json(&["employees", "add", "E-1"], 0);
    let receiver = Receiver::start();
    receiver.answer("500 Internal Server Error");
    receiver.answer("204 No Content");
    let url = receiver.url();
    let from = ["--after", "0", "--count", "2", "--secret", SECRET];
    let output = shell.call(&[&["webhooks", "listen", "--forward-to", &url][..], &from].concat());
    assert!(output.status.success(), "{output:?}");
    let verifier = WebhookVerifier::new(SigningSecret::parse(SECRET).into_iter().collect());
    let arrived: Vec<String> = (0..3)
        .map(|_| {
            let received = receiver.next();
            let headers = WebhookHeaders::find(|name| Some(received.header(name))).unwrap();
            verifier.verify(headers, &received.body).unwrap().data.event_type().to_string()
        })
        .collect();
    assert_eq!(arrived, ["balance.deposited", "employee.created", "employee.created"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    let outcomes: Vec<&str> =
        printed.lines().skip(1).filter_map(|line| line.split(' ').next_back()).collect();
    assert!(printed.starts_with("the secret of your receiver is whsec_"), "{printed}");
    assert_eq!(outcomes, ["204", "200"]);
    let refused = shell.call(&["webhooks", "listen", "--forward-to", "https://example.com/"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");

    // Sealed, as for a webhook of this partner.
    let key = shell.partner.sealing_key.as_str();
    let sealed = ["--after", "0", "--count", "1", "--secret", SECRET, "--sealing-key", key];
    let output = shell.call(&[&["webhooks", "listen", "--forward-to", &url][..], &sealed].concat());
    assert!(output.status.success(), "{output:?}");
    let received = receiver.next();
    assert!(received.json().get("data").is_none());
    let headers = WebhookHeaders::find(|name| Some(received.header(name))).unwrap();
    let verifier = verifier.sealing_key(SealingKey::parse(key).unwrap());
    let event = verifier.verify(headers, &received.body).unwrap();
    assert_eq!(event.data.event_type().to_string(), "balance.deposited");
}

#[test]
fn an_interrupted_call_tells_its_key() {
    let shell = PartnerShell::open("0.01");
    let mute = Mute::start(true);
    mute.keep(&shell);
    let arguments = ["call", "sandbox", "deposit", "5.00", "--profile", "mute", "--json"];
    let mut command = shell.installation.command(&arguments);
    command.env("KOPECK_PROFILES", shell.profiles()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while mute.keys.lock().unwrap().is_empty() {
        assert!(Instant::now() < deadline, "the call does not come");
        std::thread::sleep(Duration::from_millis(10));
    }
    let sent = std::process::Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let told: Value = serde_json::from_slice(&output.stderr).unwrap();
    let key = mute.keys.lock().unwrap().first().cloned().unwrap();
    assert_eq!(told["error"]["idempotencyKey"], key, "{told}");
    assert_eq!(mute.open.lock().unwrap().len(), 1);
}

#[test]
fn the_key_of_a_request_without_a_response_is_reported() {
    let shell = PartnerShell::open("0.01");
    let mute = Mute::start(false);
    mute.keep(&shell);

    let deposit = ["sandbox", "deposit", "5.00", "--profile", "mute"];
    let lost = shell.json(&deposit, 8);
    let key = lost["error"]["idempotencyKey"].as_str().unwrap_or_else(|| panic!("{lost}")).to_owned();
    let sent = std::mem::take(&mut *mute.keys.lock().unwrap());
    assert!(sent.len() > 1 && sent.iter().all(|sent| *sent == key), "{sent:?}");

    let again = shell.call(&[&deposit[..], &["--idempotency-key", &key]].concat());
    let said = String::from_utf8_lossy(&again.stderr);
    assert!(said.contains(&format!("--idempotency-key {key}")), "{said}");
    assert!(mute.keys.lock().unwrap().iter().all(|sent| *sent == key));
    let read = shell.json(&["balance", "--profile", "mute"], 8);
    assert!(read["error"]["idempotencyKey"].is_null(), "a read is not repeated under a key: {read}");
}
