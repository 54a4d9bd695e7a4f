//! The files of an embedded database: whether they are still those that were opened, and how much space is left.

mod content;

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::fs::statvfs;

use content::Content;
use kopeck_port_store::Outage;

/// SQLite's log is carried over into the file when it has so many bytes: most of its pages are there many times by then
/// and are written once. A reader looks for a page in four tables instead of one at worst, and a commit that carries
/// over takes 12 ms instead of 7.
const LONGEST_LOG: u64 = 64 << 20;
/// However little space there is.
const SHORTEST_LOG: u64 = 256 << 10;
/// The part of the space that the log may take. Carrying it over may take as much again in the file, and the largest
/// transaction comes on top.
const PART_OF_LOG: u64 = 4;

/// How much space a volume has for an embedded database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    /// Bytes that are free for this process, the log's own included.
    pub free: u64,
    /// Bytes below which the log has to be shorter than usual, and an operator should make space.
    pub needed: u64,
}

impl DiskSpace {
    /// Whether an operator should make space.
    #[must_use]
    pub fn is_low(self) -> bool {
        self.free < self.needed
    }
}

/// By which a file is recognised whatever its name is.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl From<Metadata> for Identity {
    fn from(file: Metadata) -> Self {
        Self { device: file.dev(), inode: file.ino() }
    }
}

/// The database, its log and the log's index, as they were opened.
pub(crate) struct Files {
    folder: PathBuf,
    database: PathBuf,
    log: PathBuf,
    opened: Vec<(PathBuf, Identity)>,
    gone: AtomicBool,
    content: Content,
    is_full: AtomicBool,
    free: AtomicU64,
    log_limit: AtomicU64,
}

impl Files {
    /// The files of the database at `path`, on which a connection is open.
    pub(crate) fn opened(path: &str) -> Self {
        let beside = |end: &str| PathBuf::from(format!("{path}{end}"));
        let identified = |path: PathBuf| {
            let file = std::fs::metadata(&path).ok()?;
            Some((path, file.into()))
        };
        let parent = Path::new(path).parent().filter(|parent| !parent.as_os_str().is_empty());
        let files = Self {
            folder: parent.unwrap_or(Path::new(".")).to_owned(),
            database: PathBuf::from(path),
            log: beside("-wal"),
            opened: ["", "-wal", "-shm"].into_iter().map(beside).filter_map(identified).collect(),
            gone: AtomicBool::new(false),
            content: Content::opened(&beside("-shm")),
            is_full: AtomicBool::new(false),
            free: AtomicU64::new(u64::MAX),
            log_limit: AtomicU64::new(LONGEST_LOG),
        };
        files.measure();
        files
    }

    /// Looks whether the files are those that were opened, and have what SQLite has written. What is committed into others is
    /// lost at the next start.
    pub(crate) fn look(&self) {
        let is_same = |(path, identity): &(PathBuf, Identity)| {
            std::fs::metadata(path).is_ok_and(|file| Identity::from(file) == *identity)
        };
        let whole = self.opened.iter().all(is_same);
        let was_gone = self.gone.swap(!whole, Ordering::AcqRel);
        if !whole && !was_gone {
            log::error!(
                "the database file was removed or replaced while it is in use: every request is refused; put the \
                 database in its place and restart"
            );
        } else if whole && was_gone {
            log::info!("the database file is in its place again");
        }
        if whole {
            self.content.look(&self.database, &self.log);
        }
    }

    /// Why no transaction may begin.
    pub(crate) fn refusal(&self) -> Option<Outage> {
        if self.gone.load(Ordering::Acquire) {
            Some(Outage::FileGone)
        } else {
            self.content.is_malformed().then_some(Outage::Malformed)
        }
    }

    /// Whether something else than SQLite has changed the files, so that they may be damaged.
    pub(crate) fn is_suspect(&self) -> bool {
        self.content.is_suspect()
    }

    /// The files are damaged.
    pub(crate) fn are_malformed(&self) {
        self.content.is_damaged();
    }

    /// What has changed the files did no damage.
    pub(crate) fn are_whole(&self) {
        self.content.is_whole();
    }

    /// Looks how much space there is.
    pub(crate) fn measure(&self) {
        let Ok(volume) = statvfs(&self.folder) else { return };
        let left = volume.f_bavail * volume.f_frsize;
        self.is_full.store(left < SHORTEST_LOG, Ordering::Relaxed);
        // What the log has can be had by carrying it over.
        let log = std::fs::metadata(&self.log).map_or(0, |log| log.len());
        let free = left.saturating_add(log);
        self.free.store(free, Ordering::Relaxed);
        self.log_limit.store(log_limit(self.log_limit.load(Ordering::Relaxed), free), Ordering::Relaxed);
    }

    /// Whether there is next to no space now, so that a few pages may be written and not many.
    pub(crate) fn are_cramped(&self) -> bool {
        self.measure();
        self.is_full.load(Ordering::Relaxed)
    }

    /// How long the log may grow, in bytes, by the latest measure.
    pub(crate) fn log_limit(&self) -> u64 {
        self.log_limit.load(Ordering::Relaxed)
    }

    /// The latest measure.
    pub(crate) fn space(&self) -> DiskSpace {
        DiskSpace { free: self.free.load(Ordering::Relaxed), needed: PART_OF_LOG * LONGEST_LOG }
    }
}

/// The limit of the log after one of `before` with so much space: halved or doubled until it fits. It grows later than it
/// shrinks, so that it does not go to and fro.
fn log_limit(before: u64, free: u64) -> u64 {
    let mut limit = before;
    while limit > SHORTEST_LOG && PART_OF_LOG * limit > free {
        limit /= 2;
    }
    while limit < LONGEST_LOG && 4 * PART_OF_LOG * limit <= free {
        limit *= 2;
    }
    limit
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn the_log_fits_the_space_there_is() {
        assert_eq!(log_limit(LONGEST_LOG, u64::MAX), LONGEST_LOG);
        assert_eq!(log_limit(LONGEST_LOG, 256 * MIB), LONGEST_LOG);
        assert_eq!(log_limit(LONGEST_LOG, 255 * MIB), 32 * MIB);
        assert_eq!(log_limit(LONGEST_LOG, 12 * MIB), 2 * MIB);
        assert_eq!(log_limit(2 * MIB, 0), SHORTEST_LOG);
        assert_eq!(log_limit(32 * MIB, 300 * MIB), 32 * MIB, "it does not go to and fro");
        assert_eq!(log_limit(SHORTEST_LOG, 1 << 40), LONGEST_LOG);
    }

    fn look(files: &Files) -> bool {
        files.look();
        files.refusal().is_none()
    }

    #[test]
    fn files_are_recognised_by_more_than_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kopeck.db");
        let (log, elsewhere) = (folder.path().join("kopeck.db-wal"), folder.path().join("elsewhere"));
        for file in [&path, &log] {
            std::fs::write(file, "").unwrap();
        }
        let files = Files::opened(path.to_str().unwrap());
        assert!(look(&files), "there is no index to be missed");
        for file in [&path, &log] {
            std::fs::rename(file, &elsewhere).unwrap();
            assert!(!look(&files), "{file:?} is gone");
            std::fs::write(file, "").unwrap();
            assert!(!look(&files), "{file:?} is another");
            std::fs::rename(&elsewhere, file).unwrap();
            assert!(look(&files));
        }
        assert!(files.space().free > 0 && files.space().free < u64::MAX);
        assert!(!files.are_cramped());
    }
}
