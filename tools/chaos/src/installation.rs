//! A folder, a database and the commands on it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use kopeck_client::SealingKey;
use kopeck_domain::Kopecks;
use serde_json::Value;
use tokio::process::Command;

/// 32 bytes as base64url.
const MASTER_KEY: &str = "Y2hhb3MtY2hhb3MtY2hhb3MtY2hhb3MtY2hhb3MtY2g";
/// The secret that service and bank share.
pub(crate) const BANK_SECRET: &str = "chaos-and-bank";

/// A binary, a folder and a database.
#[derive(Debug, Clone)]
pub(crate) struct Installation {
    pub(crate) binary: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) database_url: String,
    pub(crate) bank_url: String,
    pub(crate) bank_doubles: bool,
}

/// The output of `partner create`.
#[derive(Clone)]
pub(crate) struct PartnerSecrets {
    pub(crate) api_key: String,
    pub(crate) login: String,
    pub(crate) password: String,
    pub(crate) sealing_key: SealingKey,
}

impl Installation {
    /// A command on this installation, with nothing of the environment that could change it.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        let ours = |name: &str| name.starts_with("KOPECK_") || name == "RUST_LOG";
        for (name, _) in std::env::vars().filter(|(name, _)| ours(name)) {
            command.env_remove(name);
        }
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env("KOPECK_DATABASE_URL", &self.database_url)
            .env("KOPECK_MASTER_KEY", MASTER_KEY)
            .env("KOPECK_BANK_SECRET", BANK_SECRET);
        command
    }

    /// A command that serves or works, so that faults are found out soon and much happens in little time.
    pub(crate) fn service_command(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        command
            .env("KOPECK_BANK_URL", &self.bank_url)
            .env("KOPECK_BANK_REPEAT_SAFE", if self.bank_doubles { "false" } else { "true" })
            .env("KOPECK_SANDBOX", "true")
            .env("KOPECK_PROCESSING_DELAY", "1s")
            .env("KOPECK_ACCESS_TTL", "30s")
            // The month ends before the faults: what happened in it is not to expire.
            .env("KOPECK_EVENT_TTL", "90d")
            // Days pass during the faults, and calls are made again after them.
            .env("KOPECK_IDEMPOTENCY_TTL", "90d");
        command
    }

    /// Makes a partner with `deposit` kopecks.
    pub(crate) async fn create_partner(&self, name: &str, deposit: i64) -> anyhow::Result<PartnerSecrets> {
        let deposit = Kopecks::new(deposit).to_string();
        let arguments = ["partner", "create", "--json", "--name", name, "--deposit", &deposit, "--yes"];
        let (succeeded, said) = self.run(&arguments).await?;
        ensure!(succeeded, "partner create: {said}");
        let shown: Value = serde_json::from_str(&said).context("partner create")?;
        let text = |name: &str| match shown.get(name).and_then(Value::as_str) {
            Some(text) => Ok(text.to_owned()),
            None => bail!("partner create: no {name}"),
        };
        Ok(PartnerSecrets {
            api_key: text("apiKey")?,
            login: text("login")?,
            password: text("password")?,
            sealing_key: SealingKey::parse(&text("sealingKey")?).context("the sealing key")?,
        })
    }

    /// `kopeck check`: nothing if the ledger is right, else what it says.
    pub(crate) async fn check(&self) -> anyhow::Result<Option<String>> {
        let (succeeded, said) = self.run(&["check"]).await?;
        Ok((!succeeded).then_some(said))
    }

    /// Runs a command to its end; returns whether it succeeded and what it said.
    pub(crate) async fn run(&self, arguments: &[&str]) -> anyhow::Result<(bool, String)> {
        let output = self.command(arguments).output().await.context("cannot run kopeck")?;
        let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            said.push_str(&String::from_utf8_lossy(&output.stderr));
        }
        Ok((output.status.success(), said))
    }

    /// The log of a process.
    pub(crate) fn log(&self, process: &str) -> PathBuf {
        self.logs().join(format!("{process}.log"))
    }

    /// The folder of all logs.
    pub(crate) fn logs(&self) -> PathBuf {
        self.folder.join("logs")
    }

    /// The books of the bank.
    pub(crate) fn bank_books(&self) -> PathBuf {
        self.bank_folder().join("bank.sqlite")
    }

    /// The folder of the bank simulator.
    pub(crate) fn bank_folder(&self) -> PathBuf {
        Path::new(&self.folder).join("bank")
    }
}
