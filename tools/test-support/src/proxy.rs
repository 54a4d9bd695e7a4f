//! A TCP proxy that injects faults: it cuts connections, refuses them, delays every byte, or stops forwarding.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes that are read at a time.
const CHUNK: usize = 16 * 1024;
/// Chunks that a delayed connection may have in flight.
const IN_FLIGHT: usize = 64;

/// A port of this machine whose connections lead to a server. The server may move.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// The address of a server.
#[derive(Debug, Clone)]
pub enum Target {
    /// A host and port.
    Tcp(String),
    /// A socket in the file system.
    Socket(PathBuf),
}

#[derive(Default)]
struct Shared {
    state: Mutex<ProxyState>,
    changed: Condvar,
}

#[derive(Default)]
struct ProxyState {
    target: Option<Target>,
    refuses: bool,
    closed: bool,
    /// The delay of new connections, in each direction.
    delay: Duration,
    /// Connections with a lower number forward nothing.
    frozen_below: u64,
    /// The number of the next connection.
    next: u64,
    connections: HashMap<u64, [Box<dyn Stream>; 2]>,
}

/// A connection to either kind of target.
trait Stream: Read + Write + Send {
    fn duplicate(&self) -> io::Result<Box<dyn Stream>>;

    fn close(&self, how: Shutdown);
}

impl Proxy {
    /// A proxy without a target: it ends new connections at once.
    ///
    /// # Errors
    /// If there is no free port or thread.
    pub fn open() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let (address, shared) = (listener.local_addr()?, Arc::<Shared>::default());
        let accepting = Arc::clone(&shared);
        thread::Builder::new().spawn(move || accepting.accept(&listener))?;
        Ok(Self { address, shared })
    }

    /// A proxy to the PostgreSQL database of this URL, and the URL that leads through it.
    ///
    /// # Errors
    /// The errors of [`Self::open`], or if the URL has no database.
    pub fn to_database(url: &str) -> io::Result<(Self, String)> {
        let invalid = || io::Error::new(io::ErrorKind::InvalidInput, "no URL of a database");
        let (_, rest) = url.split_once("://").ok_or_else(invalid)?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = place.split_once('/').ok_or_else(invalid)?;
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let socket = query.split('&').find_map(|pair| pair.strip_prefix("host="));
        let target = match socket {
            Some(folder) => Target::Socket(format!("{}/.s.PGSQL.5432", folder.replace("%2F", "/")).into()),
            None if host.contains(':') => Target::Tcp(host.to_owned()),
            None => Target::Tcp(format!("{host}:5432")),
        };
        let proxy = Self::open()?;
        proxy.lead_to(target);
        let url = format!("postgres://{user}@{}/{database}", proxy.address);
        Ok((proxy, url))
    }

    /// The address at which it listens for its whole life.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets the target of new connections.
    pub fn lead_to(&self, target: Target) {
        self.shared.lock().target = Some(target);
    }

    /// Ends every connection. New ones can be made.
    pub fn cut(&self) {
        self.shared.lock().connections.values().flatten().for_each(|end| end.close(Shutdown::Both));
    }

    /// Ends every new connection at once, or no longer.
    pub fn refuse(&self, refuses: bool) {
        self.shared.lock().refuses = refuses;
    }

    /// Delays every byte of new connections, in each direction. It is latency and costs no throughput: bytes in flight do
    /// not wait for each other.
    pub fn delay(&self, delay: Duration) {
        self.shared.lock().delay = delay;
    }

    /// Stops forwarding. Connections stay open, and new ones are accepted.
    pub fn freeze(&self) {
        self.shared.lock().frozen_below = u64::MAX;
    }

    /// Resumes forwarding. Nothing was lost.
    pub fn thaw(&self) {
        self.shared.lock().frozen_below = 0;
        self.shared.changed.notify_all();
    }

    /// Forwards new connections. The present ones stay open and frozen for ever.
    pub fn thaw_new_ones_only(&self) {
        let mut state = self.shared.lock();
        state.frozen_below = state.next;
        self.shared.changed.notify_all();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
        self.cut();
        // Wakes the thread that accepts. If that fails, the thread ends with the process.
        drop(TcpStream::connect(self.address));
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, ProxyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        while let Ok((near, _)) = listener.accept() {
            let target = {
                let state = self.lock();
                if state.closed {
                    return;
                }
                state.target.clone().filter(|_| !state.refuses)
            };
            if let Some(target) = target {
                let shared = Arc::clone(self);
                // A target that cannot be reached ends the connection.
                thread::spawn(move || shared.forward(near, &target));
            }
        }
    }

    /// Forwards one connection until both sides have ended.
    fn forward(&self, near: TcpStream, target: &Target) -> io::Result<()> {
        // Without it small messages would wait for each other.
        near.set_nodelay(true)?;
        let far: Box<dyn Stream> = match target {
            Target::Tcp(address) => {
                let far = TcpStream::connect(address)?;
                far.set_nodelay(true)?;
                Box::new(far)
            }
            Target::Socket(path) => Box::new(UnixStream::connect(path)?),
        };
        let near: Box<dyn Stream> = Box::new(near);
        let (from_near, to_far) = (near.duplicate()?, far.duplicate()?);
        let ends = [near.duplicate()?, far.duplicate()?];
        let (number, delay) = {
            let mut state = self.lock();
            let number = state.next;
            state.next += 1;
            state.connections.insert(number, ends);
            (number, state.delay)
        };
        thread::scope(|scope| {
            scope.spawn(|| self.pump(number, delay, from_near, to_far));
            self.pump(number, delay, far, near);
        });
        self.lock().connections.remove(&number);
        Ok(())
    }

    /// Copies from one side to the other until the first ends, and while the connection is not frozen.
    fn pump(&self, number: u64, delay: Duration, from: Box<dyn Stream>, mut to: Box<dyn Stream>) {
        let Ok(reader) = from.duplicate() else { return to.close(Shutdown::Both) };
        let until_thawed = || {
            let is_frozen = |state: &mut ProxyState| number < state.frozen_below && !state.closed;
            drop(self.changed.wait_while(self.lock(), is_frozen));
        };
        // Without a delay no chunk is read ahead, so that a frozen connection pushes back.
        let (sender, receiver) = sync_channel(if delay.is_zero() { 0 } else { IN_FLIGHT });
        thread::scope(|scope| {
            scope.spawn(move || read_all(reader, &sender, delay));
            for (due, bytes) in receiver {
                thread::sleep(due.saturating_duration_since(Instant::now()));
                until_thawed();
                if to.write_all(&bytes).is_err() {
                    return from.close(Shutdown::Both);
                }
            }
            until_thawed();
            to.close(Shutdown::Write);
        });
    }
}

/// Reads to the end, and stamps each chunk with the time at which it is due on the other side.
fn read_all(mut from: Box<dyn Stream>, sender: &SyncSender<(Instant, Vec<u8>)>, delay: Duration) {
    let mut buffer = vec![0; CHUNK];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let bytes = buffer.get(..count).unwrap_or_default().to_vec();
        if sender.send((Instant::now() + delay, bytes)).is_err() {
            return;
        }
    }
}

impl Stream for TcpStream {
    fn duplicate(&self) -> io::Result<Box<dyn Stream>> {
        Ok(Box::new(self.try_clone()?))
    }

    fn close(&self, how: Shutdown) {
        // The peer may have ended it already.
        let _ = self.shutdown(how);
    }
}

impl Stream for UnixStream {
    fn duplicate(&self) -> io::Result<Box<dyn Stream>> {
        Ok(Box::new(self.try_clone()?))
    }

    fn close(&self, how: Shutdown) {
        let _ = self.shutdown(how);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A proxy to a server that sends back what it receives.
    fn echo() -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Proxy::open().unwrap();
        proxy.lead_to(Target::Tcp(listener.local_addr().unwrap().to_string()));
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                thread::spawn(move || io::copy(&mut &stream, &mut &stream));
            }
        });
        proxy
    }

    fn connect(proxy: &Proxy) -> TcpStream {
        TcpStream::connect(proxy.address()).unwrap()
    }

    fn echoed(stream: &mut TcpStream) -> io::Result<[u8; 1]> {
        let mut byte = [0];
        stream.write_all(&[7])?;
        stream.read_exact(&mut byte)?;
        Ok(byte)
    }

    #[test]
    fn a_cut_ends_connections_and_lets_new_ones_through() {
        let proxy = echo();
        let mut old = connect(&proxy);
        assert_eq!(echoed(&mut old).unwrap(), [7]);
        proxy.cut();
        assert!(matches!(old.read(&mut [0]), Ok(0) | Err(_)));
        assert_eq!(echoed(&mut connect(&proxy)).unwrap(), [7]);
    }

    #[test]
    fn a_freeze_delays_and_loses_nothing() {
        let proxy = echo();
        let mut stream = connect(&proxy);
        proxy.freeze();
        stream.write_all(&[1, 2, 3]).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        assert!(stream.read(&mut [0]).is_err(), "nothing passes");
        proxy.thaw();
        stream.set_read_timeout(None).unwrap();
        let mut echo = [0; 3];
        stream.read_exact(&mut echo).unwrap();
        assert_eq!(echo, [1, 2, 3]);
    }

    #[test]
    fn the_end_of_one_side_reaches_the_other_after_all_data() {
        let proxy = echo();
        let mut stream = connect(&proxy);
        stream.write_all(b"last").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut echo = Vec::new();
        stream.read_to_end(&mut echo).unwrap();
        assert_eq!(echo, b"last");
    }

    #[test]
    fn a_delay_holds_back_every_byte_and_keeps_their_order() {
        let proxy = echo();
        let delay = Duration::from_millis(5);
        proxy.delay(delay);
        let mut stream = connect(&proxy);
        let sent: Vec<u8> = (0..100_000_u32).map(|number| (number % 251) as u8).collect();
        let began = Instant::now();
        let (mut writer, copy) = (stream.try_clone().unwrap(), sent.clone());
        thread::spawn(move || {
            writer.write_all(&copy).unwrap();
            writer.shutdown(Shutdown::Write).unwrap();
        });
        let mut received = vec![0];
        stream.read_exact(&mut received).unwrap();
        assert!(began.elapsed() >= 2 * delay);
        stream.read_to_end(&mut received).unwrap();
        assert!(received == sent);
    }

    #[test]
    fn refused_connections_end_at_once() {
        let proxy = echo();
        proxy.refuse(true);
        assert!(echoed(&mut connect(&proxy)).is_err());
        proxy.refuse(false);
        assert_eq!(echoed(&mut connect(&proxy)).unwrap(), [7]);
    }

    #[test]
    fn the_url_of_a_database_keeps_user_and_name() {
        let (proxy, url) = Proxy::to_database("postgres://u@/name?host=%2Ftmp%2Fx").unwrap();
        assert_eq!(url, format!("postgres://u@{}/name", proxy.address()));
        assert!(Proxy::to_database("sqlite://file").is_err());
    }
}
