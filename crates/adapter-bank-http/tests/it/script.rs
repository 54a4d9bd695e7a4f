//! A TCP server that responds by a script, with HTTP or any other bytes.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

/// The reaction to a request.
pub enum Act {
    /// Sends these bytes and closes the connection.
    Say(String),
    /// Closes the connection without a byte.
    HangUp,
    /// Never responds.
    Nothing,
    /// Sends a head and then a blank now and again, for ever.
    Drip,
    /// Waits for a signal, then sends these bytes.
    Hold(Receiver<()>, String),
}

/// A running script.
pub struct Script {
    pub url: String,
    calls: Arc<Mutex<Vec<String>>>,
    arrived: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl Script {
    /// Each connection gets the next reaction after one request; after the last the server is gone.
    pub fn play(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let calls = Arc::new(Mutex::new(Vec::new()));
        let (sender, arrived) = mpsc::channel();
        let heard = Arc::clone(&calls);
        let thread = std::thread::spawn(move || run(&listener, acts, &heard, &sender));
        Self { url, calls, arrived, thread: Some(thread) }
    }

    /// Waits for one more request.
    pub fn wait_for_a_call(&self) {
        self.arrived.recv().unwrap();
    }

    /// Waits for the end of the script; returns the received requests, head and body.
    pub fn end(mut self) -> Vec<String> {
        self.thread.take().unwrap().join().unwrap();
        std::mem::take(&mut self.calls.lock().unwrap())
    }
}

fn run(listener: &TcpListener, acts: Vec<Act>, calls: &Mutex<Vec<String>>, arrived: &Sender<()>) {
    let mut connections = Vec::new();
    for act in acts {
        let (mut connection, _) = listener.accept().unwrap();
        calls.lock().unwrap().push(read_call(&mut connection));
        // In most tests there is no receiver.
        let _ = arrived.send(());
        connections.push(std::thread::spawn(move || perform(act, &connection)));
    }
    connections.into_iter().for_each(|connection| connection.join().unwrap());
}

fn perform(act: Act, mut connection: &TcpStream) {
    match act {
        // A caller may hang up when it has heard enough.
        Act::Say(text) => drop(connection.write_all(text.as_bytes())),
        Act::HangUp => {}
        Act::Nothing => wait_for_the_end(connection),
        Act::Drip => {
            connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n").unwrap();
            while connection.write_all(b" ").is_ok() {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        }
        Act::Hold(release, text) => {
            release.recv().unwrap();
            connection.write_all(text.as_bytes()).unwrap();
        }
    }
    let _ = connection.shutdown(Shutdown::Both);
}

/// Until the caller closes the connection.
fn wait_for_the_end(mut connection: &TcpStream) {
    let mut rest = Vec::new();
    let _ = connection.read_to_end(&mut rest);
}

fn read_call(connection: &mut TcpStream) -> String {
    let mut call = Vec::new();
    let mut buffer = [0; 4_096];
    loop {
        let text = String::from_utf8_lossy(&call).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.to_lowercase();
            let length = length.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text;
            }
        }
        let read = connection.read(&mut buffer).unwrap();
        assert!(read > 0, "the call breaks off: {text}");
        call.extend_from_slice(&buffer[..read]);
    }
}

/// A complete response.
pub fn answer(status: u16, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} Whatever\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

pub fn say(status: u16, body: &str) -> Act {
    Act::Say(answer(status, body))
}
