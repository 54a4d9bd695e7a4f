//! TLS that cannot be: named at once, and not tried again.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kopeck_client::{Client, Error, RetryPolicy};
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

/// Handles each connection with `serve`. Returns the port and the number of connections.
fn listen(serve: impl Fn(TcpStream) + Send + 'static) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, count) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
            serve(stream.unwrap());
        }
    });
    (port, count)
}

/// The error of the first request to a service at this port. The client trusts another certificate.
async fn failure(port: u16) -> Error {
    let mut stranger = rcgen::CertificateParams::new(vec!["stranger.invalid".to_owned()]).unwrap();
    // Of the same name it could have issued the service's certificate, whose signature would then be wrong.
    stranger.distinguished_name.push(rcgen::DnType::CommonName, "a stranger");
    let key = rcgen::KeyPair::generate().unwrap();
    failure_at(&format!("https://127.0.0.1:{port}"), &stranger.self_signed(&key).unwrap().pem()).await
}

/// The error of the first request to a service at this URL, of a client that trusts this certificate alone.
async fn failure_at(url: &str, authority: &str) -> Error {
    let client = Client::builder(url)
        .api_key("ak_test")
        .login("partner-1")
        .password("secret")
        .certificate_authority(authority)
        .retry(RetryPolicy::default().delays(Duration::ZERO, Duration::ZERO))
        .build()
        .unwrap();
    client.balance().await.unwrap_err()
}

#[tokio::test]
async fn a_certificate_that_is_not_accepted_is_named_at_once() {
    let own = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let (port, count) = serve_with(own.cert.der(), &own.signing_key);
    let error = failure(port).await;
    assert!(matches!(error, Error::Tls { .. }), "{error:?}");
    let said = error.to_string();
    assert!(said.contains("certificate is not accepted: no authority that this client trusts"), "{said}");
    assert!(!error.is_transient() && !error.may_have_happened());
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

/// The certificate that `openssl req -x509` makes by default.
#[tokio::test]
async fn the_certificate_of_an_authority_is_none_of_a_server() {
    let mut parameters = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let own = parameters.self_signed(&key).unwrap();
    let (port, _) = serve_with(own.der(), &key);
    let error = failure_at(&format!("https://127.0.0.1:{port}"), &own.pem()).await;
    let said = error.to_string();
    assert!(
        matches!(error, Error::Tls { .. }) && said.contains("issue one with basicConstraints=CA:FALSE"),
        "{said}"
    );
}

/// Serves TLS by this certificate.
fn serve_with(certificate: &CertificateDer<'static>, key: &KeyPair) -> (u16, Arc<AtomicUsize>) {
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let config = Arc::new(config);
    listen(move |mut stream| {
        let mut connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        // The client breaks the handshake off.
        while connection.is_handshaking() && connection.complete_io(&mut stream).is_ok() {}
    })
}

#[tokio::test]
async fn http_against_https_is_named_at_once() {
    let (port, count) = listen(|mut stream| {
        let mut head = [0; 4_096];
        let _ = stream.read(&mut head);
        // The answer of OpenSSL and rustls to plain HTTP: the alert `protocol_version`.
        let _ = stream.write_all(&[0x15, 3, 3, 0, 2, 2, 0x46]);
        // Closed with unread bytes the connection would be reset, and the alert could be lost.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let error = failure_at(&format!("http://127.0.0.1:{port}"), "").await;
    assert!(matches!(error, Error::Tls { .. }), "{error:?}");
    assert!(
        error.to_string().contains("if it speaks TLS, the base URL has to start with https://"),
        "{error}"
    );
    assert!(!error.is_transient() && !error.may_have_happened());
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn https_against_http_is_named_at_once() {
    let (port, count) = listen(|mut stream| {
        let mut hello = [0; 4_096];
        let _ = stream.read(&mut hello);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
    });
    let error = failure(port).await;
    assert!(matches!(error, Error::Tls { .. }), "{error:?}");
    let said = error.to_string();
    assert!(said.contains("does not speak TLS at this address") && said.contains("http://"), "{said}");
    assert_eq!(count.load(Ordering::SeqCst), 1);
}
