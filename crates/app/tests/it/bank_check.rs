//! `kopeck bank-check` as a process, against the simulator as another one.

use serde_json::Value;

use crate::process::Installation;

const SECRET: &str = "correct-horse-battery";

#[test]
fn a_connector_is_checked_only_on_a_test_account() {
    let at = Installation::new();
    let bank = at.bank_simulator("127.0.0.1:0", SECRET);
    let check = |arguments: &[&str]| {
        let mut command = at.command(&["bank-check", &bank.base_url]);
        command.args(arguments).env("KOPECK_BANK_SECRET", SECRET).output().unwrap()
    };
    let refused = check(&["--only", "10"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("--test-account confirms") && said.contains("issues up to"), "{said}");

    let junit = at.path().join("junit.xml");
    let junit = junit.to_str().unwrap();
    let held = check(&["--test-account", "--only", "10-12,30", "--json", "--junit", junit]);
    let report: Value = serde_json::from_slice(&held.stdout).unwrap();
    assert_eq!(held.status.code(), Some(0), "{report}");
    let numbers: Vec<u64> =
        report["rules"].as_array().unwrap().iter().map(|rule| rule["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [10, 11, 12, 30]);
    let xml = std::fs::read_to_string(junit).unwrap();
    assert!(xml.contains("tests=\"4\" failures=\"0\""), "{xml}");
    let said = String::from_utf8(held.stderr).unwrap();
    assert!(
        !said.contains(SECRET) && !report.to_string().contains(SECRET) && !xml.contains(SECRET),
        "{said}"
    );

    let wrong = at
        .command(&["bank-check", &bank.base_url, "--test-account"])
        .env("KOPECK_BANK_SECRET", "wrong")
        .output()
        .unwrap();
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert_eq!(wrong.status.code(), Some(2), "{said}");
    assert!(said.contains("the connector refuses the secret"), "{said}");
}

#[test]
fn rules_are_listed_without_a_connector() {
    let listed = Installation::new().succeed(&["bank-check", "--list", "--only", "11"]);
    assert_eq!(listed, "11  acts_once  the same key again has the same verdict and no second effect\n");
}
