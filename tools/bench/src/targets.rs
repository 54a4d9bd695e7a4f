//! Whom the load is for: partners with their tokens and what they have.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use anyhow::Context as _;
use kopeck_sealing::SealingKey;
use serde::{Deserialize, Serialize};

/// What `seed` has made; a file hands it on. Not `Debug`: tokens and keys are never shown.
#[derive(Serialize, Deserialize)]
pub(crate) struct Targets {
    /// The partners.
    pub(crate) partners: Vec<Target>,
    /// How many employees each of them has, numbered from 1.
    pub(crate) employees: u64,
    /// How many cards each employee has: none, or a MAIN and an ADDITIONAL one.
    pub(crate) cards: u64,
}

/// A partner.
#[derive(Serialize, Deserialize)]
pub(crate) struct Target {
    /// Its number, see [`crate::numbered`].
    pub(crate) number: u64,
    /// Good for a day.
    pub(crate) access_token: String,
    /// The text of its sealing key.
    sealing_key: String,
    /// The token of a session of its owner in the console, if it was seeded: good for a quarter of an hour.
    pub(crate) console_session: String,
}

impl Target {
    /// A partner with its token and its key.
    pub(crate) fn new(number: u64, access_token: String, key: &SealingKey) -> Self {
        let sealing_key = key.to_text().to_string();
        Self { number, access_token, sealing_key, console_session: String::new() }
    }

    /// The key that it seals with.
    ///
    /// # Errors
    /// If the text is none.
    pub(crate) fn key(&self) -> anyhow::Result<SealingKey> {
        SealingKey::parse(&self.sealing_key).context("the sealing key of a target")
    }
}

impl Targets {
    /// Reads the file.
    ///
    /// # Errors
    /// If there is none, or it is no such file.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let targets: Self = serde_json::from_slice(&text).context("this is no file of targets")?;
        anyhow::ensure!(!targets.partners.is_empty(), "the file of targets has no partner");
        Ok(targets)
    }

    /// Writes the file, readable by its owner alone.
    ///
    /// # Errors
    /// If that fails.
    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        Ok(())
    }
}
