//! Several requests of one connection, sent before the first is answered.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};

use serde_json::json;

use crate::raw_http::{connect, get, optional, post, read_all};
use crate::server::TestServer;

/// The request's id is its place.
fn numbered(number: usize, method: &str, path: &str, more: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nhost: kopeck\r\nx-request-id: {number}\r\n{more}")
}

/// The heads of what came back, each with its body.
fn responses(mut text: &str, heads: &[bool]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for is_head in heads {
        let (head, rest) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text:?}"));
        let length = head
            .to_lowercase()
            .split("content-length: ")
            .nth(1)
            .map_or(0, |rest| rest.split("\r\n").next().unwrap().parse().unwrap());
        let (body, rest) = rest.split_at(if *is_head { 0 } else { length });
        all.push((head.to_owned(), body.to_owned()));
        text = rest;
    }
    assert_eq!(text, "");
    all
}

fn send_by(stream: &mut TcpStream, bytes: &[u8], size: usize) {
    stream.set_nodelay(true).unwrap();
    for piece in bytes.chunks(size) {
        stream.write_all(piece).unwrap();
    }
}

/// Bodies of both kinds, with and without interest in them, and heads that would be wrong of the response before.
#[test]
fn pipelined_requests_are_answered_in_their_order() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let of_partner = |number: usize| {
        format!(
            "authorization: Bearer {token}\r\nx-nonce: pipelined-{number:016}\r\ncontent-type: application/json\r\n"
        )
    };
    let body = |name: &str| json!({"nameCategory": name}).to_string();
    let chunked = |text: &str| {
        let (first, second) = text.split_at(7);
        format!("7;ext=\"a\"\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\nx-trailer: 1\r\n\r\n", second.len())
    };
    let mut requests: Vec<(String, u16)> = Vec::new();
    for round in 0..3 {
        let at = |offset: usize| round * 9 + offset;
        let length = |text: &str| format!("content-length: {}\r\n\r\n{text}", text.len());
        let coding = |text: &str| format!("transfer-encoding: chunked\r\n\r\n{}", chunked(text));
        let (plain, coded) = (body(&format!("A {round}")), body(&format!("B {round}")));
        let change =
            |n: usize, rest: String| numbered(at(n), "POST", "/v1/category", &(of_partner(at(n)) + &rest));
        requests.extend([
            (numbered(at(0), "GET", "/v1/balance", &(of_partner(at(0)) + "\r\n")), 200),
            // Its body is left out, that of the response before it is not.
            (numbered(at(1), "HEAD", "/v1/balance", &(of_partner(at(1)) + "\r\n")), 200),
            (change(2, length(&plain)), 201),
            (change(3, coding(&coded)), 201),
            (numbered(at(4), "GET", "/nowhere", "\r\n"), 404),
            (numbered(at(5), "POST", "/nowhere", &coding(&coded)), 404),
            (change(6, "expect: 100-continue\r\n".to_owned() + &length(&plain)), 409),
            (numbered(at(7), "GET", "/docs/icon.svg", "\r\n"), 200),
            (numbered(at(8), "GET", "/", "\r\n\r\n"), 302),
        ]);
    }
    requests.push((numbered(27, "GET", "/nowhere", "connection: close\r\n\r\n"), 404));
    let all: String = requests.iter().map(|(text, _)| text.as_str()).collect();
    let heads: Vec<bool> = requests.iter().map(|(text, _)| text.starts_with("HEAD")).collect();
    let mut stream = connect(&server.base_url, Ipv4Addr::LOCALHOST);
    send_by(&mut stream, all.as_bytes(), all.len());
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let text = text.replace("HTTP/1.1 100 Continue\r\n\r\n", "");
    let answered = responses(&text, &heads);
    for (number, ((head, body), (_, status))) in answered.iter().zip(&requests).enumerate() {
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{number}: {head}");
        let is_own = head.contains(&format!("x-request-id: {number}\r\n")) || [7, 8].contains(&(number % 9));
        assert!(is_own, "{number}: {head}");
        assert_eq!(head.contains("connection: close"), number == 27, "{number}: {head}");
        assert_eq!(body.is_empty(), heads[number] || *status == 302, "{number}: {head}");
    }
    for size in [1, 7, 100, 1_000] {
        let again: String = requests[..9].iter().map(|(text, _)| text.as_str()).collect();
        let again = again.replace("pipelined-", &format!("again-{size}-"));
        let mut stream = connect(&server.base_url, Ipv4Addr::LOCALHOST);
        send_by(&mut stream, (again + &requests[27].0).as_bytes(), size);
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let statuses: Vec<&str> = text.split("HTTP/1.1 ").skip(1).map(|rest| &rest[..3]).collect();
        // The categories are there already.
        let expected = ["200", "200", "409", "409", "404", "404", "100", "409", "200", "302", "404"];
        assert_eq!(statuses, expected, "by {size}");
    }
}

#[test]
fn the_body_of_a_request_that_expects_100_continue_follows_the_answer() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let call = post("/v1/category", &json!({"nameCategory": "Office"})).token(&token);
    let bytes = call.with("expect", "100-continue").to_bytes();
    let at = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    let mut stream = connect(&server.base_url, Ipv4Addr::LOCALHOST);
    stream.write_all(&bytes[..at]).unwrap();
    let mut answer = [0; 25];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(&bytes[at..]).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 201"), "{text}");
}

/// HTTP/1.0 closes unless the client asks otherwise, HTTP/1.1 stays open unless it does.
#[test]
fn a_connection_is_kept_as_its_version_says() {
    let server = TestServer::start();
    for (first, answered) in [
        ("GET /nowhere HTTP/1.0\r\n\r\n", 1),
        ("GET /nowhere HTTP/1.0\r\nconnection: keep-alive\r\n\r\n", 2),
        ("GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n", 2),
        ("GET /nowhere HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", 1),
        ("\r\n\r\nGET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n\r\n", 2),
        ("GET /nowhere HTTP/1.1\nhost: x\n\n", 2),
    ] {
        let all = format!("{first}GET /nowhere HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        let text = read_all(&server.base_url, all.as_bytes());
        assert_eq!(text.matches("HTTP/1.").count(), answered, "{first:?}: {text}");
    }
}

/// No byte of a request becomes another request.
#[test]
fn bytes_behind_a_malformed_request_get_no_response() {
    let server = TestServer::start();
    let smuggled = numbered(999, "GET", "/nowhere", "connection: close\r\n\r\n");
    for malformed in [
        "POST /nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /nowhere HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n0\r\n\r\n",
        "POST /nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ncontent-length: 0\r\n\r\n",
        "POST /nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: +0\r\n\r\n",
        "POST /nowhere HTTP/1.1\r\nhost: x\r\ncontent-length : 0\r\n\r\n",
        "POST /nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: 0x1\r\n\r\n",
        "POST /nowhere HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked, identity\r\n\r\n",
        "POST /nowhere HTTP/1.1\r\nhost: x\r\ntransfer-encoding: xchunked\r\n\r\n",
        "POST /nowhere HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /nowhere HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n\r\n",
        "POST /nowhere HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
        "POST /nowhere HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\nab\n0\n\n",
        "GET /nowhere HTTP/1.1\r\n\r\n",
        "GET /nowhere HTTP/1.1\r\nhost: x\r\n folded\r\n\r\n",
        "GET /nowhere HTTP/1.1\r\nhost: x\r\nx: a\rb\r\n\r\n",
        "GET /nowhere\r\n\r\n",
    ] {
        for behind in ["", "GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n"] {
            let all = format!("{behind}{malformed}{smuggled}");
            let mut stream = connect(&server.base_url, Ipv4Addr::LOCALHOST);
            stream.write_all(all.as_bytes()).unwrap();
            let mut text = Vec::new();
            // A connection with unread bytes may end with a reset.
            let _ = stream.read_to_end(&mut text);
            let text = String::from_utf8(text).unwrap();
            assert!(!text.contains("x-request-id: 999"), "{malformed:?}: {text}");
            assert!(text.is_empty() || text.starts_with("HTTP/1.1 4"), "{malformed:?}: {text}");
        }
    }
    assert_eq!(get("/nowhere").send(&server).status, 404);
}
