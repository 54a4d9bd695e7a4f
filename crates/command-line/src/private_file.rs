//! Files with mode 0600.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use zeroize::Zeroizing;

use crate::failure::Failure;

/// Group and others.
const OTHERS: u32 = 0o077;

/// The text of a file; `None` if it is not there. Refused if anyone but its owner may look into it.
pub(crate) fn read(path: &Path) -> Result<Option<Zeroizing<String>>, Failure> {
    let failed = |error: io::Error| Failure::local(format!("{}: {error}", path.display()));
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(failed)?,
    };
    let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o777;
    if mode & OTHERS != 0 {
        return Err(Failure::local(format!(
            "{path} holds secrets, and others than its owner can get at them (mode {mode:03o}). \
             Run `chmod 600 {path}`, and change the secrets if others may have seen them",
            path = path.display()
        )));
    }
    let mut text = Zeroizing::new(String::new());
    file.read_to_string(&mut text).map_err(failed)?;
    Ok(Some(text))
}

/// Puts a text in place of a file, for its owner only: as a whole or not at all.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::local(format!("{}: {error}", path.display()));
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let beside = Path::new(&beside);
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(beside)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(beside, path));
    written.map_err(|error| {
        // Removes the rest of a failed write.
        let _ = fs::remove_file(beside);
        failed(error)
    })
}

/// Opens a file for the records of a partner, to overwrite it. A new file is private to its owner; an existing one keeps its
/// mode.
///
/// # Errors
/// If it cannot be opened.
pub fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Failure::local(format!("{}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_its_owners_only_from_the_first_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/place/profiles.toml");
        assert!(read(&path).unwrap().is_none());
        for text in ["first", "second"] {
            write(&path, text).unwrap();
            assert_eq!(read(&path).unwrap().unwrap().as_str(), text);
        }
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
        remove(&path).unwrap();
        remove(&path).unwrap();
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("profiles.toml");
        fs::write(&path, "hunter2").unwrap();
        for mode in [0o644, 0o640, 0o604, 0o660, 0o620] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let said = format!("{:?}", read(&path).unwrap_err());
            assert!(said.contains("chmod 600") && !said.contains("hunter2"), "{said}");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
        assert!(read(&path).is_ok());
    }
}
