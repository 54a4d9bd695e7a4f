//! The API behind a real listener.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use kopeck_adapter_http::{HttpSettings, HttpState, serve};
use kopeck_domain::partner::SealingPolicy::Optional;
use kopeck_port_store::mock::{InPlaceStore, MockUnit};

use crate::support::{NONCE, TOKEN, parts, unit};

fn with_server(settings: HttpSettings, client: impl FnOnce(TcpStream) -> String + Send + 'static) -> String {
    with_server_over(unit(Optional), settings, client)
}

/// Starts the API over `unit`, lets `client` talk to it, and stops it.
pub(crate) fn with_server_over(
    unit: MockUnit,
    settings: HttpSettings,
    client: impl FnOnce(TcpStream) -> String + Send + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut parts = parts(Arc::new(InPlaceStore::new(unit)));
    parts.settings = HttpSettings { workers: 1, ..settings };
    let client = std::thread::spawn(move || {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        client(stream)
    });
    actix_web::rt::System::new().block_on(async move {
        let server = serve(listener, HttpState::new(parts)).unwrap();
        let handle = server.handle();
        let running = actix_web::rt::spawn(server);
        let told = actix_web::rt::task::spawn_blocking(move || client.join().unwrap()).await.unwrap();
        handle.stop(true).await;
        running.await.unwrap().unwrap();
        told
    })
}

/// Sends `request` and reads the status line and the body of the response.
fn ask(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut status = String::new();
    reader.read_line(&mut status).unwrap();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    format!("{} {}", status.trim_end(), String::from_utf8(body).unwrap())
}

fn head(token: &str, length: usize) -> String {
    format!(
        "POST /v1/category HTTP/1.1\r\nhost: x\r\nauthorization: {token}\r\nx-nonce: {NONCE}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    )
}

#[test]
fn a_slow_body_is_timed_out() {
    let settings = HttpSettings { body_deadline: Duration::from_millis(100), ..HttpSettings::default() };
    let answer = with_server(settings, |mut stream| ask(&mut stream, &(head(TOKEN, 10) + "{")));
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("request_timeout"), "{answer}");
}

#[test]
fn a_refusal_that_did_not_read_the_body_arrives() {
    let answer =
        with_server(HttpSettings::default(), |mut stream| ask(&mut stream, &(head("bad", 2) + "{}")));
    assert!(answer.starts_with("HTTP/1.1 401") && answer.contains("unauthorized"), "{answer}");
}

#[test]
fn a_connection_serves_many_calls() {
    let answers = with_server(HttpSettings::default(), |mut stream| {
        let mut faulty = || ask(&mut stream, &(head(TOKEN, 2) + "{}"));
        faulty() + &faulty()
    });
    assert_eq!(answers.matches("HTTP/1.1 422").count(), 2, "{answers}");
}

#[test]
fn a_body_that_is_far_too_large_is_refused_in_json() {
    let answer = with_server(HttpSettings::default(), |mut stream| {
        let chunk = "x".repeat(64 * 1024);
        ask(&mut stream, &(head(TOKEN, 100_000_000) + &chunk))
    });
    assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("payload_too_large"), "{answer}");
}
