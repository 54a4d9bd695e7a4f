//! The PostgreSQL cluster, which is stopped as by a power failure and started again.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use tokio::process::Command;

/// A cluster and the command that rules it.
pub(crate) struct Cluster {
    pg_ctl: Vec<String>,
}

impl Cluster {
    pub(crate) const fn new(pg_ctl: Vec<String>) -> Self {
        Self { pg_ctl }
    }

    /// Ends every server process at once, without a checkpoint, waits for `down`, and starts it again.
    pub(crate) async fn crash(&self, down: Duration) -> anyhow::Result<()> {
        self.rule(&["stop", "-m", "immediate"]).await?;
        tokio::time::sleep(down).await;
        self.rule(&["start"]).await
    }

    async fn rule(&self, words: &[&str]) -> anyhow::Result<()> {
        let (program, first) = self.pg_ctl.split_first().context("no command for PostgreSQL")?;
        // The server inherits pg_ctl's files, so none may be a pipe that this process reads to its end.
        let status = Command::new(program)
            .args(first)
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .await
            .with_context(|| format!("cannot run {program}"))?;
        ensure!(status.success(), "pg_ctl {} failed: {status}", words.join(" "));
        Ok(())
    }
}
