//! A receiver of webhooks: it shows what arrives, and answers what a test wants.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver as Channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long a test waits before it fails: longer than the lease of a process that was killed.
const PATIENCE: Duration = Duration::from_secs(120);

/// A received delivery.
pub struct Received {
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Received {
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        &found.unwrap_or_else(|| panic!("no header {name}")).1
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    fn read(stream: &TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream);
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            lines.push(line.to_owned());
        }
        let header =
            |line: &String| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
        let headers: Vec<_> = lines.iter().skip(1).filter_map(header).collect();
        let mut received = Self { headers, body: Vec::new() };
        let length: usize = received.header("content-length").parse().ok()?;
        received.body = vec![0; length];
        reader.read_exact(&mut received.body).ok()?;
        Some(received)
    }
}

/// An answer: a status with what follows it, and a body, or none at all.
type Answer = Option<(String, String)>;

/// The responses: the last of the list, or the default.
struct Answers {
    next: Vec<Answer>,
    others: (String, String),
}

/// Listens until the test ends.
pub struct Receiver {
    address: SocketAddr,
    arrived: Channel<Received>,
    answers: Arc<Mutex<Answers>>,
}

impl Receiver {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, arrived) = mpsc::channel();
        let answers = Answers { next: Vec::new(), others: ("200 OK".to_owned(), String::new()) };
        let answers = Arc::new(Mutex::new(answers));
        let next = Arc::clone(&answers);
        std::thread::spawn(move || {
            // Connections without a response stay open.
            let mut silent = Vec::new();
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let Some(received) = Received::read(&stream) else { continue };
                let answer = {
                    let mut answers = next.lock().unwrap();
                    answers.next.pop().unwrap_or_else(|| Some(answers.others.clone()))
                };
                match answer {
                    Some((head, body)) => {
                        let length = body.len();
                        let text = format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\n\r\n{body}");
                        stream.write_all(text.as_bytes()).unwrap();
                    }
                    None => silent.push(stream),
                }
                if sender.send(received).is_err() {
                    return;
                }
            }
        });
        Self { address, arrived, answers }
    }

    pub fn url(&self) -> String {
        format!("http://{}/hook?token=1", self.address)
    }

    /// The next delivery.
    pub fn next(&self) -> Received {
        self.arrived.recv_timeout(PATIENCE).expect("an event arrives")
    }

    /// How many have arrived that the test has not looked at.
    pub fn count(&self) -> usize {
        self.arrived.try_iter().count()
    }

    /// The next answer, in place of 200: its status, and headers.
    pub fn answer(&self, answer: &str) {
        self.answer_with(answer, "");
    }

    /// With a body.
    pub fn answer_with(&self, answer: &str, body: &str) {
        self.answers.lock().unwrap().next.push(Some((answer.to_owned(), body.to_owned())));
    }

    /// All others from now on.
    pub fn always_answer(&self, answer: &str) {
        self.answers.lock().unwrap().others.0 = answer.to_owned();
    }

    /// The next one gets none.
    pub fn answer_never(&self) {
        self.answers.lock().unwrap().next.push(None);
    }
}

/// Polls `look` until it returns a value.
pub fn once<T>(look: impl Fn() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "it does not come about");
        std::thread::sleep(Duration::from_millis(20));
    }
}
