//! A file of master keys, which may change while the service runs: a key a line. The first is used, the others are
//! accepted. Blank lines and lines that begin with `#` are ignored.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, ensure};
use secrecy::ExposeSecret as _;
use zeroize::Zeroizing;

use crate::master_key::MasterKey;
use crate::ring::{KeyRing, KeySource};

/// Running processes use a changed file after this time, with a margin: they look at it once a second.
const IN_USE_AFTER: Duration = Duration::from_secs(5);

/// A file of master keys, its owner's only.
#[derive(Debug, Clone)]
pub struct KeyFile {
    path: PathBuf,
}

impl KeyFile {
    /// The file with this path, whether it is there or not.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Whether it is there.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.path.exists()
    }

    /// The keys in it, at least one.
    ///
    /// # Errors
    /// If it is not there, cannot be read, holds anything else than keys, or others than its owner may read it.
    pub fn read(&self) -> anyhow::Result<Vec<MasterKey>> {
        let shown = self.path.display();
        let text = read_private(&self.path).map_err(|error| match error.downcast_ref::<io::Error>() {
            Some(reason) if reason.kind() == io::ErrorKind::NotFound => {
                anyhow::anyhow!("{shown} is missing, and without it the database cannot be used: put it back")
            }
            _ => error,
        })?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let keys: Result<Vec<_>, _> = lines.map(MasterKey::parse).collect();
        let keys = keys.with_context(|| format!("{shown} holds no master key"))?;
        ensure!(!keys.is_empty(), "{shown} holds no master key");
        Ok(keys)
    }

    /// A ring of the keys in it, which follows its changes.
    ///
    /// # Errors
    /// If the file cannot be read or holds no key.
    pub fn follow(&self) -> anyhow::Result<Arc<KeyRing>> {
        // Says why, if there is no key; the followed file would only log it.
        self.read()?;
        let followed = KeyFileSource { file: self.clone(), seen: Mutex::default() };
        KeyRing::following(Box::new(followed)).context("the master keys cannot be read")
    }

    /// Makes it with `key` in it, unless it is there by now: the first of two processes wins. No process reads half a
    /// key.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn make(&self, key: &MasterKey) -> anyhow::Result<()> {
        let draft = self.draft(std::slice::from_ref(key))?;
        let linked = std::fs::hard_link(&draft, &self.path);
        std::fs::remove_file(&draft).with_context(|| format!("cannot remove {}", draft.display()))?;
        match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(error).with_context(|| format!("cannot write {}", self.path.display()))
            }
            _ => self.sync_folder(),
        }
    }

    /// Puts `keys` in place of what is in it, at one moment.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn replace(&self, keys: &[MasterKey]) -> anyhow::Result<()> {
        let draft = self.draft(keys)?;
        std::fs::rename(&draft, &self.path)
            .with_context(|| format!("cannot write {}", self.path.display()))?;
        self.sync_folder()
    }

    /// Refuses until every running process uses the first key, as it does a second after the file has changed.
    ///
    /// # Errors
    /// If the file changed within the last seconds, or is not there.
    pub fn ensure_in_use(&self) -> anyhow::Result<()> {
        let changed = std::fs::metadata(&self.path).and_then(|file| file.modified());
        let changed = changed.with_context(|| format!("cannot read {}", self.path.display()))?;
        let is_recent = changed.elapsed().is_ok_and(|age| age < IN_USE_AFTER);
        ensure!(
            !is_recent,
            "the master keys changed within the last {} seconds, and a running process may still use an old one: try \
             again later",
            IN_USE_AFTER.as_secs()
        );
        Ok(())
    }

    /// A file beside it with these keys.
    fn draft(&self, keys: &[MasterKey]) -> anyhow::Result<PathBuf> {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{}", std::process::id()));
        let draft = PathBuf::from(name);
        let write = || -> io::Result<()> {
            let mut file =
                OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&draft)?;
            for key in keys {
                file.write_all(key.to_text().expose_secret().as_bytes())?;
                file.write_all(b"\n")?;
            }
            file.sync_all()
        };
        write().with_context(|| format!("cannot write {}", draft.display()))?;
        Ok(draft)
    }

    fn sync_folder(&self) -> anyhow::Result<()> {
        let folder = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
        folder.context("cannot sync the folder of the master key")
    }
}

/// The text of a file with secrets.
///
/// # Errors
/// If it cannot be read, or others than its owner may read it.
pub fn read_private(path: &Path) -> anyhow::Result<Zeroizing<String>> {
    let shown = path.display();
    let mut file = File::open(path).with_context(|| format!("cannot read {shown}"))?;
    let mode = file.metadata().with_context(|| format!("cannot read {shown}"))?.permissions().mode();
    ensure!(mode & 0o077 == 0, "{shown} may be read by others than its owner: chmod 600 it");
    let mut text = Zeroizing::new(String::new());
    file.read_to_string(&mut text).with_context(|| format!("cannot read {shown}"))?;
    Ok(text)
}

/// A file that is read again when it has changed.
struct KeyFileSource {
    file: KeyFile,
    /// The stamp of the file at the last attempt to read it, if it existed.
    seen: Mutex<Option<Option<Stamp>>>,
}

/// Tells one content of a file from another: inode, size, and the moments of its latest changes.
type Stamp = (u64, u64, [i64; 4]);

fn stamp(path: &Path) -> io::Result<Stamp> {
    let file = std::fs::metadata(path)?;
    Ok((file.ino(), file.size(), [file.mtime(), file.mtime_nsec(), file.ctime(), file.ctime_nsec()]))
}

impl KeySource for KeyFileSource {
    fn changed(&self) -> Option<Vec<MasterKey>> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken before the file is read: what is written meanwhile shows the next time.
        let now = stamp(&self.file.path).ok();
        let before = seen.replace(now);
        if before == Some(now) {
            return None;
        }
        match self.file.read() {
            Ok(keys) => {
                if before.is_some() {
                    log::info!(keys = keys.len(); "the master keys have changed");
                }
                Some(keys)
            }
            Err(error) => {
                log::error!(error:% = format!("{error:#}"); "the changed master keys were rejected: the old ones stay in use");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> MasterKey {
        MasterKey::from_bytes([byte; 32])
    }

    fn texts(keys: &[MasterKey]) -> Vec<String> {
        keys.iter().map(|key| key.to_text().expose_secret().to_owned()).collect()
    }

    fn file(within: &tempfile::TempDir) -> KeyFile {
        KeyFile::at(within.path().join("master.key"))
    }

    #[test]
    fn a_file_is_made_once_and_replaced_as_a_whole() {
        let within = tempfile::tempdir().unwrap();
        let file = file(&within);
        assert!(!file.exists());
        file.make(&key(1)).unwrap();
        file.make(&key(2)).unwrap();
        assert_eq!(texts(&file.read().unwrap()), texts(&[key(1)]), "the first wins");
        file.replace(&[key(2), key(1)]).unwrap();
        assert_eq!(texts(&file.read().unwrap()), texts(&[key(2), key(1)]));
        let mode = std::fs::metadata(&file.path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        assert_eq!(std::fs::read_dir(within.path()).unwrap().count(), 1, "no draft is left behind");
    }

    #[test]
    fn notes_in_a_file_are_passed_over_and_nonsense_is_refused() {
        let within = tempfile::tempdir().unwrap();
        let file = file(&within);
        file.make(&key(1)).unwrap();
        let line = &texts(&[key(3)])[0];
        std::fs::write(&file.path, format!("# of March\n\n  {line}  \n")).unwrap();
        assert_eq!(texts(&file.read().unwrap()), texts(&[key(3)]));
        for text in ["", "# nothing\n", "hunter2", &format!("{line}\nhunter2")] {
            std::fs::write(&file.path, text).unwrap();
            let refused = format!("{:#}", file.read().unwrap_err());
            assert!(refused.contains("holds no master key") && !refused.contains("hunter2"), "{refused}");
        }
    }

    #[test]
    fn a_followed_file_is_read_when_it_changes() {
        let within = tempfile::tempdir().unwrap();
        let file = file(&within);
        assert!(file.follow().unwrap_err().to_string().contains("put it back"));
        file.make(&key(1)).unwrap();
        let ring = file.follow().unwrap();
        assert!(!ring.refresh());
        file.replace(&[key(2), key(1)]).unwrap();
        assert!(ring.refresh() && !ring.refresh());
        assert_eq!(ring.count(), 2);
        std::fs::write(&file.path, "broken").unwrap();
        assert!(!ring.refresh());
        assert_eq!(ring.count(), 2, "what is broken changes nothing");
        file.replace(&[key(2)]).unwrap();
        assert!(ring.refresh());
        assert_eq!(ring.count(), 1);
    }
}
