//! The terminals of a reader: one to paste into, and one where a server goes on.

use std::io::{BufRead, BufReader, Read, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::process::pseudo_terminal;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// Begins the line that ends what a paste prints.
const END: char = '\u{1}';
/// How long a paste or the start of a server may take, with a build of an example in it.
const PATIENCE: Duration = Duration::from_secs(600);

/// A folder that looks like the repository after a build, but for the data of others.
pub struct Checkout {
    folder: tempfile::TempDir,
}

impl Checkout {
    pub fn new() -> Self {
        let checkout = Self { folder: tempfile::tempdir().unwrap() };
        for name in ["docs", "clients", "crates"] {
            symlink(Path::new(REPOSITORY).join(name), checkout.path().join(name)).unwrap();
        }
        std::fs::create_dir_all(checkout.path().join("target/release")).unwrap();
        symlink(env!("CARGO_BIN_EXE_kopeck"), checkout.path().join("target/release/kopeck")).unwrap();
        std::fs::create_dir(checkout.path().join("bin")).unwrap();
        let cargo = checkout.path().join("bin/cargo");
        std::fs::write(&cargo, Checkout::cargo()).unwrap();
        std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o700)).unwrap();
        checkout
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Nothing is built twice: neither the service as a release, nor a single example, for which cargo would compile the
    /// dependencies with fewer features.
    fn cargo() -> String {
        format!(
            r#"#!/bin/sh
if [ "$1 $2 $3" = 'run --release --' ]; then
    shift 3
    exec '{service}' "$@"
fi
cd '{REPOSITORY}'
example="$(dirname '{service}')/examples/$6"
if [ "$1 $2 $3 $5" = 'run -q -p --example' ] && [ -f "crates/${{4#kopeck-}}/examples/$6.rs" ] && [ -x "$example" ]; then
    shift 6
    [ "$1" != -- ] || shift
    exec "$example" "$@"
fi
exec '{cargo}' "$@"
"#,
            service = env!("CARGO_BIN_EXE_kopeck"),
            cargo = env!("CARGO"),
        )
    }

    /// bash in this folder, with nothing of the environment that could change what is called.
    pub fn bash(&self) -> Command {
        let mut bash = Command::new("bash");
        let names = std::env::vars().map(|(name, _)| name);
        for name in names.filter(|name| name.starts_with("KOPECK_") || name == "RUST_LOG") {
            bash.env_remove(name);
        }
        let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
        for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            if std::env::var_os(name).is_none() {
                bash.env(name, home.join(folder));
            }
        }
        let path = format!("{}:{}", self.path().join("bin").display(), std::env::var("PATH").unwrap());
        bash.current_dir(self.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .env("PATH", path)
            .env("HOME", self.path())
            .env("KOPECK_PROFILES", self.path().join("settings/profiles.toml"));
        bash
    }
}

/// One shell from the first paste of a chapter to its last.
pub struct Terminal {
    shell: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    paste: PathBuf,
}

impl Terminal {
    pub fn open(checkout: &Checkout, environment: &[(&str, &str)]) -> Self {
        let mut bash = checkout.bash();
        bash.args(["-u", "-o", "pipefail"]).envs(environment.iter().copied());
        let mut shell = bash.stdin(Stdio::piped()).spawn().unwrap();
        let (input, lines) = (shell.stdin.take().unwrap(), lines_of(&mut shell));
        Self { shell, input, lines, paste: checkout.path().join("bin/paste") }
    }

    /// Runs a script. Returns its output, errors included, and the exit code if it is not 0. Calls `meanwhile` repeatedly.
    pub fn paste(&mut self, script: &str, meanwhile: impl Fn()) -> String {
        // From a file, so that the shell never waits for the end of a text that is left open.
        std::fs::write(&self.paste, script).unwrap();
        writeln!(self.input, ". {} </dev/null 2>&1; printf '\\n{END}%s\\n' $?", self.paste.display())
            .unwrap();
        let mut printed = String::new();
        let mut waited = Duration::ZERO;
        let pause = Duration::from_millis(5);
        loop {
            match self.lines.recv_timeout(pause) {
                Ok(line) => match line.strip_prefix(END) {
                    Some("0") => return printed.trim_end().to_owned(),
                    Some(code) => {
                        return format!("{}\n(exit code {code})", printed.trim_end()).trim().to_owned();
                    }
                    None => printed = printed + &line + "\n",
                },
                Err(RecvTimeoutError::Timeout) if waited < PATIENCE => {
                    waited += pause;
                    meanwhile();
                }
                Err(_) => panic!("the shell does not come to the end of\n{script}\n{printed}"),
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        end(&mut self.shell);
    }
}

/// A command that goes on until the end of the chapter.
pub struct Server {
    process: Child,
    lines: Receiver<String>,
}

impl Server {
    /// `command` is a single one. It listens on a free port and does at once what it does later.
    pub fn start(checkout: &Checkout, command: &str) -> Self {
        let mut bash = checkout.bash();
        bash.args(["-c", &format!("exec {command}")]).stderr(Stdio::null());
        bash.env("KOPECK_LISTEN", "127.0.0.1:0").env("KOPECK_PROCESSING_DELAY", "0s");
        // The reader sits at a terminal, and only there the first start prints its secrets.
        let (shown, terminal) = pseudo_terminal();
        let process = bash.stdout(terminal).spawn().unwrap();
        Self { process, lines: lines_in(shown) }
    }

    /// The first lines of what it says.
    pub fn says(&self, count: usize) -> String {
        let line = |_| self.lines.recv_timeout(PATIENCE).expect("the server says as much as the page shows");
        (0..count).map(line).collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        end(&mut self.process);
    }
}

fn end(process: &mut Child) {
    // It may have exited already.
    let _ = process.kill();
    let _ = process.wait();
}

/// The lines that a process prints, as they come.
fn lines_of(process: &mut Child) -> Receiver<String> {
    lines_in(process.stdout.take().unwrap())
}

fn lines_in(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    let output = BufReader::new(output);
    std::thread::spawn(move || {
        // After the chapter there is no receiver; the pipe is emptied all the same.
        // A terminal ends a line with a carriage return too.
        let lines = output.lines().map_while(Result::ok).map(|line| line.trim_end_matches('\r').to_owned());
        lines.for_each(|line| drop(sender.send(line)));
    });
    lines
}
