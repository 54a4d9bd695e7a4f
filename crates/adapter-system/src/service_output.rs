//! Standard output and standard error of processes that serve.
//!
//! Bounded queues lead to writer threads. A blocked reader, a full disk or a closed descriptor can stop a writer thread, but
//! no request and no start: lines beyond the capacity are dropped and counted.

mod queue;

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

use prometheus::IntCounter;

use queue::LineQueue;

/// Capacity of a queue in bytes: some 4,000 log lines.
const CAPACITY: usize = 1024 * 1024;

/// How long the end of the process waits for its last lines to be written.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

static LOG: LineQueue = LineQueue::new(CAPACITY);
static ANNOUNCEMENTS: LineQueue = LineQueue::new(CAPACITY);

/// Whether lines for standard error go through the queue.
static IS_QUEUED: AtomicBool = AtomicBool::new(false);

/// `kopeck_log_lines_dropped_total`.
static DROPPED: LazyLock<IntCounter> = LazyLock::new(|| {
    let help = "Log lines dropped because standard error did not take them.";
    #[expect(clippy::expect_used, reason = "the name is a constant and valid")]
    IntCounter::new("kopeck_log_lines_dropped_total", help).expect("a valid name")
});

/// The counter of dropped log lines.
#[must_use]
pub fn dropped_lines() -> IntCounter {
    DROPPED.clone()
}

/// Starts the log's writer thread and returns the sink for log lines, one line per write. `note` makes the line that
/// reports dropped lines.
///
/// # Errors
/// If the system gives no thread.
pub(crate) fn queue_log(note: impl Fn(u64) -> Vec<u8> + Send + 'static) -> io::Result<impl Write + Send> {
    let sink = unlocked(io::stderr());
    let write = move || LOG.write_to(sink, note, &DROPPED);
    std::thread::Builder::new().name("log".to_owned()).spawn(write)?;
    IS_QUEUED.store(true, Ordering::Release);
    Ok(LogLines)
}

/// How lines that are no log lines are written: as they are, or as a line for programs.
static FORM: OnceLock<fn(&str) -> Vec<u8>> = OnceLock::new();

/// Writes all lines that are no log lines in this form from now on.
pub(crate) fn write_as(form: fn(&str) -> Vec<u8>) {
    // A second start in the same process changes nothing.
    let _ = FORM.set(form);
}

fn formed(text: &str) -> Vec<u8> {
    FORM.get().map_or_else(|| text.as_bytes().to_vec(), |form| form(text.trim_end()))
}

/// Writes `text`, whole lines, to standard output. It never waits and never fails, also without a reader.
pub fn announce(text: &str) {
    static STARTED: LazyLock<bool> = LazyLock::new(|| {
        let sink = unlocked(io::stdout());
        let write = move || ANNOUNCEMENTS.write_to(sink, |_| Vec::new(), &DROPPED);
        std::thread::Builder::new().name("output".to_owned()).spawn(write).is_ok()
    });
    if *STARTED {
        ANNOUNCEMENTS.push(&formed(text));
    }
}

/// Reports the failure of a command to the operator.
pub fn report(error: &anyhow::Error) {
    let line = format!("kopeck: {error:#}\n");
    if IS_QUEUED.load(Ordering::Acquire) {
        LOG.push(&formed(&line));
    } else {
        // Without standard error the message is lost.
        let _ = io::stderr().write_all(line.as_bytes());
    }
}

/// Waits until all lines are written, but not for long.
pub fn flush() {
    for queue in [&ANNOUNCEMENTS, &LOG] {
        queue.flush(FLUSH_TIMEOUT);
    }
}

/// The stream without the standard library's lock, which a blocked writer would hold.
fn unlocked(stream: impl AsFd + Write + Send + 'static) -> Box<dyn Write + Send> {
    match stream.as_fd().try_clone_to_owned() {
        Ok(descriptor) => Box::new(File::from(descriptor)),
        Err(_) => Box::new(stream),
    }
}

/// Each write is one line.
struct LogLines;

impl Write for LogLines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if !LOG.push(line) {
            DROPPED.inc();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
