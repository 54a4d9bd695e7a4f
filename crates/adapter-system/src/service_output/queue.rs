//! A bounded queue of lines, from threads that must not block to one writer.

use std::io::{self, ErrorKind, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prometheus::IntCounter;

/// How long the writer waits before it retries on a non-blocking descriptor.
const RETRY_AFTER: Duration = Duration::from_millis(10);

/// Whole lines, in order, up to a number of bytes.
pub(super) struct LineQueue {
    capacity: usize,
    state: Mutex<State>,
    /// Signals lines in the queue.
    filled: Condvar,
    /// Signals an empty queue.
    written: Condvar,
}

struct State {
    lines: Vec<u8>,
    /// Lines dropped since the writer last took the queue.
    dropped: u64,
    is_writing: bool,
}

impl LineQueue {
    pub(super) const fn new(capacity: usize) -> Self {
        let state = State { lines: Vec::new(), dropped: 0, is_writing: false };
        Self { capacity, state: Mutex::new(state), filled: Condvar::new(), written: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds whole lines; returns whether there was room. After a drop nothing is added until the writer has caught up, so
    /// that the note on dropped lines stands in their place.
    pub(super) fn push(&self, lines: &[u8]) -> bool {
        let mut state = self.state();
        if state.dropped > 0 || state.lines.len() + lines.len() > self.capacity {
            state.dropped += 1;
            return false;
        }
        let was_empty = state.lines.is_empty();
        state.lines.extend_from_slice(lines);
        drop(state);
        if was_empty {
            self.filled.notify_one();
        }
        true
    }

    /// Waits until everything is written; returns whether it was within `timeout`.
    pub(super) fn flush(&self, timeout: Duration) -> bool {
        let is_behind = |state: &mut State| state.is_writing || !state.lines.is_empty() || state.dropped > 0;
        let waited = self.written.wait_timeout_while(self.state(), timeout, is_behind);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Writes the queue to `sink`, for ever. Lines that the sink refuses are dropped and counted in `lost`. Once it accepts
    /// lines again, `note` makes a line with their number.
    pub(super) fn write_to(&self, sink: impl Write, note: impl Fn(u64) -> Vec<u8>, lost: &IntCounter) {
        let mut lines = Vec::new();
        let mut writer = Writer { sink: Sink { sink, is_torn: false }, note, missed: 0 };
        loop {
            let dropped = self.take(&mut lines);
            lost.inc_by(writer.write(&lines));
            writer.missed += dropped;
            if dropped > 0 {
                writer.tell();
            }
            self.state().is_writing = false;
            self.written.notify_all();
        }
    }

    /// Waits for lines and swaps them with the empty buffer; returns how many were dropped after them.
    fn take(&self, lines: &mut Vec<u8>) -> u64 {
        lines.clear();
        let is_empty = |state: &mut State| state.lines.is_empty() && state.dropped == 0;
        let state = self.filled.wait_while(self.state(), is_empty);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut state.lines, lines);
        state.is_writing = true;
        std::mem::take(&mut state.dropped)
    }
}

struct Writer<W, N> {
    sink: Sink<W>,
    note: N,
    /// Dropped lines that no note has reported yet.
    missed: u64,
}

impl<W: Write, N: Fn(u64) -> Vec<u8>> Writer<W, N> {
    /// Writes whole lines; returns how many of them the sink refused.
    fn write(&mut self, lines: &[u8]) -> u64 {
        if self.missed > 0 {
            self.tell();
        }
        let refused = self.sink.write(lines);
        self.missed += refused;
        refused
    }

    /// Writes the note on dropped lines.
    fn tell(&mut self) {
        if self.sink.write(&(self.note)(self.missed)) == 0 {
            self.missed = 0;
        }
    }
}

struct Sink<W> {
    sink: W,
    /// The last thing written was a part of a line.
    is_torn: bool,
}

impl<W: Write> Sink<W> {
    /// Writes whole lines; returns how many of them did not get through, the torn one among them.
    fn write(&mut self, lines: &[u8]) -> u64 {
        if self.is_torn && self.put(b"\n").is_ok() {
            self.is_torn = false;
        }
        let Err(written) = self.put(lines) else { return 0 };
        let (done, rest) = lines.split_at_checked(written).unwrap_or((lines, &[]));
        self.is_torn |= done.last().is_some_and(|last| *last != b'\n');
        rest.iter().filter(|byte| **byte == b'\n').count() as u64
    }

    /// Writes all of `bytes`, or returns how many of them were written.
    fn put(&mut self, bytes: &[u8]) -> Result<(), usize> {
        let mut written = 0;
        while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
            match self.sink.write(rest) {
                Ok(0) => return Err(written),
                Ok(more) => written += more,
                Err(error) if is_passing(&error) => std::thread::sleep(RETRY_AFTER),
                Err(_) => return Err(written),
            }
        }
        Ok(())
    }
}

/// Whether the same write may succeed soon.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn note(lines: u64) -> Vec<u8> {
        format!("{lines} dropped\n").into_bytes()
    }

    fn counter() -> IntCounter {
        IntCounter::new("lost", "Lost.").unwrap()
    }

    /// Takes each write once it is permitted, with the outcome that the permit names.
    struct Reader {
        permits: mpsc::Receiver<io::Result<usize>>,
        begun: mpsc::Sender<()>,
        read: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Reader {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // The test may be over.
            let _ = self.begun.send(());
            let most = self.permits.recv().unwrap_or(Ok(usize::MAX))?;
            let taken = bytes.get(..most).unwrap_or(bytes);
            self.read.lock().unwrap().extend_from_slice(taken);
            Ok(taken.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Bench {
        queue: &'static LineQueue,
        permits: mpsc::Sender<io::Result<usize>>,
        begun: mpsc::Receiver<()>,
        read: Arc<Mutex<Vec<u8>>>,
        lost: IntCounter,
    }

    /// A queue of so many bytes with its writer.
    fn bench(capacity: usize) -> Bench {
        let queue: &'static LineQueue = Box::leak(Box::new(LineQueue::new(capacity)));
        let (permits, permitted) = mpsc::channel();
        let (began, begun) = mpsc::channel();
        let (read, lost) = (Arc::default(), counter());
        let reader = Reader { permits: permitted, begun: began, read: Arc::clone(&read) };
        let counted = lost.clone();
        std::thread::spawn(move || queue.write_to(reader, note, &counted));
        Bench { queue, permits, begun, read, lost }
    }

    impl Bench {
        fn permit(&self, outcome: io::Result<usize>) {
            self.permits.send(outcome).unwrap();
        }

        /// The text read once everything is written.
        fn read_to_the_end(self) -> (String, u64) {
            let Self { queue, permits, read, lost, .. } = self;
            drop(permits);
            assert!(queue.flush(LONG));
            let text = String::from_utf8(read.lock().unwrap().clone()).unwrap();
            (text, lost.get())
        }
    }

    #[test]
    fn a_stalled_reader_blocks_no_writer_and_gets_the_number_of_dropped_lines() {
        let bench = bench(8);
        assert!(bench.queue.push(b"one\n"));
        bench.begun.recv().unwrap();
        let added = ["two\n", "3\n", "three\n", "4\n"].map(|line| bench.queue.push(line.as_bytes()));
        assert_eq!(added, [true, true, false, false], "nothing is added after a drop");
        assert!(!bench.queue.flush(Duration::ZERO));
        assert_eq!(bench.read_to_the_end(), ("one\ntwo\n3\n2 dropped\n".to_owned(), 0));
    }

    #[test]
    fn a_sink_that_refused_lines_gets_their_number_later() {
        let bench = bench(100);
        bench.permit(Ok(2));
        bench.permit(Err(ErrorKind::StorageFull.into()));
        assert!(bench.queue.push(b"one\n"));
        assert!(bench.queue.flush(LONG));
        bench.permit(Err(ErrorKind::WouldBlock.into()));
        assert!(bench.queue.push(b"two\n"));
        assert_eq!(bench.read_to_the_end(), ("on\n1 dropped\ntwo\n".to_owned(), 1));
    }
}
