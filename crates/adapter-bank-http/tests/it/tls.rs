//! Handshakes with a bank by HTTPS.

use std::sync::Arc;

use kopeck_adapter_bank_http::{BankTls, ClientCertificate, HttpBank, PublicKeyPin};
use kopeck_port_bank::{BankError, BankGateway as _, BankKey};
use kopeck_port_system::fake::FakeClock;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use secrecy::SecretSlice;

use crate::certificates::{Authority, Certified};
use crate::test_bank::{PATIENCE, START, TestBank, address, settings};

/// A bank that shows `own`, and demands a certificate of `clients` if that is an authority.
fn bank(own: &Certified, clients: Option<&Authority>) -> TestBank {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(der(&authority.certificate())).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).unwrap();
    TestBank::serving(Some(builder.with_single_cert(vec![der(&own.certificate)], key).unwrap()))
}

fn der(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
}

fn trusting(authority: &Authority) -> BankTls {
    BankTls { authorities: Some(authority.certificate().into_bytes()), ..BankTls::default() }
}

/// The result of a query to the bank.
fn ask(url: &str, tls: BankTls) -> Result<(), BankError> {
    let clock = Arc::new(FakeClock::starting_at(START));
    let gateway = HttpBank::new(address(url, PATIENCE).with_tls(tls), &settings(), clock).unwrap();
    let verdicts = gateway.query(&[BankKey::new("unseen").unwrap()])?;
    assert_eq!(verdicts, [None]);
    Ok(())
}

fn refusal(url: &str, tls: BankTls) -> String {
    match ask(url, tls) {
        Err(BankError::Unavailable(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_private_authority_is_trusted_and_a_foreign_one_is_not() {
    let authority = Authority::new("Bank");
    let bench = bank(&authority.certify("127.0.0.1"), None);
    ask(&bench.url, trusting(&authority)).unwrap();
    let refused = refusal(&bench.url, trusting(&Authority::new("Foreign")));
    assert!(refused.contains("UnknownIssuer"), "{refused}");
    let elsewhere = bank(&authority.certify("bank.example"), None);
    let refused = refusal(&elsewhere.url, trusting(&authority));
    assert!(refused.contains("not valid for name"), "{refused}");
}

#[test]
fn a_bank_that_demands_a_client_certificate_is_shown_one() {
    let (authority, clients) = (Authority::new("Bank"), Authority::new("Clients"));
    let bench = bank(&authority.certify("127.0.0.1"), Some(&clients));
    let showing = |issuer: &Authority| {
        let Certified { certificate, key } = issuer.certify("kopeck");
        let key = SecretSlice::from(key.into_bytes());
        let client = Some(ClientCertificate { chain: certificate.into_bytes(), key });
        BankTls { client, ..trusting(&authority) }
    };
    ask(&bench.url, showing(&clients)).unwrap();
    // In TLS 1.3 the client learns of it only after it has sent the request.
    assert!(ask(&bench.url, trusting(&authority)).is_err());
    assert!(ask(&bench.url, showing(&Authority::new("Foreign"))).is_err());
    assert_eq!(bench.simulator.check().unwrap(), []);
}

#[test]
fn a_certificate_whose_public_key_is_not_pinned_is_refused() {
    let authority = Authority::new("Bank");
    let (own, other) = (authority.certify("127.0.0.1"), authority.certify("127.0.0.1"));
    let bench = bank(&own, None);
    let pin = |certified: &Certified| PublicKeyPin::of(&der(&certified.certificate)).unwrap();
    let pinned = |pins: &[PublicKeyPin]| BankTls { pins: pins.to_vec(), ..trusting(&authority) };
    ask(&bench.url, pinned(&[pin(&own)])).unwrap();
    ask(&bench.url, pinned(&[pin(&other), pin(&own)])).unwrap();
    let refused = refusal(&bench.url, pinned(&[pin(&other)]));
    assert!(refused.contains("pinned"), "{refused}");
    let foreign = BankTls { pins: vec![pin(&own)], ..trusting(&Authority::new("Foreign")) };
    assert!(refusal(&bench.url, foreign).contains("UnknownIssuer"), "a pin does not replace the authority");
}

#[test]
fn plain_http_to_another_machine_has_to_be_permitted() {
    let clock = || Arc::new(FakeClock::starting_at(START));
    let open = address("http://bank.example", PATIENCE);
    let refused = HttpBank::new(open.clone(), &settings(), clock()).err().unwrap();
    assert!(refused.to_string().contains("KOPECK_BANK_ALLOW_HTTP"), "{refused}");
    assert!(HttpBank::new(open.allow_http(), &settings(), clock()).is_ok());
}
