//! Calls as bytes on a socket: everything that a client could get wrong can be sent, and everything that comes back is
//! looked at.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use kopeck_adapter_http::FileFormat;
use kopeck_domain::partner::SealingPolicy;
use kopeck_port_system::Clock;
use kopeck_sealing::{Clear, RequestContext, ResponseContext, SealingKey, Slot, open_response, seal_request};
use serde_json::{Value, json};

use crate::server::{TestPartner, TestServer};

pub const JSON: &str = "application/json";
pub const SEALED_JSON: &str = "application/sealed+json";
pub const CSV: &str = "text/csv";

/// How long a test waits for a response before it fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// A nonce that no other request has.
pub fn fresh_nonce() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("nonce-{:020}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A request about to be sent.
#[derive(Debug, Clone)]
pub struct RawRequest {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
    pub from: Ipv4Addr,
}

impl RawRequest {
    /// With a fresh nonce and nothing else.
    pub fn new(method: &str, target: &str) -> Self {
        let call = Self {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            from: Ipv4Addr::LOCALHOST,
        };
        call.nonce(&fresh_nonce())
    }

    /// Adds a header, beside one of the same name.
    pub fn and(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// Sets a header, in place of one of the same name.
    pub fn with(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.without(name).and(name, value)
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self
    }

    pub fn nonce(self, nonce: &str) -> Self {
        self.with("x-nonce", nonce)
    }

    pub fn key(self, key: &str) -> Self {
        self.with("idempotency-key", key)
    }

    pub fn token(self, token: &str) -> Self {
        self.with("authorization", format!("Bearer {token}"))
    }

    /// A body of exactly these bytes.
    pub fn bytes(mut self, media: &str, body: impl AsRef<[u8]>) -> Self {
        self.body = body.as_ref().to_vec();
        self.with("content-type", media)
    }

    pub fn json(self, body: &Value) -> Self {
        self.bytes(JSON, body.to_string())
    }

    /// Asks for a sealed response.
    pub fn sealed_answer(self) -> Self {
        self.with("accept", SEALED_JSON)
    }

    /// Sends from another address of this machine.
    pub fn from(self, from: [u8; 4]) -> Self {
        Self { from: Ipv4Addr::from(from), ..self }
    }

    /// The nonce that it is sent with.
    pub fn its_nonce(&self) -> &str {
        let (_, value) = self.headers.iter().find(|(name, _)| name == "x-nonce").unwrap();
        std::str::from_utf8(value).unwrap()
    }

    /// Head and body.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes =
            format!("{} {} HTTP/1.1\r\nhost: kopeck\r\nconnection: close\r\n", self.method, self.target)
                .into_bytes();
        for (name, value) in &self.headers {
            bytes.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        let announced =
            self.headers.iter().any(|(name, _)| name == "transfer-encoding" || name == "content-length");
        if !self.body.is_empty() && !announced {
            bytes.extend(format!("content-length: {}\r\n", self.body.len()).into_bytes());
        }
        bytes.extend(b"\r\n");
        bytes.extend(&self.body);
        bytes
    }

    /// The response, which has what every response has.
    pub fn send(&self, server: &TestServer) -> RawResponse {
        self.send_to(&server.base_url)
    }

    pub fn send_to(&self, base_url: &str) -> RawResponse {
        let got = exchange(base_url, self.from, &self.to_bytes());
        got.check(self.method == "HEAD");
        crate::openapi::check(self, &got);
        got
    }
}

pub fn get(target: &str) -> RawRequest {
    RawRequest::new("GET", target)
}

pub fn post(target: &str, body: &Value) -> RawRequest {
    RawRequest::new("POST", target).json(body)
}

/// Sends bytes and reads until the server hangs up.
pub fn exchange(base_url: &str, from: Ipv4Addr, bytes: &[u8]) -> RawResponse {
    let mut stream = connect(base_url, from);
    // A server that has seen enough answers and hangs up; its response is what counts.
    let _ = stream.write_all(bytes);
    RawResponse::read(&mut stream)
}

/// Sends bytes and returns all that comes back until the server hangs up.
pub fn read_all(base_url: &str, bytes: &[u8]) -> String {
    let mut stream = connect(base_url, Ipv4Addr::LOCALHOST);
    stream.write_all(bytes).unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    answers
}

pub fn connect(base_url: &str, from: Ipv4Addr) -> TcpStream {
    let address: SocketAddr = base_url.strip_prefix("http://").unwrap().parse().unwrap();
    if from == Ipv4Addr::LOCALHOST {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        return stream;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from((from, 0))).unwrap();
        socket.connect(address).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawResponse {
    pub status: u16,
    /// In lower case, in the order in which they came.
    pub headers: Vec<(String, String)>,
    pub text: String,
}

impl RawResponse {
    /// Reads a response up to its end.
    pub fn read(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        if let Err(error) = read_answer(stream, &mut bytes)
            && bytes.is_empty()
        {
            panic!("no answer: {error}");
        }
        Self::parse(bytes)
    }

    /// The same; `None` if the connection ends before it.
    pub fn try_read(stream: &mut TcpStream) -> Option<Self> {
        let mut bytes = Vec::new();
        read_answer(stream, &mut bytes).ok()?;
        is_whole(&bytes).then(|| Self::parse(bytes))
    }

    fn parse(bytes: Vec<u8>) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no answer: {:?}", String::from_utf8_lossy(&bytes)));
        let head = std::str::from_utf8(&bytes[..end]).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let header = |line: &str| {
            let (name, value) = line.split_once(": ").unwrap_or((line, ""));
            (name.to_lowercase(), value.to_owned())
        };
        let mut got = Self { status, headers: lines.map(header).collect(), text: String::new() };
        let body = &bytes[end + 4..];
        let body =
            if got.header("transfer-encoding") == Some("chunked") { unchunked(body) } else { body.to_vec() };
        got.text = String::from_utf8(body).unwrap_or_else(|other| {
            let is_file =
                got.header("content-disposition").is_some_and(|value| value.starts_with("attachment; "));
            assert!(is_file, "what is no text is a file: {got:?}");
            String::from_utf8_lossy(other.as_bytes()).into_owned()
        });
        got
    }

    /// Checks the rules for every response.
    fn check(&self, head_only: bool) {
        assert_eq!(self.header("cache-control"), Some("no-store"), "{self:?}");
        assert_eq!(self.header("x-content-type-options"), Some("nosniff"), "{self:?}");
        let id = self.request_id();
        assert!((1..=64).contains(&id.len()), "{self:?}");
        let media = self.header("content-type").unwrap_or_else(|| panic!("no content-type: {self:?}"));
        let is_file = FileFormat::ALL.iter().any(|form| form.content_type() == media);
        assert!(is_file || [JSON, SEALED_JSON].contains(&media), "{self:?}");
        if head_only {
            assert_eq!(self.text, "");
            return;
        }
        // A file is sent as it is read.
        if is_file {
            assert_eq!(self.status, 200, "{self:?}");
            return;
        }
        let length: usize = self.header("content-length").unwrap().parse().unwrap();
        assert_eq!(length, self.text.len(), "{self:?}");
        let body = self.json();
        if media == SEALED_JSON {
            assert_eq!(body.as_object().unwrap().len(), 1, "{self:?}");
        } else if self.status == 422 {
            assert_faults(&body);
        } else if self.status >= 400 && body.is_object() {
            assert_eq!(body["success"], false, "{self:?}");
            let snake = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
            assert!(body["code"].as_str().unwrap().bytes().all(snake), "{self:?}");
            assert!(!body["message"].as_str().unwrap().is_empty(), "{self:?}");
            assert_eq!(body.as_object().unwrap().len(), 3, "{self:?}");
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values =
            self.headers.iter().filter(|(other, _)| other == name).map(|(_, value)| value.as_str());
        let value = values.next();
        assert_eq!(values.next(), None, "{name} is sent twice");
        value
    }

    pub fn request_id(&self) -> &str {
        self.header("x-request-id").unwrap_or_else(|| panic!("no x-request-id: {self:?}"))
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The body of a response with this status.
    pub fn ok(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        self.json()
    }

    /// The text behind `name` in a body of 2xx.
    pub fn text_of(&self, name: &str) -> String {
        assert!((200..300).contains(&self.status), "{self:?}");
        self.json()[name].as_str().unwrap_or_else(|| panic!("no {name}: {self:?}")).to_owned()
    }

    /// The faulty fields of a 422, in their order.
    pub fn fields(&self) -> String {
        assert_eq!(self.status, 422, "{self:?}");
        faulty(&self.json())
    }

    /// The status and the code.
    pub fn code(&self) -> (u16, String) {
        let body = self.json();
        let code = body["code"].as_str().or(body[0]["code"].as_str()).unwrap_or_else(|| panic!("{self:?}"));
        (self.status, code.to_owned())
    }

    /// The code, or the status as text.
    pub fn code_or_status(&self) -> String {
        format!("{} {}", self.status, self.json()["code"].as_str().unwrap_or_default())
    }

    pub fn replayed(&self) -> bool {
        match self.header("idempotent-replayed") {
            None => false,
            Some("true") => true,
            Some(other) => panic!("idempotent-replayed: {other}"),
        }
    }

    /// Everything but what tells one response from another: the time and the id of the request.
    pub fn same_but_for_its_id(&self, other: &Self) {
        let known = |got: &Self| {
            let mut headers = got.headers.clone();
            headers.retain(|(name, _)| name != "date" && name != "x-request-id");
            (got.status, headers, got.text.replace(got.request_id(), "ID"))
        };
        assert_eq!(known(self), known(other));
    }
}

/// Reads until a response is whole or the connection ends.
fn read_answer(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    let mut chunk = [0; 16 * 1024];
    while !is_whole(bytes) {
        match stream.read(&mut chunk)? {
            0 => break,
            read => bytes.extend(&chunk[..read]),
        }
    }
    Ok(())
}

/// Whether these bytes have a head and as long a body as it says. The response to a `HEAD` never has.
fn is_whole(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    length.is_some_and(|length: usize| body.len() >= length)
}

/// A body that came in chunks, without their sizes.
fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(line) = body.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&body[..line]).unwrap(), 16).unwrap();
        let (chunk, rest) = body[line + 2..].split_at(size);
        whole.extend(chunk);
        body = rest.strip_prefix(b"\r\n").unwrap();
        if size == 0 {
            return whole;
        }
    }
    panic!("the body has no end")
}

/// The faulty fields of the body of a 422.
pub fn faulty(body: &Value) -> String {
    let faults = body["data"].as_array().unwrap_or_else(|| panic!("{body}"));
    faults.iter().map(|fault| fault["field"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

fn assert_faults(body: &Value) {
    assert_eq!(body["success"], false);
    let faults = body["data"].as_array().unwrap();
    assert!(!faults.is_empty(), "{body}");
    for fault in faults {
        assert_eq!(fault["message"], "incorrect value passed", "{body}");
        assert!(!fault["field"].as_str().unwrap().is_empty(), "{body}");
        assert!(!fault["detail"].as_str().unwrap().is_empty(), "{body}");
    }
}

/// A pair of tokens.
#[derive(Debug, Clone)]
pub struct Tokens {
    pub access: String,
    pub refresh: String,
}

impl Tokens {
    pub fn of(got: &RawResponse) -> Self {
        Self { access: got.text_of("accessToken"), refresh: got.text_of("refreshToken") }
    }
}

/// The request that gives tokens, in clear.
pub fn login_call(api_key: &str, login: &str, password: &str) -> RawRequest {
    post("/v1/get_access_token", &json!({"login": login, "password": password})).with("x-api-key", api_key)
}

/// The request that exchanges a refresh token, in clear.
pub fn refresh_call(partner: &TestPartner, token: &str) -> RawRequest {
    post("/v1/get_refresh_token", &json!({"token": token})).with("x-api-key", &partner.api_key)
}

/// Logs in; the partner may have to seal.
pub fn login(server: &TestServer, partner: &TestPartner) -> Tokens {
    let call = login_call(&partner.api_key, &partner.login, &partner.password);
    Tokens::of(&seal_body(server, &partner.key, call).send(server))
}

/// A partner that need not seal, with its access token.
pub fn optional(server: &TestServer) -> (TestPartner, String) {
    let partner = server.partner(SealingPolicy::Optional, 10_000_000);
    let token = login(server, &partner).access;
    (partner, token)
}

/// A partner that has to seal, with its access token.
pub fn required(server: &TestServer) -> (TestPartner, String) {
    let partner = server.partner(SealingPolicy::Required, 10_000_000);
    let token = login(server, &partner).access;
    (partner, token)
}

pub fn now(server: &TestServer) -> u64 {
    u64::try_from(server.clock.now().unix_timestamp()).unwrap()
}

/// Bytes that are different at every request.
pub fn fresh_salt() -> [u8; 16] {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut salt = [0x5A; 16];
    salt[..8].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    salt
}

/// A place in a request to seal for.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub nonce: &'a str,
    pub slot: Slot<'a>,
}

impl Place<'_> {
    pub fn seal_beside(
        &self,
        server: &TestServer,
        key: &SealingKey,
        clear: &Clear<'_>,
        plain: &str,
    ) -> String {
        let Place { method, path, nonce, slot } = *self;
        let context = RequestContext { method, path, nonce, slot, clear };
        seal_request(key, &context, now(server), fresh_salt(), plain.as_bytes())
    }

    pub fn seal(&self, server: &TestServer, key: &SealingKey, plain: &str) -> String {
        self.seal_beside(server, key, Clear::none(), plain)
    }
}

/// The request with its whole body sealed; its target holds nothing sealed.
pub fn seal_body(server: &TestServer, key: &SealingKey, call: RawRequest) -> RawRequest {
    let path = kopeck_sealing::bound_path(&call.target).into_owned();
    let place = Place { method: &call.method, path: &path, nonce: call.its_nonce(), slot: Slot::Body };
    let sealed = place.seal(server, key, std::str::from_utf8(&call.body).unwrap());
    call.bytes(SEALED_JSON, json!({"sealed": sealed}).to_string())
}

/// The plaintext of a sealed answer to `call`.
pub fn open_answer(server: &TestServer, key: &SealingKey, call: &RawRequest, got: &RawResponse) -> String {
    assert_eq!(got.header("content-type"), Some(SEALED_JSON), "{got:?}");
    let path = kopeck_sealing::bound_path(&call.target);
    let context =
        ResponseContext { method: &call.method, path: &path, nonce: call.its_nonce(), status: got.status };
    let sealed = got.json()["sealed"].as_str().unwrap().to_owned();
    open_response(key, &context, now(server), &sealed).unwrap().to_string()
}
