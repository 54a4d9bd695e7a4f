//! The service's clock: the machine's plus an offset that the sandbox increases.
//!
//! The offset is stored in the data folder, so that a restart does not move the service back behind its own bookings.
//! It only grows.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, bail};
use kopeck_port_bank::sandbox::{CommandKey, FollowingClock, SandboxClock, SandboxError};
use kopeck_port_system::Clock;
use time::OffsetDateTime;

/// The last year of the clock. Cards and tokens reach a few years further, which every database can store.
const LAST_YEAR: i32 = 2900;

/// The number of remembered keys. A key matters only to a caller whose response got lost.
const MOST_KEYS: usize = 100;

/// The machine's clock and the offset that the sandbox made.
pub struct ServiceClock {
    machine: Arc<dyn Clock>,
    offset_micros: AtomicI64,
    file: PathBuf,
    /// Moves that were made, the latest last. Held while one is made.
    moves: Mutex<Vec<Move>>,
}

/// A move that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Move {
    /// When, by this clock after the move, in Unix microseconds.
    at_micros: i64,
    key: String,
}

/// Why the clock was not moved.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    /// Further than it goes.
    #[error("the clock does not go beyond the year {LAST_YEAR}")]
    TooFar,
    /// The offset could not be written.
    #[error("the clock's file cannot be written: {0}")]
    File(#[from] std::io::Error),
}

impl ServiceClock {
    /// The clock over `machine` whose offset lies in `file`; without a file there is no offset.
    ///
    /// # Errors
    /// If there is a file that cannot be read.
    pub fn open(machine: Arc<dyn Clock>, file: PathBuf) -> anyhow::Result<Self> {
        let (offset_micros, moves) = match std::fs::read_to_string(&file) {
            Ok(text) => {
                read(&text).with_context(|| format!("{} holds no offset of a clock", file.display()))?
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => (0, Vec::new()),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", file.display())),
        };
        if offset_micros > 0 {
            log::warn!(seconds = offset_micros / 1_000_000; "the sandbox has moved the clock forward");
        }
        let (offset_micros, moves) = (AtomicI64::new(offset_micros), Mutex::new(moves));
        Ok(Self { machine, offset_micros, file, moves })
    }

    /// Moves the clock forward, unless the move under `key` was made at or after `since`. The move is on disk before it
    /// takes effect.
    ///
    /// # Errors
    /// [`MoveError`]; then nothing was moved.
    pub fn advance(&self, by: Duration, key: &str, since: OffsetDateTime) -> Result<(), MoveError> {
        let mut moves = self.moves.lock().unwrap_or_else(PoisonError::into_inner);
        let since = micros(since);
        moves.retain(|made| made.at_micros >= since);
        if moves.iter().any(|made| made.key == key) {
            return Ok(());
        }
        let now = self.now();
        let moved =
            now.checked_add(by.try_into().map_err(|_| MoveError::TooFar)?).ok_or(MoveError::TooFar)?;
        if moved.year() > LAST_YEAR {
            return Err(MoveError::TooFar);
        }
        let offset = self.offset_micros.load(Ordering::SeqCst) + (micros(moved) - micros(now));
        let surplus = (moves.len() + 1).saturating_sub(MOST_KEYS);
        moves.drain(..surplus);
        moves.push(Move { at_micros: micros(moved), key: key.to_owned() });
        if let Err(error) = write(&self.file, offset, &moves) {
            moves.pop();
            return Err(error.into());
        }
        self.offset_micros.store(offset, Ordering::SeqCst);
        Ok(())
    }
}

impl ServiceClock {
    /// Raises the offset to `offset_micros`, that of another clock; never lowers it.
    ///
    /// # Errors
    /// [`MoveError`]; then nothing was moved.
    pub fn follow(&self, offset_micros: i64) -> Result<(), MoveError> {
        let moves = self.moves.lock().unwrap_or_else(PoisonError::into_inner);
        if offset_micros <= self.offset_micros.load(Ordering::SeqCst) {
            return Ok(());
        }
        let moved = self.machine.now().checked_add(time::Duration::microseconds(offset_micros));
        if moved.is_none_or(|moved| moved.year() > LAST_YEAR) {
            return Err(MoveError::TooFar);
        }
        write(&self.file, offset_micros, &moves)?;
        self.offset_micros.store(offset_micros, Ordering::SeqCst);
        Ok(())
    }

    fn offset(&self) -> time::Duration {
        time::Duration::microseconds(self.offset_micros.load(Ordering::SeqCst))
    }
}

impl SandboxClock for ServiceClock {
    fn offset_micros(&self) -> Result<i64, SandboxError> {
        Ok(self.offset_micros.load(Ordering::SeqCst))
    }

    fn advance(&self, by: Duration, key: &CommandKey) -> Result<i64, SandboxError> {
        Self::advance(self, by, &key.text, key.since)?;
        SandboxClock::offset_micros(self)
    }
}

impl FollowingClock for ServiceClock {
    fn follow(&self, offset_micros: i64) -> Result<(), SandboxError> {
        Ok(Self::follow(self, offset_micros)?)
    }
}

impl From<MoveError> for SandboxError {
    fn from(error: MoveError) -> Self {
        match error {
            MoveError::TooFar => Self::ClockTooFar,
            MoveError::File(_) => Self::Failed(error.to_string()),
        }
    }
}

impl Clock for ServiceClock {
    fn now(&self) -> OffsetDateTime {
        self.machine.now().saturating_add(self.offset())
    }

    fn steady(&self) -> time::Duration {
        self.machine.steady().saturating_add(self.offset())
    }

    fn epoch(&self) -> u64 {
        self.machine.epoch()
    }

    fn settled(&self) -> OffsetDateTime {
        self.machine.settled().saturating_add(self.offset())
    }

    fn ahead(&self) -> time::Duration {
        self.machine.ahead().saturating_add(self.offset())
    }
}

fn micros(moment: OffsetDateTime) -> i64 {
    moment.unix_timestamp() * 1_000_000 + i64::from(moment.microsecond())
}

/// A line with the offset, then one with moment and key for each move that is remembered.
fn read(text: &str) -> anyhow::Result<(i64, Vec<Move>)> {
    let mut lines = text.lines();
    let offset: i64 = lines.next().context("it is empty")?.parse()?;
    if offset < 0 {
        bail!("the offset is negative");
    }
    let moves = lines.map(|line| {
        let (at, key) = line.split_once(' ').context("a line without a key")?;
        Ok(Move { at_micros: at.parse()?, key: key.to_owned() })
    });
    Ok((offset, moves.collect::<anyhow::Result<_>>()?))
}

/// Written beside and moved into place, so that no process ever reads half an offset.
fn write(file: &Path, offset: i64, moves: &[Move]) -> std::io::Result<()> {
    let mut text = format!("{offset}\n");
    for Move { at_micros, key } in moves {
        text.push_str(&format!("{at_micros} {key}\n"));
    }
    let draft = file.with_extension("new");
    let mut written = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&draft)?;
    written.write_all(text.as_bytes())?;
    written.sync_all()?;
    std::fs::rename(&draft, file)?;
    // The new name has to survive a loss of power too.
    file.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kopeck_port_system::fake::FakeClock;
    use time::macros::datetime;

    const START: OffsetDateTime = datetime!(2026-03-02 09:00 UTC);
    const HOUR: Duration = Duration::from_secs(3_600);

    struct ClockFolder {
        folder: tempfile::TempDir,
        machine: Arc<FakeClock>,
    }

    impl ClockFolder {
        fn new() -> Self {
            let machine = Arc::new(FakeClock::starting_at(START));
            Self { folder: tempfile::tempdir().unwrap(), machine }
        }

        fn file(&self) -> PathBuf {
            self.folder.path().join("clock")
        }

        fn open(&self) -> ServiceClock {
            ServiceClock::open(Arc::clone(&self.machine) as _, self.file()).unwrap()
        }
    }

    #[test]
    fn it_runs_with_the_machine_from_wherever_it_was_moved() {
        let bench = ClockFolder::new();
        let clock = bench.open();
        assert_eq!(clock.now(), START);
        assert!(!bench.file().exists(), "a clock that was never moved leaves no trace");
        clock.advance(HOUR, "a", START).unwrap();
        bench.machine.advance(time::Duration::MINUTE);
        assert_eq!(clock.now(), datetime!(2026-03-02 10:01 UTC));
        clock.advance(HOUR, "b", START).unwrap();
        assert_eq!(bench.open().now(), datetime!(2026-03-02 11:01 UTC), "as does the next process");
        assert_eq!(std::fs::read_dir(bench.folder.path()).unwrap().count(), 1, "no draft is left behind");
    }

    #[test]
    fn setting_the_machines_clock_leaves_the_steady_time_alone() {
        let bench = ClockFolder::new();
        let clock = bench.open();
        clock.advance(HOUR, "a", START).unwrap();
        bench.machine.advance(time::Duration::MINUTE);
        let steady = time::Duration::minutes(61);
        assert_eq!((clock.steady(), clock.settled()), (steady, START + steady));
        bench.machine.step(time::Duration::DAY);
        assert_eq!((clock.steady(), clock.settled()), (steady, START + steady));
        assert_eq!(clock.now(), START + steady + time::Duration::DAY);
        bench.machine.step(time::Duration::days(-2));
        assert_eq!(clock.now(), START + steady - time::Duration::DAY, "the machine's clock went back");
        assert_eq!((clock.steady(), clock.settled()), (steady, clock.now()));
    }

    #[test]
    fn a_move_under_its_key_is_made_once() {
        let bench = ClockFolder::new();
        let clock = bench.open();
        clock.advance(24 * HOUR, "key", START).unwrap();
        clock.advance(24 * HOUR, "key", START).unwrap();
        // Also by the next process, whose caller did not get the answer.
        let clock = bench.open();
        clock.advance(24 * HOUR, "key", START).unwrap();
        assert_eq!(clock.now(), datetime!(2026-03-03 09:00 UTC));
        // A key that is long unused may stand for another move.
        clock.advance(24 * HOUR, "key", datetime!(2026-03-03 09:00:01 UTC)).unwrap();
        assert_eq!(clock.now(), datetime!(2026-03-04 09:00 UTC));
    }

    #[test]
    fn it_ends_with_the_last_year() {
        let bench = ClockFolder::new();
        let clock = bench.open();
        let years = |years: u32| years * 365 * 24 * HOUR;
        for by in [years(876), Duration::MAX] {
            assert!(matches!(clock.advance(by, "a", START), Err(MoveError::TooFar)));
        }
        assert_eq!(clock.now(), START);
        clock.advance(years(874), "a", START).unwrap();
    }

    #[test]
    fn the_clock_does_not_move_if_its_file_cannot_be_written() {
        let bench = ClockFolder::new();
        let clock =
            ServiceClock::open(Arc::clone(&bench.machine) as _, bench.file().join("nowhere")).unwrap();
        assert!(matches!(clock.advance(HOUR, "a", START), Err(MoveError::File(_))));
        assert_eq!(clock.now(), START);
    }

    #[test]
    fn only_the_latest_keys_are_remembered() {
        let bench = ClockFolder::new();
        let clock = bench.open();
        for key in 0..=MOST_KEYS {
            clock.advance(Duration::from_secs(1), &key.to_string(), START).unwrap();
        }
        assert_eq!(std::fs::read_to_string(bench.file()).unwrap().lines().count(), 1 + MOST_KEYS);
    }

    #[test]
    fn it_follows_another_clock_forward_only() {
        let bench = ClockFolder::new();
        let clock = bench.open();
        clock.advance(HOUR, "a", START).unwrap();
        let minutes = |minutes: i64| minutes * 60_000_000;
        clock.follow(minutes(59)).unwrap();
        assert_eq!(clock.now(), datetime!(2026-03-02 10:00 UTC));
        clock.follow(minutes(90)).unwrap();
        assert_eq!(bench.open().now(), datetime!(2026-03-02 10:30 UTC), "as does the next process");
        bench.open().advance(HOUR, "a", START).unwrap();
        assert_eq!(bench.open().now(), datetime!(2026-03-02 10:30 UTC), "which remembers the moves");
        assert!(matches!(clock.follow(i64::MAX), Err(MoveError::TooFar)));
    }

    #[test]
    fn a_file_that_holds_no_offset_is_refused() {
        let bench = ClockFolder::new();
        for text in ["", "x\n", "-1\n", "1\nkey\n", "1\nx key\n"] {
            std::fs::write(bench.file(), text).unwrap();
            let opened = ServiceClock::open(Arc::clone(&bench.machine) as _, bench.file());
            assert!(opened.is_err(), "{text:?}");
        }
    }
}
