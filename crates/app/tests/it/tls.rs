//! HTTPS, by the real binary and `curl`.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::json;

use crate::process::Installation;
use crate::raw_http::fresh_nonce;

/// Writes a new pair of certificate and key.
pub fn write_pair(chain: &Path, key: &Path) {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    std::fs::write(chain, made.cert.pem()).unwrap();
    std::fs::write(key, made.signing_key.serialize_pem()).unwrap();
}

/// Sends a request by `curl` that trusts only this certificate. The response, then the version of HTTP.
fn curl(trusted: &Path, extra: &[&str], url: &str) -> Output {
    let nonce = format!("x-nonce: {}", fresh_nonce());
    let mut command = Command::new("curl");
    command.args(["-s", "-w", "\n%{http_version}", "-H", &nonce, "--cacert"]).arg(trusted);
    command.args(extra).arg(url).output().unwrap()
}

#[test]
fn calls_are_served_by_https_and_a_new_certificate_without_a_restart() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let file = |name: &str| installation.path().join(name);
    let [chain, key, first] = ["chain.pem", "key.pem", "first.pem"].map(file);
    write_pair(&chain, &key);
    std::fs::copy(&chain, &first).unwrap();
    let [chain_text, key_text] = [&chain, &key].map(|path| path.to_str().unwrap());
    let running = installation.serve(&["--tls-cert", chain_text, "--tls-key", key_text]);
    assert!(running.base_url.starts_with("https://"));

    let login = json!({"login": partner.login, "password": partner.password}).to_string();
    let api_key = format!("x-api-key: {}", partner.api_key);
    let url = format!("{}/v1/get_access_token", running.base_url);
    // The server does not speak HTTP/2, also if the client offers it.
    for flag in ["--http1.1", "--http2"] {
        let extra = [flag, "-H", &api_key, "-H", "content-type: application/json", "-d", &login];
        let output = curl(&first, &extra, &url);
        let said = String::from_utf8(output.stdout).unwrap();
        let (answer, spoken) = said.rsplit_once('\n').unwrap();
        assert_eq!(spoken, "1.1", "{said}");
        let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
        let bearer = format!("authorization: Bearer {}", answer["accessToken"].as_str().unwrap());
        let extra = [flag, "-H", &bearer, "-H", "content-type: application/json"];
        let added = [&extra[..], &["-d", r#"{"nameCategory":"Office"}"#]].concat();
        let category = curl(&first, &added, &format!("{}/v1/category", running.base_url));
        let said = String::from_utf8(category.stdout).unwrap();
        assert!(said.contains("idCategory") || said.contains("category_exists"), "{said}");
    }

    write_pair(&chain, &key);
    let patience = Instant::now() + Duration::from_secs(30);
    while !curl(&chain, &[], &running.base_url).status.success() {
        assert!(Instant::now() < patience, "the new certificate is not shown: {}", installation.log());
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!curl(&first, &[], &running.base_url).status.success(), "the old one is shown no more");
}

/// Health and metrics, with a separate certificate.
#[test]
fn the_operations_port_is_served_by_https() {
    let installation = Installation::new();
    let [chain, key, first] =
        ["chain.pem", "key.pem", "first.pem"].map(|name| installation.path().join(name));
    write_pair(&chain, &key);
    std::fs::copy(&chain, &first).unwrap();
    let [chain_text, key_text] = [&chain, &key].map(|path| path.to_str().unwrap());
    let tls = ["--operations-tls-cert", chain_text, "--operations-tls-key", key_text];
    let running = installation.serve(&[&["--operations-listen", "127.0.0.1:0"][..], &tls].concat());
    assert!(running.operations.starts_with("https://"), "{}", running.operations);
    let ready = curl(&first, &[], &format!("{}/health/ready", running.operations));
    let said = String::from_utf8(ready.stdout).unwrap();
    assert!(said.contains("\"ready\"") && said.ends_with("1.1"), "{said}");
    let (_, rest) = running.operations.split_once("://").unwrap();
    assert!(
        !curl(&first, &[], &format!("http://{rest}/health/ready")).status.success(),
        "TLS and nothing else"
    );

    write_pair(&chain, &key);
    let patience = Instant::now() + Duration::from_secs(30);
    while !curl(&chain, &[], &format!("{}/metrics", running.operations)).status.success() {
        assert!(Instant::now() < patience, "the new certificate is not shown: {}", installation.log());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A client that trusts this certificate alone and offers these protocols.
pub fn client_config(trusted: &Path, offered: &[&str]) -> rustls::ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(trusted).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = offered.iter().map(|name| name.as_bytes().to_vec()).collect();
    config
}

/// The negotiated protocol; `None` if the server refuses the handshake.
fn negotiated(base_url: &str, trusted: &Path, offered: &[&str]) -> Option<String> {
    let config = client_config(trusted, offered);
    let mut client =
        rustls::ClientConnection::new(Arc::new(config), "127.0.0.1".try_into().unwrap()).unwrap();
    let mut stream = TcpStream::connect(base_url.strip_prefix("https://").unwrap()).unwrap();
    while client.is_handshaking() {
        client.complete_io(&mut stream).ok()?;
    }
    client.alpn_protocol().map(|name| String::from_utf8(name.to_vec()).unwrap())
}

/// See ADR 25: the HTTP/2 server has no limit of streams.
#[test]
fn http_2_is_not_offered() {
    let installation = Installation::new();
    let [chain, key] = ["chain.pem", "key.pem"].map(|name| installation.path().join(name));
    write_pair(&chain, &key);
    let running =
        installation.serve(&["--tls-cert", chain.to_str().unwrap(), "--tls-key", key.to_str().unwrap()]);
    let given = |offered: &[&str]| negotiated(&running.base_url, &chain, offered);
    assert_eq!(given(&["h2", "http/1.1"]).as_deref(), Some("http/1.1"));
    assert_eq!(given(&["h2"]), None, "the handshake is refused");
}

#[test]
fn half_a_pair_and_a_pair_that_does_not_fit_are_refused_at_the_start() {
    let installation = Installation::new();
    let file = |name: &str| installation.path().join(name);
    let [chain, key, other] = ["chain.pem", "key.pem", "other.pem"].map(file);
    write_pair(&other, &key);
    write_pair(&chain, &other);
    let [chain, key] = [&chain, &key].map(|path| path.to_str().unwrap());
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    for wrong in [
        &["--tls-cert", chain][..],
        &["--tls-key", key],
        &["--tls-cert", chain, "--tls-key", key],
        &["--tls-cert", "nowhere.pem", "--tls-key", key],
    ] {
        let output = installation.run(&[&serve[..], wrong].concat());
        assert!(!output.status.success(), "{wrong:?}");
    }
}

#[test]
fn over_tls_every_response_asks_for_https_from_then_on() {
    let installation = Installation::new();
    let file = |name: &str| installation.path().join(name);
    let [chain, key] = ["chain.pem", "key.pem"].map(file);
    write_pair(&chain, &key);
    let [chain_text, key_text] = [&chain, &key].map(|path| path.to_str().unwrap());
    let https = installation.serve(&["--tls-cert", chain_text, "--tls-key", key_text]);
    let paths = ["/v1/balance", "/v1/get_access_token", "/nowhere", "/docs", "/openapi.json"];
    let head = |base_url: &str, path: &str| {
        let output = curl(&chain, &["-D", "-", "-o", "/dev/null"], &format!("{base_url}{path}"));
        String::from_utf8(output.stdout).unwrap()
    };
    for path in paths {
        let said = head(&https.base_url, path);
        assert!(
            said.contains("strict-transport-security: max-age=63072000; includeSubDomains\r\n"),
            "{path}: {said}"
        );
    }
    drop(https);
    let http = installation.serve(&[]);
    for path in paths {
        let said = head(&http.base_url, path);
        assert!(said.starts_with("HTTP/1.1") && !said.contains("strict-transport"), "{path}: {said}");
    }
}
