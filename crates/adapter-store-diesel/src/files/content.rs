//! Whether the files of an embedded database have what SQLite has written into them.
//!
//! The index of the log, which all connections share, says how many frames the log has and how many of them were carried
//! over into the file. So a log that is shorter was cut, and a file that has changed although nothing was carried over was
//! changed by something else than SQLite. Both cost a few system calls. The format is that of
//! <https://sqlite.org/walformat.html>.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The only version of the index.
const VERSION: u32 = 3_007_000;
/// Two copies of the index's header, then how far the log was carried over.
const HEADER: usize = 48;
const INDEX: usize = 136;

/// A log has a header, and a frame has one before its page.
const LOG_HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;

/// What the index says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Index {
    /// Changed when the log begins anew.
    salt: [u8; 8],
    page_size: u64,
    /// Frames of the log.
    frames: u32,
    /// Those of them that are in the file.
    carried: u32,
    /// Those that may be: some of them are being written now, if they are more.
    attempted: u32,
}

impl Index {
    /// The index, unless it is being changed.
    fn read(file: &File) -> Option<Self> {
        let mut bytes = [0; INDEX];
        file.read_exact_at(&mut bytes, 0).ok()?;
        let (header, rest) = bytes.split_at(HEADER);
        let (copy, _) = rest.split_at(HEADER);
        let word = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes);
        if header != copy || word(0)? != VERSION {
            return None;
        }
        let page_size = match u16::from_ne_bytes(bytes.get(14..16)?.try_into().ok()?) {
            1 => 65_536,
            size => u64::from(size),
        };
        let salt = bytes.get(32..40)?.try_into().ok()?;
        Some(Self { salt, page_size, frames: word(16)?, carried: word(96)?, attempted: word(128)? })
    }

    fn log_length(&self) -> u64 {
        if self.frames == 0 {
            return 0;
        }
        LOG_HEADER + u64::from(self.frames) * (FRAME_HEADER + self.page_size)
    }
}

/// The file as it was after SQLite wrote to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Written {
    length: u64,
    modified: (i64, i64),
}

impl From<&Metadata> for Written {
    fn from(file: &Metadata) -> Self {
        Self { length: file.len(), modified: (file.mtime(), file.mtime_nsec()) }
    }
}

/// What something else than SQLite has done to the file.
enum Change {
    None,
    /// It is shorter.
    Cut,
    /// It was written.
    Unknown,
}

/// The state of the files' content, as of the last look.
pub(super) struct Content {
    index: Option<Arc<File>>,
    latest: Mutex<Option<([u8; 8], u32, Written)>>,
    suspect: AtomicBool,
    malformed: AtomicBool,
}

impl Content {
    /// Of the database with this index, on which a connection is open.
    pub(super) fn opened(index: &Path) -> Self {
        Self {
            index: open_once(index),
            latest: Mutex::default(),
            suspect: AtomicBool::new(false),
            malformed: AtomicBool::new(false),
        }
    }

    /// Looks whether the files were cut, or something else than SQLite has changed the database.
    pub(super) fn look(&self, database: &Path, log: &Path) {
        if self.is_suspect() || self.is_malformed() {
            return;
        }
        match self.change_of(database) {
            _ if self.is_log_cut(log) => self.is_damaged(),
            Change::Cut => self.is_damaged(),
            Change::Unknown => {
                self.suspect.store(true, Ordering::Release);
                log::error!(
                    "something else than this service has changed the database file: changes are refused until it is \
                     checked"
                );
            }
            Change::None => {}
        }
    }

    fn index(&self) -> Option<Index> {
        self.index.as_deref().and_then(Index::read)
    }

    /// Whether the log is shorter than its index says. It is shortened only after the index says so.
    fn is_log_cut(&self, log: &Path) -> bool {
        let (before, length) = (self.index(), std::fs::metadata(log).map_or(0, |log| log.len()));
        before.is_some_and(|index| index.log_length() > length) && self.index() == before
    }

    /// What has become of the file since the latest look, SQLite's own changes left out.
    fn change_of(&self, database: &Path) -> Change {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(before) = self.index() else { return Change::None };
        let Ok(file) = std::fs::metadata(database) else { return Change::None };
        // Frames may be on their way into the file.
        if self.index() != Some(before) || before.carried != before.attempted {
            return Change::None;
        }
        let (place, now) = ((before.salt, before.carried), Written::from(&file));
        match latest.replace((place.0, place.1, now)) {
            Some((salt, carried, was)) if (salt, carried) == place && was != now => {
                if now.length < was.length { Change::Cut } else { Change::Unknown }
            }
            _ => Change::None,
        }
    }

    pub(super) fn is_suspect(&self) -> bool {
        self.suspect.load(Ordering::Acquire)
    }

    pub(super) fn is_malformed(&self) -> bool {
        self.malformed.load(Ordering::Acquire)
    }

    /// The database was found damaged.
    pub(super) fn is_damaged(&self) {
        if !self.malformed.swap(true, Ordering::AcqRel) {
            log::error!(
                "the database file is damaged: every request is refused; restore the database and restart"
            );
        }
    }

    /// The database was checked and found whole.
    pub(super) fn is_whole(&self) {
        self.suspect.store(false, Ordering::Release);
        log::warn!("the database file was changed by something else than this service, and is whole");
    }
}

/// Opens the index of a log, or finds it open. The system gives up all locks of a process on a file when it closes any
/// descriptor of it, SQLite's too; so there is one, which is closed with the last store on the file.
fn open_once(path: &Path) -> Option<Arc<File>> {
    static OPEN: Mutex<BTreeMap<(u64, u64), Weak<File>>> = Mutex::new(BTreeMap::new());
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let index = std::fs::metadata(path).ok()?;
    let identity = (index.dev(), index.ino());
    if let Some(file) = open.get(&identity).and_then(Weak::upgrade) {
        return Some(file);
    }
    open.retain(|_, file| file.strong_count() > 0);
    let file = Arc::new(File::open(path).ok()?);
    open.insert(identity, Arc::downgrade(&file));
    Some(file)
}
