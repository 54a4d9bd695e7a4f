//! One process of the service, which is killed, stopped and started again.

use std::fs::OpenOptions;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::Instant;

/// How long a process may take until it says that it works; what it needs may be down meanwhile.
const START: Duration = Duration::from_secs(60);
/// How long one try may take.
const TRY: Duration = Duration::from_secs(20);
/// How long an orderly stop may take.
const STOP: Duration = Duration::from_secs(45);

/// A process by its name, running or not. Killed when dropped.
pub(crate) struct Process {
    name: String,
    log: PathBuf,
    command: Box<dyn Fn() -> Command + Send + Sync>,
    child: Option<Child>,
}

impl Process {
    /// A process that is started by `command`; what it logs is added to the file `log`.
    pub(crate) fn new(
        name: impl Into<String>,
        log: PathBuf,
        command: impl Fn() -> Command + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), log, command: Box::new(command), child: None }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Starts it and waits until it says that it works; returns where it listens, if it does. What it needs may be
    /// down, so it is started again if it ends before that.
    pub(crate) async fn start(&mut self) -> anyhow::Result<Option<SocketAddr>> {
        let deadline = Instant::now() + START;
        loop {
            let mut child = self.spawn()?;
            let output = child.stdout.take().context("no standard output")?;
            self.child = Some(child);
            match tokio::time::timeout(TRY, first_words(output)).await {
                Ok(Ok(Some(line))) => return Ok(address_in(&line)),
                Ok(_) | Err(_) if Instant::now() < deadline => self.kill().await?,
                Ok(_) | Err(_) => bail!("{} does not start; see {}", self.name, self.log.display()),
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// SIGKILL, and waits for the end.
    pub(crate) async fn kill(&mut self) -> anyhow::Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill().await.with_context(|| format!("cannot kill {}", self.name))?;
        }
        Ok(())
    }

    /// Sends a signal by its name, such as `STOP`.
    pub(crate) async fn signal(&self, signal: &str) -> anyhow::Result<()> {
        let id = self.child.as_ref().and_then(Child::id).context("it does not run")?;
        let sent = Command::new("kill").args(["-s", signal, &id.to_string()]).status().await?;
        anyhow::ensure!(sent.success(), "{} cannot be sent {signal}", self.name);
        Ok(())
    }

    /// The exit status, if it exited unexpectedly.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.as_mut().and_then(|child| child.try_wait().ok().flatten())
    }

    /// SIGTERM, and waits for the end; returns how it ended.
    pub(crate) async fn stop(&mut self) -> anyhow::Result<ExitStatus> {
        self.signal("TERM").await?;
        let mut child = self.child.take().context("it does not run")?;
        let ended = tokio::time::timeout(STOP, child.wait()).await;
        Ok(ended.with_context(|| format!("{} does not stop on SIGTERM", self.name))??)
    }

    fn spawn(&self) -> anyhow::Result<Child> {
        let log = OpenOptions::new().create(true).append(true).open(&self.log)?;
        (self.command)()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start {}", self.name))
    }
}

/// The first line that a process says. The rest is read and dropped, or a process with much to say would stand still.
async fn first_words(output: ChildStdout) -> std::io::Result<Option<String>> {
    let mut lines = BufReader::new(output).lines();
    let first = lines.next_line().await?;
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    Ok(first)
}

fn address_in(line: &str) -> Option<SocketAddr> {
    line.split_once("http://")?.1.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_found_where_there_is_one() {
        let address = address_in("kopeck serves on http://127.0.0.1:8080");
        assert_eq!(address, Some(SocketAddr::from(([127, 0, 0, 1], 8080))));
        assert_eq!(address_in("3 workers work"), None);
    }
}
