//! The audit log of the real binary: the entries of requests and commands, what they must not contain, and how tampering
//! is detected.

use kopeck_audit::KeyDigest;
use kopeck_client::NewEmployee;
use kopeck_domain::ids::PartnerId;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::process::{Installation, PartnerSecrets};
use crate::raw_http::{RawRequest, get, login_call, post};

/// The entries that fit these arguments, oldest first.
pub(crate) fn entries(installation: &Installation, filter: &[&str]) -> Vec<Value> {
    let listed = installation.succeed(&[&["audit", "list", "--json"], filter].concat());
    let mut entries: Vec<Value> =
        listed.lines().map(|line| serde_json::from_str(line).expect("nothing but JSON")).collect();
    entries.reverse();
    entries
}

/// Each entry in short.
fn in_short(entries: &[Value]) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    entries
        .iter()
        .map(|one| ["action", "outcome", "status", "code"].map(|name| text(&one[name])).join(" "))
        .collect()
}

fn of_calls(installation: &Installation) -> Vec<Value> {
    let mut entries = entries(installation, &[]);
    entries.retain(|entry| entry["actor"] != "OPERATOR");
    entries
}

pub(crate) fn verify(installation: &Installation, arguments: &[&str]) -> (bool, String) {
    let output = installation.run(&[&["audit", "verify"], arguments].concat());
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn calls_leave_their_entries_and_nothing_personal() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let running = installation.serve(&[]);
    let send = |call: RawRequest, id: &str| call.with("x-request-id", id).send_to(&running.base_url);
    let wrong = login_call(&partner.api_key, &partner.login, "hunter2-wrong");
    assert_eq!(send(wrong, "r-wrong").status, 400);
    assert_eq!(send(login_call("ak_unknown", "unknown-login", "x"), "r-unknown").status, 400);
    let access = send(login_call(&partner.api_key, &partner.login, &partner.password), "r-login")
        .text_of("accessToken");
    let employee = json!({
        "customId": "Secret-Id-1", "surname": "Тайный", "phone": "9031234567", "email": "hidden@example.com",
    });
    let add = || post("/v1/employee/add", &employee).token(&access);
    let first = add().key("a-key-of-mine");
    let id = send(first.clone(), "r-add").text_of("idEmployee");
    assert!(send(first, "r-again").replayed());
    assert_eq!(send(add(), "r-twice").fields(), "customId");
    let sealed = json!({"sealed": "s1.garbage-to-refuse"});
    assert_eq!(send(post("/v1/category", &sealed).token(&access), "r-seal").fields(), "body");
    assert_eq!(send(add().token("not-a-token"), "r-token").status, 401);
    let update = RawRequest::new("PUT", &format!("/v1/employee/{id}")).json(&json!({"phone": "9037654321"}));
    assert_eq!(send(update.token(&access), "r-update").status, 200);
    assert_eq!(send(get(&format!("/v1/employee/{id}")).token(&access), "r-get").status, 200);
    let (_, good) = running.stop("TERM");
    assert!(good, "{}", installation.log());

    let mut told = of_calls(&installation);
    told.sort_by_key(|entry| entry["at"].as_str().map(str::to_owned));
    assert_eq!(
        in_short(&told),
        [
            "token.access REFUSED 400 bad_credentials",
            "token.access REFUSED 400 bad_credentials",
            "token.access DONE 200 null",
            "employee.add DONE 200 null",
            "employee.add REPEATED 200 null",
            "employee.add REFUSED 422 incorrect_value",
            "category.create REFUSED 422 sealed_value_refused",
            "employee.add REFUSED 401 unauthorized",
            "employee.update DONE 200 null",
        ]
    );
    say_who_and_what(&told, &partner, &id);
    keeps_to_itself(&installation, &partner, &access);
    assert!(verify(&installation, &[]).0);
}

/// Checks actor and action of the entries of [`calls_leave_their_entries_and_nothing_personal`].
fn say_who_and_what(told: &[Value], partner: &PartnerSecrets, id: &str) {
    let entry = |id: &str| told.iter().find(|entry| entry["callerRequestId"] == id).unwrap();
    let added = entry("r-add");
    assert_eq!((&added["actor"], &added["partnerId"]), (&json!("PARTNER"), &json!(partner.id)));
    assert_eq!(
        (&added["source"], &added["subject"]),
        (&json!("127.0.0.1"), &json!(format!("employee:{id}")))
    );
    assert_eq!(added["credential"], entry("r-login")["credential"]);
    assert_eq!(entry("r-update")["subject"], added["subject"]);
    let key = KeyDigest::of(PartnerId::new(Uuid::parse_str(&partner.id).unwrap()), "a-key-of-mine");
    assert_eq!(added["keyDigest"], json!(key.to_string()));
    assert_eq!(added["keyDigest"], entry("r-again")["keyDigest"]);
    // An API key proves nothing.
    let claimed = entry("r-wrong");
    assert_eq!((&claimed["actor"], &claimed["partnerId"]), (&json!("UNKNOWN"), &json!(partner.id)));
    assert_eq!(entry("r-unknown")["partnerId"], Value::Null);
}

/// The log has no secrets and no personal data.
fn keeps_to_itself(installation: &Installation, partner: &PartnerSecrets, access: &str) {
    let sent = [
        "hunter2-wrong",
        "unknown-login",
        "ak_unknown",
        "Secret-Id-1",
        "Тайный",
        "9031234567",
        "9037654321",
        "hidden@example.com",
        "garbage-to-refuse",
        "a-key-of-mine",
        "not-a-token",
    ];
    let all = installation.succeed(&["audit", "list", "--json"]) + &installation.succeed(&["audit", "list"]);
    let own = [&*partner.api_key, &partner.password, &partner.sealing_key, &partner.login, access];
    for secret in own.iter().chain(&sent) {
        assert!(!all.contains(secret), "{secret} stands in the audit log: {all}");
    }
}

/// A flood from one address hides no other client: entries over its budget are counted, and none is lost.
#[test]
fn junk_from_one_address_hides_no_other_entry() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let running = installation.serve(&[]);
    let junk = json!({"token": "junk"});
    for _ in 0..125 {
        post("/v1/get_refresh_token", &junk).with("x-api-key", "ak_unknown").send_to(&running.base_url);
    }
    for _ in 0..6 {
        let wrong = login_call(&partner.api_key, &partner.login, "wrong").from([127, 0, 0, 2]);
        assert_eq!(wrong.send_to(&running.base_url).status, 400);
    }
    assert!(running.stop("TERM").1, "{}", installation.log());
    let told = of_calls(&installation);
    let of = |action: &str| told.iter().filter(|entry| entry["action"] == action).collect::<Vec<_>>();
    let logins = of("token.access");
    assert_eq!(logins.len(), 6);
    assert!(logins.iter().all(|entry| entry["source"] == "127.0.0.2" && entry["partnerId"] == *partner.id));
    let summaries = of("audit.summary");
    assert!(
        !summaries.is_empty() && summaries.iter().all(|entry| entry["source"] == "127.0.0.1"),
        "{told:?}"
    );
    let more = |entry: &&Value| entry["subject"].as_str().unwrap()["more:".len()..].parse::<usize>().unwrap();
    assert_eq!(of("token.refresh").len() + summaries.iter().map(more).sum::<usize>(), 125);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sealed_call_says_so() {
    let installation = Installation::new();
    let partner = installation.create_partner(&[]);
    let running = installation.serve(&[]);
    let client = running.client(&partner);
    client.employees().add(&NewEmployee::new("E-1")).await.unwrap();
    assert!(running.stop("TERM").1);
    let told = of_calls(&installation);
    assert_eq!(in_short(&told), ["token.access DONE 200 null", "employee.add DONE 200 null"]);
    assert!(told.iter().all(|entry| entry["sealed"] == json!(true)), "{told:?}");
}

#[test]
fn each_sent_response_is_in_the_log_though_the_process_is_killed() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let mut running = installation.serve(&[]);
    let login = login_call(&partner.api_key, &partner.login, &partner.password).send_to(&running.base_url);
    let access = login.text_of("accessToken");
    for number in 0..20 {
        let employee = json!({"customId": format!("E-{number}")});
        let added = post("/v1/employee/add", &employee).token(&access).send_to(&running.base_url);
        assert_eq!(added.status, 200);
    }
    running.kill();
    let added = entries(&installation, &["--action", "employee.add", "--outcome", "done"]);
    assert_eq!(added.len(), 20);
    let (whole, said) = verify(&installation, &[]);
    assert!(whole, "{said}");
}

#[test]
fn commands_leave_their_entries() {
    let installation = Installation::embedded();
    let partner = installation.create_partner(&["--login", "acme", "--deposit", "50.00"]);
    let of_partner = |command: &'static str| ["partner", command, partner.id.as_str()];
    for command in ["suspend", "resume", "end-sessions", "rotate-keys", "rotate-api-key"] {
        installation.succeed(&of_partner(command));
    }
    for _ in 0..2 {
        let reference = ["7.00", "--reference", "wire-1"];
        installation.succeed(&[&of_partner("deposit")[..], &reference].concat());
    }
    assert!(
        !installation.run(&["partner", "suspend", "00000000-0000-0000-0000-000000000001"]).status.success()
    );
    installation.succeed(&["master-key", "rotate"]);
    installation.age_keys();
    installation.succeed(&["master-key", "retire"]);
    assert!(!installation.run(&["requests", "settle", &partner.id, "--as", "applied"]).status.success());
    installation.succeed(&["partner", "list"]);

    let told = entries(&installation, &[]);
    assert_eq!(
        in_short(&told),
        [
            "database.migrate DONE null null",
            "partner.create DONE null null",
            "partner.suspend DONE null null",
            "partner.resume DONE null null",
            "partner.end_sessions DONE null null",
            "partner.rotate_keys DONE null null",
            "partner.rotate_api_key DONE null null",
            "partner.deposit DONE null null",
            "partner.deposit REPEATED null null",
            "partner.suspend REFUSED null null",
            "master_key.rotate BEGUN null null",
            "master_key.rotate DONE null null",
            "master_key.retire BEGUN null null",
            "master_key.retire DONE null null",
            "requests.settle REFUSED null null",
        ]
    );
    assert!(told.iter().all(|entry| entry["actor"] == "OPERATOR" && entry["operator"] != ""), "{told:?}");
    assert_eq!(told[1]["partnerId"], json!(partner.id));
    let (whole, said) = verify(&installation, &[]);
    assert!(whole && said.contains("entries: 15"), "{said}");

    assert_eq!(entries(&installation, &["--partner", &partner.id, "--outcome", "repeated"]).len(), 1);
    assert_eq!(entries(&installation, &["--limit", "2"]).len(), 2);
    assert_eq!(entries(&installation, &["--since", "01.01.2020", "--until", "02.01.2020 10:00"]).len(), 0);
    for wrong in [&["--since", "yesterday"][..], &["--outcome", "maybe"], &["--limit", "0"]] {
        assert!(!installation.run(&[&["audit", "list"], wrong].concat()).status.success(), "{wrong:?}");
    }
}

/// Lifts what keeps the log from being changed, as only the owner of the database can.
pub(crate) fn lift(installation: &Installation, statements: &str) {
    let on_a_server = crate::database::is_on_server();
    let lift = if on_a_server {
        "DROP TRIGGER IF EXISTS audit_entries_append_only ON audit_entries;
         DROP TRIGGER IF EXISTS audit_entries_pruned ON audit_entries;
         DROP TRIGGER IF EXISTS audit_chains_append_only ON audit_chains;
         DROP TRIGGER IF EXISTS audit_checkpoints_append_only ON audit_checkpoints;"
    } else {
        "DROP TRIGGER IF EXISTS audit_entries_no_update; DROP TRIGGER IF EXISTS audit_entries_no_delete;
         DROP TRIGGER IF EXISTS audit_chains_no_delete; DROP TRIGGER IF EXISTS audit_checkpoints_no_delete;"
    };
    installation.tamper(&format!("{lift} {statements}"));
}

#[test]
fn a_log_that_was_tampered_with_is_detected() {
    let installation = Installation::new();
    for _ in 0..3 {
        installation.create_partner(&[]);
    }
    let (whole, heads) = verify(&installation, &["--print-heads"]);
    // The migration and three partners.
    assert!(whole && heads.starts_with("1:4:") && heads.lines().count() == 1, "{heads}");
    let file = installation.path().join("heads");
    std::fs::write(&file, format!("# noted\n{heads}")).unwrap();
    let noted = ["--heads", file.to_str().unwrap()];
    assert!(verify(&installation, &noted).0);

    // Cut off at the end: found out by the checkpoint, and by the heads that were noted.
    lift(
        &installation,
        "CREATE TABLE aside AS SELECT * FROM audit_entries WHERE number = 4;
         DELETE FROM audit_entries WHERE number = 4;",
    );
    for arguments in [&[][..], &noted, &["--head", heads.trim()]] {
        let (whole, said) = verify(&installation, arguments);
        assert!(
            !whole
                && said.contains(
                    "chain 1 ends before entry 4, which its checkpoint names: entries were removed"
                ),
            "{said}"
        );
    }
    // Commands do not cover it up.
    installation.create_partner(&[]);
    let (whole, said) = verify(&installation, &[]);
    assert!(
        !whole
            && said.contains("chain 1 ends before entry 4, which its checkpoint names: entries were removed"),
        "{said}"
    );
    lift(&installation, "INSERT INTO audit_entries SELECT * FROM aside;");
    assert!(verify(&installation, &noted).0);

    lift(&installation, "UPDATE audit_entries SET source = 'elsewhere' WHERE chain = 1 AND number = 1;");
    let (whole, said) = verify(&installation, &[]);
    assert!(!whole && said.contains("chain 1, entry 1: changed"), "{said}");
    assert!(!installation.run(&["audit", "verify", "--head", "nonsense"]).status.success());
}
