use std::io::Write as _;
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use futures_util::FutureExt as _;
use kopeck_port_webhook::AddressRefused;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use time::OffsetDateTime;

use super::*;

/// Serves one connection after the other.
fn serve(handle: impl Fn(TcpStream) + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || listener.incoming().flatten().for_each(handle));
    port
}

/// Reads the head and the body of a request, whose end is known by these tests.
fn read(mut stream: impl std::io::Read) -> String {
    let (mut text, mut chunk) = (String::new(), [0; 4_096]);
    while !text.ends_with("{}") {
        match stream.read(&mut chunk) {
            Ok(read @ 1..) => text.push_str(&String::from_utf8_lossy(&chunk[..read])),
            _ => break,
        }
    }
    text
}

fn answering(head: &'static str) -> u16 {
    serve(move |mut stream| {
        read(&stream);
        stream.write_all(head.as_bytes()).unwrap();
    })
}

/// Every name leads to these addresses, one look-up after the other; the last stays.
fn resolver(addresses: &[&str]) -> Resolver {
    let addresses: Vec<IpAddr> = addresses.iter().map(|address| address.parse().unwrap()).collect();
    let next = AtomicUsize::new(0);
    Arc::new(move |_| {
        let at = next.fetch_add(1, Ordering::Relaxed).min(addresses.len() - 1);
        let address = addresses[at];
        Box::pin(async move { vec![address] })
    })
}

fn sandbox(timeout: Duration) -> HttpWebhooks {
    let settings = WebhookSettings { is_sandbox: true, ..WebhookSettings::default() };
    HttpWebhooks::resolving(settings, &resolver(&["127.0.0.1"]), timeout, timeout).unwrap()
}

fn request(url: String) -> WebhookRequest {
    WebhookRequest {
        partner: PARTNER,
        url,
        id: "event-1".to_owned(),
        at: OffsetDateTime::from_unix_timestamp(1_770_455_100).unwrap(),
        signature: "v1,a v1,b".to_owned(),
        body: b"{}".to_vec(),
    }
}

fn answered(status: u16, body: &str) -> Attempt {
    Attempt::Answered { status, retry_after: None, body: body.as_bytes().to_vec() }
}

async fn sent_to(port: u16, timeout: Duration) -> Attempt {
    sandbox(timeout).send(request(format!("http://hook.test:{port}/"))).await
}

const PARTNER: Uuid = Uuid::from_u128(1);
const LONG: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(200);

#[tokio::test]
async fn a_delivery_has_its_headers_and_goes_to_the_address_that_was_checked() {
    let (sender, arrived) = std::sync::mpsc::channel();
    let port = serve(move |mut stream| {
        sender.send(read(&stream)).unwrap();
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
    });
    // No name server knows hook.test.
    let attempt = sandbox(LONG).send(request(format!("http://hook.test:{port}/a?b=c"))).await;
    assert_eq!(attempt, answered(204, ""));
    let text = arrived.recv().unwrap();
    assert!(text.starts_with("POST /a?b=c HTTP/1.1\r\n"), "{text}");
    for header in [
        "content-type: application/json",
        "webhook-id: event-1",
        "webhook-timestamp: 1770455100",
        "webhook-signature: v1,a v1,b",
        "connection: close",
    ] {
        assert!(text.contains(&format!("\r\n{header}\r\n")), "{header}: {text}");
    }
    assert!(text.contains("\r\nuser-agent: kopeck/"), "{text}");
}

#[tokio::test]
async fn a_redirect_is_an_answer_like_any_other() {
    let port =
        answering("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(sent_to(port, LONG).await, answered(302, ""));
}

#[tokio::test]
async fn a_body_without_end_is_not_read() {
    let port = serve(|mut stream| {
        read(&stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        while stream.write_all(b"4\r\nlong\r\n").is_ok() {}
    });
    assert_eq!(sent_to(port, LONG).await, answered(200, ""));
}

#[tokio::test]
async fn a_receiver_that_is_slow_has_no_more_than_the_time_limit() {
    let silent = serve(|stream| {
        read(&stream);
        // Open until the other side gives up.
        read(&stream);
    });
    assert_eq!(sent_to(silent, SHORT).await, Attempt::Failed(AttemptError::Timeout));
    let dripping = serve(|mut stream| while stream.write_all(b"H").is_ok() && stream.flush().is_ok() {});
    assert!(matches!(sent_to(dripping, SHORT).await, Attempt::Failed(_)));
}

#[tokio::test]
async fn a_connection_that_fails_says_how() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    assert_eq!(sent_to(closed, LONG).await, Attempt::Failed(AttemptError::Connection));
    let hanging_up = serve(|stream| drop(read(&stream)));
    assert_eq!(sent_to(hanging_up, LONG).await, Attempt::Failed(AttemptError::Broken));
}

#[tokio::test]
async fn a_name_that_leads_elsewhere_later_is_refused_then() {
    let resolver = resolver(&["8.8.8.8", "10.0.0.1"]);
    let sender = HttpWebhooks::resolving(WebhookSettings::default(), &resolver, LONG, LONG).unwrap();
    let url = "https://hook.test/";
    assert_eq!(sender.check(PARTNER, url).await, Ok(url.to_owned()));
    let refused = Attempt::Failed(AttemptError::Address(AddressRefused::Network));
    assert_eq!(sender.send(request(url.to_owned())).await, refused);
    assert_eq!(sender.check(PARTNER, url).await, Err(AddressRefused::Network.into()));
}

#[tokio::test]
async fn an_address_is_what_the_parser_understands() {
    let resolver = resolver(&["8.8.8.8"]);
    let sender = HttpWebhooks::resolving(WebhookSettings::default(), &resolver, LONG, LONG).unwrap();
    for (sent, understood) in [
        ("https://hook.test", "https://hook.test/"),
        ("HTTPS://Hook.TEST:443/A/../b?C=d", "https://hook.test/b?C=d"),
        ("https://пример.рф/путь", "https://xn--e1afmkfd.xn--p1ai/%D0%BF%D1%83%D1%82%D1%8C"),
        ("https://①.1.1.1/", "https://1.1.1.1/"),
    ] {
        assert_eq!(sender.check(PARTNER, sent).await.as_deref(), Ok(understood));
    }
}

/// The name server of a partner's names is silent.
#[tokio::test]
async fn slow_names_of_a_partner_delay_no_other() {
    let resolver: Resolver = Arc::new(|host: String| {
        Box::pin(async move {
            if host == "slow.test" {
                std::future::pending::<()>().await;
            }
            vec!["127.0.0.1".parse().unwrap()]
        })
    });
    let settings = WebhookSettings { is_sandbox: true, ..WebhookSettings::default() };
    let sender = HttpWebhooks::resolving(settings, &resolver, SHORT, LONG).unwrap();
    let slow = (0..40).map(|_| sender.check(PARTNER, "https://slow.test/"));
    let refused = futures_util::future::join_all(slow).await;
    let unknown = refused.iter().filter(|one| **one == Err(AddressRefused::UnknownHost.into())).count();
    let busy = refused.iter().filter(|one| **one == Err(CheckError::Busy)).count();
    assert_eq!((unknown, busy), (2, 38));
    let port = answering("HTTP/1.1 200 OK\r\n\r\n");
    let attempts = (0..40).map(|_| sender.send(request("http://slow.test/".to_owned())));
    let mut attempts = Box::pin(futures_util::future::join_all(attempts));
    assert!((&mut attempts).now_or_never().is_none());
    let url = format!("http://hook.test:{port}/");
    let other = Uuid::from_u128(2);
    assert_eq!(sender.check(other, &url).await.as_deref(), Ok(url.as_str()));
    assert_eq!(sender.send(WebhookRequest { partner: other, ..request(url) }).await, answered(200, ""));
    assert!((&mut attempts).now_or_never().is_none());
}

#[tokio::test]
async fn the_body_of_a_failure_is_read_within_bounds() {
    let whole = answering("HTTP/1.1 400 Bad Request\r\nContent-Length: 4\r\n\r\nnope");
    assert_eq!(sent_to(whole, LONG).await, answered(400, "nope"));
    let cut = answering("HTTP/1.1 500 Error\r\nContent-Length: 99\r\n\r\nhalf");
    assert_eq!(sent_to(cut, LONG).await, answered(500, "half"));
    let endless = serve(|mut stream| {
        read(&stream);
        let _ = stream.write_all(b"HTTP/1.1 410 Gone\r\nTransfer-Encoding: chunked\r\n\r\n");
        while stream.write_all(b"4\r\nlong\r\n").is_ok() {}
    });
    assert_eq!(sent_to(endless, LONG).await, answered(410, &"long".repeat(BODY / 4)));
    let silent = serve(|mut stream| {
        read(&stream);
        let _ = stream.write_all(b"HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\nwait");
        // Open until the other side gives up.
        read(&stream);
    });
    assert_eq!(sent_to(silent, LONG).await, answered(503, "wait"));
}

/// A certificate authority, and a server with its certificate for hook.test.
fn tls_server() -> (tempfile::NamedTempFile, u16) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["hook.test".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let chain = vec![certificate.der().clone()];
    let config = Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap());
    let port = serve(move |stream| {
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        // A client that refuses the certificate sends nothing.
        if read(&mut stream).ends_with("{}") {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
        }
    });
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(authority.pem().as_bytes()).unwrap();
    (file, port)
}

#[tokio::test]
async fn certificates_are_checked_by_the_authorities_that_are_trusted() {
    let ((own, port), (foreign, _)) = (tls_server(), tls_server());
    let sent = async |authorities: Option<PathBuf>, host: &str| {
        let settings = WebhookSettings { is_sandbox: true, authorities, ..WebhookSettings::default() };
        let sender = HttpWebhooks::resolving(settings, &resolver(&["127.0.0.1"]), LONG, LONG).unwrap();
        sender.send(request(format!("https://{host}:{port}/"))).await
    };
    let own = || Some(own.path().to_owned());
    assert_eq!(sent(own(), "hook.test").await, answered(200, ""));
    let refused = Attempt::Failed(AttemptError::Connection);
    assert_eq!(sent(own(), "other.test").await, refused);
    assert_eq!(sent(Some(foreign.path().to_owned()), "hook.test").await, refused);
    assert_eq!(sent(None, "hook.test").await, refused);
}

/// The system's authorities are found by the environment, which is that of a whole process.
#[test]
fn a_partner_may_have_an_authority_of_its_own_beside_the_systems() {
    let ((system, public), (own, private)) = (tls_server(), tls_server());
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "sender::tests::both_authorities_are_trusted"])
        .env("SSL_CERT_FILE", system.path())
        .env("TEST_AUTHORITY", own.path())
        .env("TEST_PORTS", format!("{public} {private}"))
        .status()
        .unwrap();
    assert!(status.success());
}

#[tokio::test]
#[ignore = "run in a separate process by the test above"]
async fn both_authorities_are_trusted() {
    let authorities = std::env::var_os("TEST_AUTHORITY").map(PathBuf::from);
    let settings = WebhookSettings { is_sandbox: true, authorities, ..WebhookSettings::default() };
    let sender = HttpWebhooks::resolving(settings, &resolver(&["127.0.0.1"]), LONG, LONG).unwrap();
    let ports = std::env::var("TEST_PORTS").unwrap();
    assert_eq!(ports.split(' ').count(), 2);
    for port in ports.split(' ') {
        let sent = sender.send(request(format!("https://hook.test:{port}/"))).await;
        assert_eq!(sent, answered(200, ""), "{ports}");
    }
}

#[test]
fn a_file_without_authorities_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for path in [file.path().to_owned(), PathBuf::from("/nowhere/ca.pem")] {
        let settings = WebhookSettings { authorities: Some(path), ..WebhookSettings::default() };
        assert!(matches!(HttpWebhooks::new(settings), Err(WebhookConfigError::Authorities(_))));
    }
}

#[test]
fn retry_after_is_seconds_or_a_date() {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
    let wait = |text: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, text.parse().unwrap());
        retry_after(&headers, now).map(time::Duration::whole_seconds)
    };
    assert_eq!(wait("120"), Some(120));
    assert_eq!(wait("Sun, 06 Nov 1994 08:50:37 GMT"), Some(60));
    for text in ["Sun, 06 Nov 1994 08:49:00 GMT", "-1", "soon", "99999999999999999999"] {
        assert_eq!(wait(text), None, "{text}");
    }
}
