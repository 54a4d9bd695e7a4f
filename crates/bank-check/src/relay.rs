//! A relay of bytes between the check and the connector, which cuts connections.
//!
//! It knows nothing of HTTP, so that it works below TLS too: a fault is armed while a connection is idle, and hits the next bytes
//! of its direction.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::random::Random;

/// What happens to the next bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The response does not arrive.
    LoseResponse,
    /// Half of the request arrives.
    BreakRequest,
}

/// Faults of a storm.
struct Weather {
    random: Random,
    /// The share of pieces that are cut, of a hundred.
    percent: u32,
}

#[derive(Default)]
struct State {
    armed: Mutex<Option<Fault>>,
    weather: Mutex<Option<Weather>>,
    cuts: AtomicU32,
    ended: AtomicBool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    ToBank,
    FromBank,
}

/// A running relay.
pub(crate) struct Relay {
    address: SocketAddr,
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    /// Relays to the bank at this host and port.
    pub(crate) fn start(bank: (String, u16)) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        let thread = std::thread::Builder::new().name("relay".to_owned()).spawn(move || {
            while let Ok((client, _)) = listener.accept() {
                if shared.ended.load(Ordering::Acquire) {
                    break;
                }
                // A bank that cannot be reached looks like a connection that breaks at once.
                if let Ok(bank) = TcpStream::connect((bank.0.as_str(), bank.1)) {
                    connect(&client, &bank, &shared);
                }
            }
        })?;
        Ok(Self { address, state, thread: Some(thread) })
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Hits the next bytes of the fault's direction, once.
    pub(crate) fn arm(&self, fault: Fault) {
        *lock(&self.state.armed) = Some(fault);
    }

    /// Whether the armed fault has not hit yet; it is disarmed.
    pub(crate) fn disarm(&self) -> bool {
        lock(&self.state.armed).take().is_some()
    }

    /// Cuts so many of a hundred pieces from now on; none with 0.
    pub(crate) fn storm(&self, seed: u64, percent: u32) {
        *lock(&self.state.weather) = Some(Weather { random: Random::new(seed), percent });
    }

    /// Connections that were cut.
    pub(crate) fn cuts(&self) -> u32 {
        self.state.cuts.load(Ordering::Relaxed)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::Release);
        // Wakes the thread; if that fails, it has ended.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Relays one connection on two threads, which end with it.
fn connect(client: &TcpStream, bank: &TcpStream, state: &Arc<State>) {
    // Small requests must not wait for more bytes.
    let _ = (client.set_nodelay(true), bank.set_nodelay(true));
    for (from, to, direction) in [(client, bank, Direction::ToBank), (bank, client, Direction::FromBank)] {
        let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) else { return };
        let state = Arc::clone(state);
        let pumped = std::thread::Builder::new().name("relay-pump".to_owned()).spawn(move || {
            // An error is the end of the connection.
            let _ = pump(&from, &to, direction, &state);
            let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
        });
        if pumped.is_err() {
            return;
        }
    }
}

fn pump(mut from: &TcpStream, mut to: &TcpStream, direction: Direction, state: &State) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let length = from.read(&mut buffer)?;
        let piece = buffer.get(..length).unwrap_or_default();
        if piece.is_empty() {
            return Ok(());
        }
        match state.fault(direction) {
            None => to.write_all(piece)?,
            Some(Fault::BreakRequest) => {
                state.cuts.fetch_add(1, Ordering::Relaxed);
                return to.write_all(piece.get(..length / 2).unwrap_or_default());
            }
            Some(Fault::LoseResponse) => {
                state.cuts.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            }
        }
    }
}

impl State {
    /// The fault that hits bytes of this direction, if any.
    fn fault(&self, direction: Direction) -> Option<Fault> {
        let of_direction = match direction {
            Direction::ToBank => Fault::BreakRequest,
            Direction::FromBank => Fault::LoseResponse,
        };
        let mut armed = lock(&self.armed);
        if *armed == Some(of_direction) {
            return armed.take();
        }
        drop(armed);
        let mut weather = lock(&self.weather);
        let Weather { random, percent } = weather.as_mut()?;
        random.percent(*percent).then_some(of_direction)
    }
}
