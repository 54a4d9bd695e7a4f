//! How soon a server answers that was just started, how much memory it has then, and how large its binary is.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process};

use crate::memory;
use crate::record::Label;

/// How long a server idles before its memory is read.
const IDLE: Duration = Duration::from_secs(1);

/// What to start.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    label: Label,
    /// The binary of the service. It gets `serve` and these settings of its environment.
    #[arg(long)]
    program: PathBuf,
}

/// Starts a server, calls it, and prints what was measured.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let size = fs::metadata(&args.program)?.len() as f64 / 1_048_576.0;
    let begun = Instant::now();
    let mut server = Command::new(&args.program)
        .args(["serve", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {}", args.program.display()))?;
    let measured = measure(&mut server, begun);
    if let Some(pid) = i32::try_from(server.id()).ok().and_then(Pid::from_raw) {
        kill_process(pid, Signal::TERM)?;
    }
    let ended = server.wait()?;
    let (first_answer, idle) = measured?;
    anyhow::ensure!(ended.success(), "the server ended with {ended}");
    args.label
        .record(BTreeMap::from([
            ("first_answer_ms".to_owned(), first_answer.as_secs_f64() * 1_000.0),
            ("idle_mib".to_owned(), idle),
            ("binary_mib".to_owned(), size),
        ]))
        .print()
}

/// When the first request was answered, and the memory after a while, in MiB.
fn measure(server: &mut Child, begun: Instant) -> anyhow::Result<(Duration, f64)> {
    let mut said = BufReader::new(server.stdout.take().context("standard output")?);
    let mut line = String::new();
    said.read_line(&mut line)?;
    let address = line.trim().rsplit_once("http://").context("the server does not say where it listens")?.1;
    let mut socket = TcpStream::connect(address)?;
    socket.set_read_timeout(Some(Duration::from_secs(10)))?;
    socket.write_all(b"GET /v1/balance HTTP/1.1\r\nhost: bench\r\n\r\n")?;
    let mut answer = [0; 12];
    socket.read_exact(&mut answer)?;
    let first_answer = begun.elapsed();
    anyhow::ensure!(&answer == b"HTTP/1.1 401", "a call without a token was not refused");
    std::thread::sleep(IDLE);
    Ok((first_answer, memory::of(server.id())?.0))
}
