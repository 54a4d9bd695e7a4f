//! The data folder. With an embedded database: the database itself, the simulator's books, the master key and the lock
//! that keeps a second server out. With one on a server: the simulator's books, and how far the sandbox moved the clock.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};

/// The folder of data that are not on a server.
#[derive(Debug, Clone)]
pub struct DataFolder {
    path: PathBuf,
    /// The file of an embedded database.
    database: Option<PathBuf>,
}

/// The folder beside a database on a server, unless another is named.
const BESIDE_A_SERVER: &str = "kopeck-data";

/// Held by the one process that serves from a folder; given up when it ends, also by force.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

impl DataFolder {
    /// The folder that belongs to the database at `database_url`; it is made, for its owner only, if it is not there.
    /// `beside` names it where the database is on a server.
    ///
    /// # Errors
    /// If the URL is not that of a database, the folder cannot be made, or others than its owner may write to it.
    pub fn make(database_url: &str, beside: Option<&Path>) -> anyhow::Result<Self> {
        let folder = Self::of(database_url, beside)?;
        make_private(&folder.path)?;
        Ok(folder)
    }

    /// The folder that belongs to a database that is there. Whether one on a server is there shows when it is opened.
    ///
    /// # Errors
    /// If the URL is invalid, the embedded database does not exist or cannot be read, or others than its owner may write to
    /// the folder.
    pub fn existing(database_url: &str, beside: Option<&Path>) -> anyhow::Result<Self> {
        let folder = Self::of(database_url, beside)?;
        if let Some(database) = &folder.database
            && !is_database(database)?
        {
            bail!("there is no database at {}", database.display());
        }
        ensure_private(&folder.path)?;
        Ok(folder)
    }

    fn of(database_url: &str, beside: Option<&Path>) -> anyhow::Result<Self> {
        if database_url.starts_with("postgres://") || database_url.starts_with("postgresql://") {
            let path = beside.unwrap_or(Path::new(BESIDE_A_SERVER)).to_path_buf();
            return Ok(Self { path, database: None });
        }
        let file = database_url
            .strip_prefix("sqlite://")
            .filter(|path| !path.is_empty())
            .context("the database URL must be sqlite://PATH or postgres://USER:PASSWORD@HOST/DATABASE")?;
        if beside.is_some() {
            bail!("--data-dir goes with a database on a server: all files of {file} lie beside it");
        }
        let database = PathBuf::from(file);
        let parent = database.parent().filter(|parent| !parent.as_os_str().is_empty());
        let path = parent.unwrap_or(Path::new(".")).to_path_buf();
        Ok(Self { path, database: Some(database) })
    }

    /// The file of an embedded database, from which one process alone serves.
    #[must_use]
    pub fn database(&self) -> Option<&Path> {
        self.database.as_deref()
    }

    /// Whether the database lies in the folder.
    #[must_use]
    pub fn is_embedded(&self) -> bool {
        self.database.is_some()
    }

    /// Whether there is an embedded database. A server's shows when it is opened.
    ///
    /// # Errors
    /// If its file is out of reach.
    pub fn has_database(&self) -> anyhow::Result<bool> {
        self.database.as_deref().map_or(Ok(true), is_database)
    }

    /// Begins to make an embedded database, unless there is one. A file marks the folder until
    /// [`Self::database_is_made`], so that a start that was killed can go on.
    ///
    /// # Errors
    /// If other files of the folder show that there was a database, without `anew`; or if the folder
    /// cannot be written.
    pub fn begin_database(&self, anew: bool) -> anyhow::Result<()> {
        let Some(database) = &self.database else { return Ok(()) };
        let mark = self.first_start_mark();
        if is_database(database)? || mark.exists() {
            return Ok(());
        }
        let left = self.left_of_a_database();
        // Another process may have made it meanwhile.
        if !anew && !left.is_empty() && !is_database(database)? {
            bail!(
                "there is no database at {}, but {} show that there was one: put it back from a copy. To begin with a \
                 new, empty database, start once with --new-database",
                database.display(),
                left.join(", ")
            );
        }
        open_private(&mark).map(drop)
    }

    /// The database has its migrations: from here on it is missed if it is gone.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn database_is_made(&self) -> anyhow::Result<()> {
        let mark = self.first_start_mark();
        match std::fs::remove_file(&mark) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot remove {}", mark.display()))
            }
            _ => Ok(()),
        }
    }

    fn first_start_mark(&self) -> PathBuf {
        self.path.join("first-start")
    }

    /// The files that no folder has that never had an embedded database.
    fn left_of_a_database(&self) -> Vec<String> {
        let log = self.database.iter().map(|database| PathBuf::from(format!("{}-wal", database.display())));
        let files = [self.key_file(), self.bank_file()].into_iter().chain(log);
        files.filter(|file| has_content(file)).map(|file| file.display().to_string()).collect()
    }

    /// Makes the files of the databases, still empty, so that they and all that SQLite lays beside them are their
    /// owner's only, in whatever folder.
    ///
    /// # Errors
    /// If they cannot be made.
    pub fn make_database(&self) -> anyhow::Result<()> {
        self.database.iter().chain([&self.bank_file()]).try_for_each(|file| open_private(file).map(drop))
    }

    /// The path of the simulator's database.
    #[must_use]
    pub fn bank_file(&self) -> PathBuf {
        self.path.join("bank.sqlite")
    }

    /// The path of the master keys of an embedded database.
    #[must_use]
    pub fn key_file(&self) -> PathBuf {
        self.path.join("master.key")
    }

    /// Writes or replaces the file with the demo partner's secrets, readable by its owner only. Returns its absolute path.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_demo_secrets(&self, text: &str) -> anyhow::Result<PathBuf> {
        let path = std::path::absolute(self.path.join("demo-partner.json"))?;
        let written = match std::fs::remove_file(&path) {
            // A new file, as one that is there could be open to others.
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => private(OpenOptions::new().create_new(true).write(true))
                .open(&path)
                .and_then(|mut file| file.write_all(text.as_bytes())),
        };
        written.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    /// The path of the offset of the service's clock, once the sandbox has moved it.
    #[must_use]
    pub fn clock_file(&self) -> PathBuf {
        self.path.join("clock")
    }

    /// The folder itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the folder of an embedded database for this process's server. Any number may serve from one on a server.
    ///
    /// # Errors
    /// If another process serves from it.
    pub fn lock(&self) -> anyhow::Result<Option<FolderLock>> {
        if !self.is_embedded() {
            return Ok(None);
        }
        let lock = FolderLock::take(&self.path)?;
        let lock = lock.with_context(|| {
            format!(
                "another `kopeck serve` is running on the data folder {}: stop it first, or give this one a database of \
                 its own with --database-url",
                self.path.display()
            )
        })?;
        Ok(Some(lock))
    }
}

impl FolderLock {
    /// Takes `folder`; `None` if another process has it.
    ///
    /// # Errors
    /// If its lock file cannot be opened or locked.
    pub fn take(folder: &Path) -> anyhow::Result<Option<Self>> {
        let path = folder.join("serve.lock");
        let file = open_private(&path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("cannot lock {}", path.display()))
            }
        }
    }
}

/// Opens a file for writing; a new one is its owner's only.
///
/// # Errors
/// If it cannot be opened.
pub fn open_private(path: &Path) -> anyhow::Result<File> {
    private(OpenOptions::new().create(true).truncate(false).write(true))
        .open(path)
        .with_context(|| format!("cannot make {}", path.display()))
}

/// Makes a data folder for its owner only, unless it is there.
///
/// # Errors
/// If it cannot be made, or others than its owner may write to it.
pub fn make_private(folder: &Path) -> anyhow::Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.with_context(|| format!("cannot make the data folder {}", folder.display()))?;
    ensure_private(folder)
}

/// A user who may write to the folder can exchange the database, the master key or the clock, whatever their modes. A folder
/// that does not exist yet has no such file.
fn ensure_private(folder: &Path) -> anyhow::Result<()> {
    let shown = folder.display();
    let mode = match std::fs::metadata(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        found => {
            found.with_context(|| format!("cannot look at the data folder {shown}"))?.permissions().mode()
        }
    };
    ensure!(
        mode & 0o022 == 0,
        "others than its owner may write to the data folder {shown} (mode {:03o}), and so exchange the files in it: \
         check that they are yours, then chmod 700 it",
        mode & 0o777
    );
    Ok(())
}

/// Whether there is anything in the file. One that is out of reach, such as in a folder of another user, may be there.
fn is_database(file: &Path) -> anyhow::Result<bool> {
    match std::fs::metadata(file) {
        Ok(found) if found.is_dir() => {
            bail!(
                "the database {} is a folder: name a file in it, such as {}/kopeck.sqlite",
                file.display(),
                file.display()
            )
        }
        Ok(found) => Ok(found.len() > 0),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| format!("cannot look at the database {}", file.display())),
    }
}

fn has_content(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|file| file.len() > 0)
}

fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn folder(within: &tempfile::TempDir) -> DataFolder {
        DataFolder::make(&format!("sqlite://{}/data/kopeck.sqlite", within.path().display()), None).unwrap()
    }

    #[test]
    fn a_folder_that_others_may_write_to_is_refused() {
        let within = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/kopeck.sqlite", within.path().display());
        std::fs::write(within.path().join("kopeck.sqlite"), "SQLite").unwrap();
        let beside = ("postgres://db/kopeck", Some(within.path()));
        for mode in [0o777, 0o1777, 0o770, 0o720, 0o702, 0o2775] {
            std::fs::set_permissions(within.path(), std::fs::Permissions::from_mode(mode)).unwrap();
            for (url, beside) in [(&*url, None), beside] {
                for folder in [DataFolder::make(url, beside), DataFolder::existing(url, beside)] {
                    let refused = folder.unwrap_err().to_string();
                    let shown = format!("(mode {:03o})", mode & 0o777);
                    assert!(refused.contains("chmod 700") && refused.contains(&shown), "{mode:o}: {refused}");
                }
            }
        }
        for mode in [0o700, 0o755, 0o750] {
            std::fs::set_permissions(within.path(), std::fs::Permissions::from_mode(mode)).unwrap();
            DataFolder::make(&url, None).unwrap();
            DataFolder::existing(&url, None).unwrap();
        }
        let absent = within.path().join("absent");
        DataFolder::existing("postgres://db/kopeck", Some(&absent)).expect("it is made by what needs it");
    }

    #[test]
    fn a_database_out_of_reach_is_not_taken_for_a_missing_one() {
        let within = tempfile::tempdir().unwrap();
        let file = within.path().join("file");
        std::fs::write(&file, "x").unwrap();
        // Like a folder without permission, also for a test that runs as root.
        let refused =
            DataFolder::existing(&format!("sqlite://{}/kopeck.sqlite", file.display()), None).unwrap_err();
        let said = format!("{refused:#}");
        assert!(said.contains("cannot look at the database") && said.contains("Not a directory"), "{said}");
        let missing = format!("sqlite://{}/kopeck.sqlite", within.path().display());
        let said = DataFolder::existing(&missing, None).unwrap_err().to_string();
        assert!(said.contains("there is no database at"), "{said}");
    }

    #[test]
    fn a_missing_database_is_not_recreated_unless_requested() {
        let within = tempfile::tempdir().unwrap();
        let folder = folder(&within);
        let database = folder.database.clone().unwrap();
        for file in ["master.key", "bank.sqlite", "kopeck.sqlite-wal"] {
            let path = folder.path().join(file);
            std::fs::write(&path, "something").unwrap();
            for is_empty in [false, true] {
                if is_empty {
                    std::fs::write(&database, "").unwrap();
                }
                let refused = folder.begin_database(false).unwrap_err().to_string();
                assert!(refused.contains(file) && refused.contains("--new-database"), "{refused}");
                folder.begin_database(true).unwrap();
                folder.begin_database(false).expect("a start that was killed goes on");
                folder.database_is_made().unwrap();
                assert!(folder.begin_database(false).is_err(), "what was made is missed again");
            }
            std::fs::write(&database, "SQLite").unwrap();
            folder.begin_database(false).unwrap();
            std::fs::remove_file(&database).unwrap();
            std::fs::remove_file(&path).unwrap();
        }
        std::fs::write(folder.bank_file(), "").unwrap();
        folder.begin_database(false).expect("an empty folder is a new one");
    }

    #[test]
    fn one_server_a_folder() {
        let within = tempfile::tempdir().unwrap();
        let folder = folder(&within);
        let lock = folder.lock().unwrap();
        assert!(folder.lock().unwrap_err().to_string().contains("another `kopeck serve` is running"));
        drop(lock);
        folder.lock().unwrap();
    }

    #[test]
    fn any_number_of_processes_serve_from_a_server() {
        let within = tempfile::tempdir().unwrap();
        let beside = within.path().join("beside");
        let url = "postgres://kopeck:hunter2@db/kopeck";
        DataFolder::existing(url, Some(&beside)).unwrap();
        assert!(!beside.exists(), "to look makes nothing");
        let folder = DataFolder::make(url, Some(&beside)).unwrap();
        assert!(folder.lock().unwrap().is_none());
        assert_eq!(folder.bank_file(), beside.join("bank.sqlite"));
        let file = format!("sqlite://{}/kopeck.sqlite", within.path().display());
        assert!(DataFolder::make(&file, Some(&beside)).unwrap_err().to_string().contains("--data-dir"));
    }
}
