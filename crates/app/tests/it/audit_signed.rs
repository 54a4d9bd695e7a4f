//! The audit log of the real binary against an intruder with the database but no key; its chain heads elsewhere, and its old
//! entries removed.

use kopeck::compose::Application;
use kopeck_audit::{Entry, Head, Record};
use kopeck_port_store::{Access, StoreError, transact};
use serde_json::json;
use time::{Duration, OffsetDateTime};

use crate::audit::{entries, lift, verify};
use crate::process::Installation;
use crate::raw_http::{login_call, post};

/// An unauthenticated request is refused, and the process ends.
fn serve_a_refusal(installation: &Installation, settings: &[&str]) {
    let running = installation.serve(settings);
    assert_eq!(login_call("ak_unknown", "unknown", "x").send_to(&running.base_url).status, 400);
    assert_eq!(post("/v1/category", &json!({})).token("bad").send_to(&running.base_url).status, 401);
    assert!(running.stop("TERM").1, "{}", installation.log());
}

fn records(application: &Application, chain: u64) -> Vec<Record> {
    let read = move |unit: &mut dyn kopeck_port_store::UnitOfWork| unit.audit().records(chain, 0, 1_000);
    transact(&*application.store, Access::Read, read).unwrap()
}

/// Bytes as both databases read them.
fn literal(bytes: &[u8]) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    if crate::database::is_on_server() { format!("'\\x{hex}'") } else { format!("x'{hex}'") }
}

#[test]
fn recomputed_hashes_are_detected() {
    let installation = Installation::new();
    for _ in 0..3 {
        installation.create_partner(&[]);
    }
    let (whole, said) = verify(&installation, &["--require-signatures"]);
    assert!(whole && said.contains("entries: 4, chains: 1"), "{said}");
    let records = records(&installation.application(), 1);
    let mut head: Head = records[0].head.clone();
    let mut statements = String::new();
    for Record { mut entry, .. } in records.into_iter().skip(1) {
        entry.source = "10.0.0.1".to_owned();
        head = head.next(&entry);
        let (number, hash) = (head.number, literal(head.hash.as_bytes()));
        statements += &format!(
            "UPDATE audit_entries SET source = '10.0.0.1', hash = {hash} WHERE chain = 1 AND number = {number};"
        );
    }
    statements += &format!("UPDATE audit_checkpoints SET hash = {};", literal(head.hash.as_bytes()));
    lift(&installation, &statements);
    let (whole, said) = verify(&installation, &[]);
    assert!(!whole && said.contains("chain 1: the signature of the mark CHECKPOINT is forged"), "{said}");
    lift(&installation, "DELETE FROM audit_checkpoints;");
    let (whole, said) = verify(&installation, &[]);
    assert!(!whole && said.contains("chain 1, entry 2: the signature is forged"), "{said}");
    lift(&installation, "UPDATE audit_entries SET signature = NULL;");
    let (whole, said) = verify(&installation, &[]);
    assert!(!whole && said.contains("chain 1, entry 1: the signature is missing"), "{said}");
    // Pruning would sign what is left.
    let pruned = installation.run(&["audit", "prune", "--before", "2020-01-01"]);
    let said = String::from_utf8(pruned.stderr).unwrap();
    assert!(!pruned.status.success() && said.contains("nothing was removed"), "{said}");
}

#[test]
fn heads_are_kept_elsewhere_and_tell_of_a_chain_that_was_cut() {
    let installation = Installation::new();
    let file = installation.path().join("heads");
    let (destination, file) = (format!("file:{}", file.display()), file.to_str().unwrap());
    installation.succeed(&["migrate", "--audit-heads", &destination]);
    serve_a_refusal(&installation, &["--audit-heads", &destination]);
    let sent = std::fs::read_to_string(file).unwrap();
    let (_, printed) = verify(&installation, &["--print-heads"]);
    for head in printed.lines() {
        assert!(sent.lines().any(|line| line.ends_with(head)), "{head} was not sent: {sent}");
    }
    let noted = ["--heads", file];
    assert!(verify(&installation, &noted).0);
    let last = printed.lines().count();
    assert!(last >= 2, "the chain of commands, and the server's: {printed}");
    lift(
        &installation,
        &format!(
            "DELETE FROM audit_entries WHERE chain = {last}; DELETE FROM audit_checkpoints WHERE chain = {last};
             DELETE FROM audit_chains WHERE chain = {last};"
        ),
    );
    assert!(verify(&installation, &[]).0, "nothing in the database tells of it");
    let (whole, said) = verify(&installation, &noted);
    assert!(
        !whole
            && said.contains(&format!("chain {last} ends before entry"))
            && said.contains("this is a restored copy, or entries were removed"),
        "{said}"
    );
}

#[test]
fn old_entries_are_pruned_and_the_rest_verifies() {
    let installation = Installation::new();
    installation.create_partner(&[]);
    let application = installation.application();
    let old = OffsetDateTime::from_unix_timestamp(1_600_000_000).unwrap();
    let write = move |unit: &mut dyn kopeck_port_store::UnitOfWork| -> Result<(), StoreError> {
        (0..6).try_for_each(|day| {
            unit.audit().append(&Entry::new(old + Duration::days(day), "127.0.0.1", "token.access"))
        })
    };
    transact(&*application.store, Access::Write, write).unwrap();
    drop(application);
    // The first is of 13.09.2020, 15:26 in the service's zone.
    let prune = |before: &str| installation.run(&["audit", "prune", "--before", before]);
    let said =
        |output: std::process::Output| String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(said(prune("2999-01-01")).contains("lies in the future"));
    assert!(said(prune("16.09.2020")).contains("entries removed: 3"));
    assert!(said(prune("2020-09-17")).contains("entries removed: 1"));
    let (whole, told) = verify(&installation, &["--require-signatures"]);
    assert!(whole && told.contains("removed by pruning: 4"), "{told}");
    assert_eq!(entries(&installation, &["--action", "token.access"]).len(), 2);
    let noted: Vec<String> = entries(&installation, &["--action", "audit.prune"])
        .iter()
        .map(|entry| format!("{} {}", entry["outcome"].as_str().unwrap(), entry["subject"].as_str().unwrap()))
        .collect();
    let [first, second] = ["before:2020-09-15T21:00:00.000000Z", "before:2020-09-16T21:00:00.000000Z"];
    let expected = [
        format!("BEGUN {first}"),
        format!("DONE {first} entries:3"),
        format!("BEGUN {second}"),
        format!("DONE {second} entries:1"),
    ];
    assert_eq!(noted, expected);

    // A missing entry is found, and then nothing is pruned.
    lift(&installation, "DELETE FROM audit_entries WHERE chain = 2 AND number = 5;");
    let (whole, told) = verify(&installation, &[]);
    assert!(!whole && told.contains("chain 2, entry 5: gone"), "{told}");
    let refused = said(prune("2020-09-18"));
    assert!(refused.contains("nothing was removed") && refused.contains("entry 5: gone"), "{refused}");
    lift(&installation, "DELETE FROM audit_checkpoints WHERE kind = 'BEGINNING';");
    assert!(verify(&installation, &[]).1.contains("chain 2, entry 1: gone"));
}

#[test]
fn a_retired_key_is_not_needed() {
    let installation = Installation::embedded();
    installation.create_partner(&[]);
    serve_a_refusal(&installation, &[]);
    installation.succeed(&["master-key", "rotate"]);
    assert!(verify(&installation, &["--require-signatures"]).0);
    installation.age_keys();
    installation.succeed(&["master-key", "retire"]);
    let (whole, said) = verify(&installation, &["--require-signatures"]);
    assert!(whole, "{said}");
    // Without a key only hashes are checked, and the output says so.
    std::fs::rename(installation.path().join("master.key"), installation.path().join("elsewhere")).unwrap();
    let (whole, said) = verify(&installation, &[]);
    assert!(whole && said.contains("signatures were not checked"), "{said}");
    assert!(!verify(&installation, &["--require-signatures"]).0);
}
