//! A database that is not on the same machine: a TCP relay to the server's socket that delivers every byte later.
//!
//! Two threads per connection and direction: one reads and stamps, one sleeps until the stamp and writes. Bytes in flight do
//! not wait for each other, so the delay is latency and costs no throughput, as on a network.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use actix_web::rt::System;
use tokio::signal::unix::{SignalKind, signal};

/// Bytes that are passed on at a time.
const CHUNK: usize = 16 * 1024;

/// What to relay, and how far away it seems.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// The socket of the database server.
    #[arg(long)]
    socket: PathBuf,
    /// The round trip that is added, in microseconds.
    #[arg(long, default_value_t = 500)]
    round_trip: u64,
}

/// Relays until SIGTERM.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let listener = TcpListener::bind(args.listen)?;
    println!("kopeck-bench relays from http://{}", listener.local_addr()?);
    let (socket, one_way) = (args.socket.clone(), Duration::from_micros(args.round_trip / 2));
    thread::spawn(move || {
        for near in listener.incoming() {
            if let Err(error) = near.and_then(|near| relay(near, &socket, one_way)) {
                eprintln!("the database cannot be reached: {error}");
            }
        }
    });
    System::new().block_on(async {
        signal(SignalKind::terminate())?.recv().await;
        Ok(())
    })
}

/// Starts the threads of one connection.
fn relay(near: TcpStream, socket: &Path, delay: Duration) -> io::Result<()> {
    let far = UnixStream::connect(socket)?;
    // Without it small messages wait for each other.
    near.set_nodelay(true)?;
    let ends = (near.try_clone()?, far.try_clone()?);
    one_direction(near, ends.1, delay, |far| far.shutdown(Shutdown::Write));
    one_direction(far, ends.0, delay, |near| near.shutdown(Shutdown::Write));
    Ok(())
}

/// Passes on what comes from `from`, `delay` later, until its end or until `to` takes no more.
fn one_direction<W: Write + Send + 'static>(
    from: impl Read + Send + 'static,
    to: W,
    delay: Duration,
    close: impl FnOnce(&W) -> io::Result<()> + Send + 'static,
) {
    let (sender, receiver) = channel();
    thread::spawn(move || stamp(from, &sender, delay));
    thread::spawn(move || {
        let mut to = to;
        // A peer that has closed needs no more.
        let _ = deliver(&receiver, &mut to).and_then(|()| close(&to));
    });
}

fn stamp(mut from: impl Read, sender: &Sender<(Instant, Vec<u8>)>, delay: Duration) {
    let mut buffer = vec![0; CHUNK];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let bytes = buffer.get(..count).unwrap_or_default().to_vec();
        if sender.send((Instant::now() + delay, bytes)).is_err() {
            return;
        }
    }
}

fn deliver(receiver: &Receiver<(Instant, Vec<u8>)>, to: &mut impl Write) -> io::Result<()> {
    for (due, bytes) in receiver {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        to.write_all(&bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn every_byte_arrives_in_order_and_not_early() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("echo");
        let echo = UnixListener::bind(&socket).unwrap();
        thread::spawn(move || {
            let (stream, _) = echo.accept().unwrap();
            io::copy(&mut stream.try_clone().unwrap(), &mut &stream).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
        });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let delay = Duration::from_millis(5);
        relay(listener.accept().unwrap().0, &socket, delay).unwrap();

        let sent: Vec<u8> = (0..100_000u32).map(|number| (number % 251) as u8).collect();
        let began = Instant::now();
        let mut writer = client.try_clone().unwrap();
        let copy = sent.clone();
        thread::spawn(move || {
            writer.write_all(&copy).unwrap();
            writer.shutdown(Shutdown::Write).unwrap();
        });
        let mut first = [0];
        client.read_exact(&mut first).unwrap();
        assert!(began.elapsed() >= 2 * delay);
        let mut rest = Vec::new();
        client.read_to_end(&mut rest).unwrap();
        assert_eq!(first[0], sent[0]);
        assert_eq!(rest, sent[1..]);
    }
}
