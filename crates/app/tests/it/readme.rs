//! The requests of README.md, run as they stand there.

use kopeck_domain::partner::SealingPolicy;

use crate::server::TestServer;

const README: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md"));

#[test]
fn the_first_call_with_curl_adds_an_employee() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let block = README.split("```sh\n").find(|block| block.starts_with("nonce()")).unwrap();
    let (script, _) = block.split_once("```").unwrap();
    assert!(script.contains("http://127.0.0.1:8080") && script.contains("\\\"demo\\\""), "{script}");
    let script = script
        .replace("http://127.0.0.1:8080", &server.base_url)
        .replace("\\\"demo\\\"", &format!("\\\"{}\\\"", partner.login));

    let run = std::process::Command::new("bash")
        .args(["-c", &script])
        .env("KOPECK_API_KEY", &partner.api_key)
        .env("KOPECK_PASSWORD", &partner.password)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    let employee: serde_json::Value =
        serde_json::from_str(&said).unwrap_or_else(|_| panic!("{script}{said}"));
    assert!(employee["idEmployee"].is_string(), "{said}");
    assert_eq!((&employee["customId"], &employee["surname"]), (&"T-0002".into(), &"Ёжиков".into()), "{said}");
}
