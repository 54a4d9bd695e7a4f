use actix_http::Request;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::http::{Method, header};
use proptest::prelude::*;

use super::*;

/// The end of the head of `bytes`, which come in pieces of `size`, and what it says of its body.
fn head_in(bytes: &[u8], size: usize) -> Option<(usize, Announced)> {
    let mut scan = HeadScan::default();
    let mut before = 0;
    for piece in bytes.chunks(size) {
        if let Some(end) = scan.end_in(piece) {
            return Some((before + end, scan.announced()));
        }
        before += piece.len();
    }
    None
}

#[test]
fn a_head_ends_with_its_empty_line() {
    use Announced::{Length, Unknown};
    for (head, announced) in [
        ("GET / HTTP/1.1\r\n\r\n", Length(0)),
        ("GET / HTTP/1.1\n\n", Length(0)),
        ("GET / HTTP/1.1\r\nhost: x\n\r\n", Length(0)),
        ("\r\n\r\n\n\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n", Length(0)),
        ("POST / HTTP/1.1\r\nContent-Length: 12\r\nhost: x\r\n\r\n", Length(12)),
        ("POST / HTTP/1.1\r\ncontent-length:12\n\n", Length(12)),
        ("POST / HTTP/1.1\r\nx-content-length: 12\r\n\r\n", Length(0)),
        ("POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\n", Unknown),
        ("POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n", Unknown),
        ("POST / HTTP/1.1\r\ncontent-length: 1, 1\r\n\r\n", Unknown),
        ("POST / HTTP/1.1\r\ncontent-length: 99999999999999999999\r\n\r\n", Unknown),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", Unknown),
        ("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n", Unknown),
        ("GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n", Unknown),
    ] {
        let more = format!("{head}GET / HTTP/1.1\r\n\r\n");
        assert_eq!(head_in(more.as_bytes(), more.len()), Some((head.len(), announced)), "{head:?}");
        for size in 1..head.len() {
            let (end, announced) = head_in(more.as_bytes(), size).unwrap();
            assert_eq!(end, head.len(), "{head:?} by {size}");
            let is_blank = head.as_bytes()[..size].iter().all(|byte| b"\r\n".contains(byte));
            assert!(is_blank || announced == Unknown, "{head:?} by {size}");
        }
        assert_eq!(head_in(&head.as_bytes()[..head.len() - 1], head.len()), None, "{head:?}");
    }
}

/// How the body of a request ends is what the parser of the dispatcher has read.
#[test]
fn a_body_is_what_the_head_says() {
    let body = |method: Method, headers: &[(HeaderName, &'static str)]| {
        let mut request = Request::new();
        request.head_mut().method = method;
        for (name, value) in headers {
            request.headers_mut().append(name.clone(), HeaderValue::from_static(value));
        }
        Body::of(request.head())
    };
    let (length, coding) = (header::CONTENT_LENGTH, header::TRANSFER_ENCODING);
    let (chunked, upgrade) = (Body::Chunked(ChunkScan::default()), header::UPGRADE);
    assert_eq!(body(Method::GET, &[]), Body::Length(0));
    assert_eq!(body(Method::POST, &[(length.clone(), "7")]), Body::Length(7));
    assert_eq!(body(Method::POST, &[(coding.clone(), "Chunked")]), chunked);
    assert_eq!(body(Method::GET, &[(upgrade.clone(), "h2c")]), Body::Length(0));
    assert_eq!(
        body(Method::GET, &[(upgrade.clone(), "h2c"), (upgrade.clone(), " WebSocket")]),
        Body::Endless
    );
    assert_eq!(body(Method::GET, &[(upgrade, "websocket"), (coding, "chunked")]), chunked);
    assert_eq!(body(Method::CONNECT, &[]), Body::Endless);
    assert_eq!(body(Method::CONNECT, &[(length, "7")]), Body::Length(7));
}

/// How many of `bytes`, which come in pieces of `size`, are part of the body that they begin.
fn chunks_in(bytes: &[u8], size: usize) -> Result<Option<usize>, Malformed> {
    let mut body = Body::Chunked(ChunkScan::default());
    let mut passed = 0;
    for piece in bytes.chunks(size) {
        passed += body.pass(piece)?;
        if body.is_over() {
            return Ok(Some(passed));
        }
    }
    Ok(None)
}

#[test]
fn a_chunked_body_ends_behind_its_last_chunk() {
    for good in [
        "0\r\n\r\n",
        "5\r\nhello\r\n0\r\n\r\n",
        "00005;a=\"b\";c\r\nhello\r\n1 \t;x\r\n!\r\n0\r\n\r\n",
        "A\r\n0\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n",
        "1\r\nx\r\n0;last\r\ndate: today\r\nx: y\r\n\r\n",
        "0\r\nx: y\r\n\r\n",
    ] {
        let more = format!("{good}GET / HTTP/1.1\r\n\r\n");
        for size in 1..=more.len() {
            assert_eq!(chunks_in(more.as_bytes(), size), Ok(Some(good.len())), "{good:?} by {size}");
        }
        assert_eq!(chunks_in(&good.as_bytes()[..good.len() - 1], good.len()), Ok(None), "{good:?}");
    }
    for bad in [
        "\r\n",
        " 5\r\nhello\r\n",
        "x\r\n",
        "5\nhello",
        "5 5\r\nhello",
        "5\r\nhello!\r\n",
        "5\r\nhello\n0",
        "5;a\n\r\n",
        "5;\x00\r\n",
        "11111111111111111\r\n",
        "0\r\n\rx",
        "0\r\nx: y\rz\r\n\r\n",
    ] {
        for size in 1..=bad.len() {
            assert_eq!(chunks_in(bad.as_bytes(), size), Err(Malformed), "{bad:?} by {size}");
        }
    }
}

proptest! {
    /// The end does not depend on how the bytes arrive.
    #[test]
    fn pieces_make_no_difference(
        sizes in prop::collection::vec(1_usize..9, 0..6),
        extension in "(;[a-z=\"]{0,5})?",
        trailer in "(x: [a-z]{0,5}\r\n){0,2}",
        by in 1_usize..40,
    ) {
        let data = |size: usize| "\r\n0x".chars().cycle().take(size).collect::<String>();
        let chunk = |size: usize| format!("{size:x}{extension}\r\n{}\r\n", data(size));
        let body = sizes.into_iter().map(chunk).collect::<String>() + "0\r\n" + &trailer + "\r\n";
        let more = body.clone() + "0\r\n\r\n";
        prop_assert_eq!(chunks_in(more.as_bytes(), by), Ok(Some(body.len())));
    }
}
