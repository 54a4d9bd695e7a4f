//! What stands between a store and its database server, so that the way between them can be cut and frozen.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// A port of this machine that leads to a database server.
pub struct DatabaseProxy {
    url: String,
    port: u16,
    way: Arc<Way>,
}

struct Way {
    target: Target,
    state: Mutex<State>,
    changed: Condvar,
}

/// Where the server is.
enum Target {
    Port(String),
    Socket(String),
}

#[derive(Default)]
struct State {
    /// Connections with a lower number carry nothing.
    silent_below: usize,
    refuses: bool,
    closed: bool,
    /// What ends each connection, by its number.
    ends: Vec<Box<dyn Fn() + Send>>,
}

impl DatabaseProxy {
    /// A way to the database of this URL.
    #[must_use]
    pub fn to(url: &str) -> Self {
        let (_, rest) = url.split_once("://").expect("a URL");
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = place.split_once('/').expect("a URL with a database");
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let socket = query.split('&').find_map(|pair| pair.strip_prefix("host="));
        let target = match socket {
            Some(folder) => Target::Socket(format!("{}/.s.PGSQL.5432", folder.replace("%2F", "/"))),
            None if host.contains(':') => Target::Port(host.to_owned()),
            None => Target::Port(format!("{host}:5432")),
        };
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let way = Arc::new(Way { target, state: Mutex::default(), changed: Condvar::new() });
        let accepting = Arc::clone(&way);
        thread::spawn(move || accepting.accept(&listener));
        Self { url: format!("postgres://{user}@127.0.0.1:{port}/{database}"), port, way }
    }

    /// The URL of the database by this way.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Ends every connection; new ones can be made.
    pub fn cut(&self) {
        self.way.lock().ends.iter().for_each(|end| end());
    }

    /// Ends every new connection at once, or no longer.
    pub fn refuse(&self, refuses: bool) {
        self.way.lock().refuses = refuses;
    }

    /// Carries nothing: connections stay open, new ones are accepted, what is sent is taken, and nothing comes back.
    pub fn freeze(&self) {
        self.way.lock().silent_below = usize::MAX;
    }

    /// Goes on where it stopped; nothing was lost.
    pub fn thaw(&self) {
        self.way.lock().silent_below = 0;
        self.way.changed.notify_all();
    }

    /// Carries new connections; those that there are stay open and silent for ever.
    pub fn thaw_new_ones_only(&self) {
        let mut state = self.way.lock();
        state.silent_below = state.ends.len();
        self.way.changed.notify_all();
    }
}

impl Drop for DatabaseProxy {
    fn drop(&mut self) {
        self.way.lock().closed = true;
        self.way.changed.notify_all();
        self.cut();
        // Wakes the thread that accepts; if that fails it is left to the end of the process.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

impl Way {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        while let Ok((near, _)) = listener.accept() {
            let (refuses, closed) = {
                let state = self.lock();
                (state.refuses, state.closed)
            };
            if closed {
                return;
            }
            if !refuses {
                // A server that does not let us in is one that hangs up.
                let _ = self.lead(&near);
            }
        }
    }

    fn lead(self: &Arc<Self>, near: &TcpStream) -> std::io::Result<()> {
        near.set_nodelay(true)?;
        match &self.target {
            Target::Port(address) => {
                let far = TcpStream::connect(address)?;
                far.set_nodelay(true)?;
                let (reads, writes) = (far.try_clone()?, far.try_clone()?);
                self.carry(near, reads, writes, move || drop(far.shutdown(Shutdown::Both)))
            }
            Target::Socket(path) => {
                let far = UnixStream::connect(path)?;
                let (reads, writes) = (far.try_clone()?, far.try_clone()?);
                self.carry(near, reads, writes, move || drop(far.shutdown(Shutdown::Both)))
            }
        }
    }

    fn carry(
        self: &Arc<Self>,
        near: &TcpStream,
        reads: impl Read + Send + 'static,
        writes: impl Write + Send + 'static,
        end_far: impl Fn() + Send + 'static,
    ) -> std::io::Result<()> {
        let (near_reads, near_writes, near_end) = (near.try_clone()?, near.try_clone()?, near.try_clone()?);
        let number = {
            let mut state = self.lock();
            state.ends.push(Box::new(move || {
                // Either may have gone already.
                let _ = near_end.shutdown(Shutdown::Both);
                end_far();
            }));
            state.ends.len() - 1
        };
        let (there, back) = (Arc::clone(self), Arc::clone(self));
        thread::spawn(move || there.pump(number, near_reads, writes));
        thread::spawn(move || back.pump(number, reads, near_writes));
        Ok(())
    }

    /// Passes on what comes, unless the connection is silent; ends it if a side has ended.
    fn pump(&self, number: usize, mut from: impl Read, mut to: impl Write) {
        let mut buffer = vec![0; 16 * 1024];
        loop {
            let count = from.read(&mut buffer).unwrap_or(0);
            let silent = |state: &mut State| number < state.silent_below && !state.closed;
            let state = self.changed.wait_while(self.lock(), silent).unwrap_or_else(PoisonError::into_inner);
            if count == 0 || state.closed {
                if let Some(end) = state.ends.get(number) {
                    end();
                }
                return;
            }
            drop(state);
            if to.write_all(buffer.get(..count).unwrap_or_default()).is_err() {
                return;
            }
        }
    }
}
