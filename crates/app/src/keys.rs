//! The source of the master keys: the settings, a file that these name, or the data folder.

use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use kopeck_adapter_security::{KeyFile, KeyRing, MasterKey};
use kopeck_adapter_system::DataFolder;
use kopeck_port_system::Entropy;
use secrecy::{ExposeSecret as _, SecretString};

use crate::cli::StoreArgs;

/// The source of the master keys.
#[derive(Debug, Clone)]
pub enum MasterKeys {
    /// In the settings: one to use, and others to accept.
    Settings(MasterKey, Vec<MasterKey>),
    /// In a file.
    File(KeyFile),
}

impl MasterKeys {
    /// The keys that the settings give or the file that they name, if they do either.
    ///
    /// # Errors
    /// If a key is malformed, or both a key and a key file are set.
    pub fn from_settings(args: &StoreArgs) -> anyhow::Result<Option<Self>> {
        let accepted =
            accepted_keys(args.master_keys_accepted.as_ref()).context("KOPECK_MASTER_KEYS_ACCEPTED")?;
        match (&args.master_key, &args.master_key_file) {
            (Some(_), Some(_)) => bail!("KOPECK_MASTER_KEY and KOPECK_MASTER_KEY_FILE exclude each other"),
            (Some(text), None) => {
                let key = MasterKey::parse(text.expose_secret()).context("KOPECK_MASTER_KEY")?;
                Ok(Some(Self::Settings(key, accepted)))
            }
            (None, file) => {
                ensure!(accepted.is_empty(), "KOPECK_MASTER_KEYS_ACCEPTED goes with KOPECK_MASTER_KEY");
                Ok(file.clone().map(|path| Self::File(KeyFile::at(path))))
            }
        }
    }

    /// The keys of a database that is there: those of the settings, or those in its folder.
    ///
    /// # Errors
    /// The errors of [`Self::from_settings`] and [`of_folder`].
    pub fn existing(args: &StoreArgs, folder: &DataFolder) -> anyhow::Result<Self> {
        Self::from_settings(args)?.map_or_else(|| of_folder(folder).map(Self::File), Ok)
    }

    /// [`Self::existing`], but a new embedded database gets a key in its folder.
    ///
    /// # Errors
    /// The errors of [`Self::existing`], or if the file cannot be written.
    pub fn open(args: &StoreArgs, folder: &DataFolder, entropy: &dyn Entropy) -> anyhow::Result<Self> {
        Self::from_settings(args)?.map_or_else(|| made_in(folder, entropy).map(Self::File), Ok)
    }

    /// The keys for a running service. Those of a file are followed.
    ///
    /// # Errors
    /// If the file cannot be read or holds no key.
    pub fn ring(&self) -> anyhow::Result<Arc<KeyRing>> {
        match self {
            Self::Settings(key, accepted) => Ok(KeyRing::with_accepted(key, accepted)),
            Self::File(file) => file.follow(),
        }
    }
}

/// The file with the master keys of an embedded database, whether it is there or not.
///
/// # Errors
/// A database on a server has no folder: its keys have to be set.
pub fn of_folder(folder: &DataFolder) -> anyhow::Result<KeyFile> {
    ensure!(
        folder.is_embedded(),
        "KOPECK_MASTER_KEY is missing: every process on a database server needs the same, 32 bytes as base64url \
         without padding (`kopeck master-key generate`), there or in the file that KOPECK_MASTER_KEY_FILE names"
    );
    Ok(KeyFile::at(folder.key_file()))
}

/// The file with the master keys of an embedded database; a new one gets it.
fn made_in(folder: &DataFolder, entropy: &dyn Entropy) -> anyhow::Result<KeyFile> {
    let file = of_folder(folder)?;
    if !folder.has_database()? && !file.exists() {
        file.make(&MasterKey::generate(entropy))?;
    }
    Ok(file)
}

fn accepted_keys(list: Option<&SecretString>) -> anyhow::Result<Vec<MasterKey>> {
    let texts = list.map_or("", |list| list.expose_secret()).split(',').map(str::trim);
    texts.filter(|text| !text.is_empty()).map(|text| Ok(MasterKey::parse(text)?)).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use kopeck_port_system::fake::SeededEntropy;

    use super::*;

    fn folder(within: &tempfile::TempDir) -> DataFolder {
        DataFolder::make(&format!("sqlite://{}/data/kopeck.sqlite", within.path().display()), None).unwrap()
    }

    fn made(folder: &DataFolder, seed: u64) -> KeyFile {
        made_in(folder, &SeededEntropy::new(seed)).unwrap()
    }

    fn mode(file: &Path) -> u32 {
        std::fs::metadata(file).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_master_key_is_made_once_and_is_its_owners_only() {
        let within = tempfile::tempdir().unwrap();
        let folder = folder(&within);
        let key = |seed| made(&folder, seed).read().unwrap()[0].to_text().expose_secret().to_owned();
        assert_eq!(key(1), key(2));
        assert_eq!((mode(&folder.key_file()), mode(folder.path())), (0o600, 0o700));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left behind");
    }

    #[test]
    fn a_master_key_that_others_may_read_is_refused() {
        let within = tempfile::tempdir().unwrap();
        let folder = folder(&within);
        made(&folder, 1);
        std::fs::set_permissions(folder.key_file(), std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(made(&folder, 1).read().unwrap_err().to_string().contains("chmod 600"));
    }

    #[test]
    fn a_key_that_is_missing_beside_a_database_is_not_made_up() {
        let within = tempfile::tempdir().unwrap();
        let folder = folder(&within);
        folder.make_database().unwrap();
        made(&folder, 1);
        std::fs::remove_file(folder.key_file()).unwrap();
        let database = folder.path().join("kopeck.sqlite");
        std::fs::write(&database, "SQLite").unwrap();
        assert!(made(&folder, 1).read().unwrap_err().to_string().contains("put it back"));
        assert!(!folder.key_file().exists());
        assert_eq!((mode(&database), mode(&folder.bank_file())), (0o600, 0o600));
    }

    #[test]
    fn a_database_on_a_server_needs_its_key_given() {
        let folder = DataFolder::existing("postgres://kopeck:hunter2@db/kopeck", None).unwrap();
        let refused = made_in(&folder, &SeededEntropy::new(1)).unwrap_err().to_string();
        assert!(refused.contains("KOPECK_MASTER_KEY") && !refused.contains("hunter2"), "{refused}");
    }
}
