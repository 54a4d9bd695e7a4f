//! The examples of `docs/COMMAND-LINE.md`, played from top to bottom by the real binary against one server.
//!
//! An example is a block of `console`: lines that begin with `$ ` are given to a shell, and below each stands its
//! output, errors included, and the exit code if it is not 0. HTML comments prepare what comes: `<!-- file NAME -->` keeps the
//! next block as a file, `<!-- work -->` does the asynchronous work that is due, `<!-- log -->` writes the request log. Identifiers are those of the page: a value in
//! the place of one of them stands for it from there on.
//!
//! After a change rewrite the page and look at the diff:
//!
//! ```sh
//! UPDATE_DOCS=1 cargo test --workspace --locked --test it -- command_line_examples
//! ```

use std::fmt::Write as _;
use std::os::unix::fs::symlink;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use clap::CommandFactory as _;
use kopeck_domain::partner::SealingPolicy;
use kopeck_port_store::{Access, StoreError, transact};
use serde_json::json;

use crate::names::Names;
use crate::server::{TestPartner, TestServer};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/COMMAND-LINE.md");
/// The address of the service on the page.
const ADDRESS: &str = "http://127.0.0.1:8080";
const DEPOSIT: i64 = 10_000_000;

#[test]
fn the_examples_print_what_the_page_says() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let played = Player::new().play(&page);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PAGE, &played).unwrap();
    } else if let Some(line) = page.lines().zip(played.lines()).position(|(page, played)| page != played) {
        let from = |text: &str| text.lines().skip(line).take(16).collect::<Vec<_>>().join("\n");
        panic!("docs/COMMAND-LINE.md:{}\n{}\n\nbut it is\n{}", line + 1, from(&page), from(&played));
    } else {
        assert!(page == played, "docs/COMMAND-LINE.md has not as many lines as the play");
    }
}

#[test]
fn every_command_has_an_example() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let lines: Vec<&str> = page.lines().filter(|line| line.starts_with("$ ")).collect();
    let cli = kopeck::cli::Cli::command();
    let call = cli.find_subcommand("call").expect("kopeck call");
    let mut commands = Vec::new();
    leaves(call, "kopeck call", &mut commands);
    assert!(commands.len() > 40, "{commands:?}");
    let missing: Vec<&String> =
        commands.iter().filter(|command| !lines.iter().any(|line| line.contains(command.as_str()))).collect();
    assert!(missing.is_empty(), "commands without an example in docs/COMMAND-LINE.md: {missing:#?}");
}

fn leaves(command: &clap::Command, name: &str, found: &mut Vec<String>) {
    let below: Vec<_> = command.get_subcommands().filter(|below| below.get_name() != "help").collect();
    if below.is_empty() {
        found.push(name.to_owned());
    }
    for below in below {
        leaves(below, &format!("{name} {}", below.get_name()), found);
    }
}

/// The partner of the story, at a shell.
struct Player {
    server: TestServer,
    folder: tempfile::TempDir,
    names: Names,
}

impl Player {
    fn new() -> Self {
        let server = TestServer::start();
        let partner = server.partner(SealingPolicy::Optional, DEPOSIT);
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("bin")).unwrap();
        symlink(env!("CARGO_BIN_EXE_kopeck"), folder.path().join("bin/kopeck")).unwrap();
        let player = Self { server, folder, names: Names::default() };
        player.prepare(&partner);
        player
    }

    /// The credentials, in a file to log in with, and two profiles from before. The story has a separate clock, and
    /// sealing uses the machine's, so there is no sealing key among the credentials.
    fn prepare(&self, partner: &TestPartner) {
        let credentials =
            json!({"apiKey": partner.api_key, "login": partner.login, "password": partner.password});
        self.write("partner.json", &credentials.to_string());
        let login = |name: &str, more: &str| {
            format!(
                "[profiles.{name}]\nbase-url = \"http://127.0.0.1:9\"\napi-key = \"k\"\nlogin = \"{name}\"\npassword = \"p\"\n{more}"
            )
        };
        let key = format!("sealing-key = \"{}\"\n", partner.key.to_text().as_str());
        let profiles = format!("{}{}", login("old", ""), login("sealed", &key));
        self.write("settings/profiles.toml", &profiles);
        let done = self.shell("chmod 700 settings; chmod 600 settings/profiles.toml").output().unwrap();
        assert!(done.status.success());
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The page with what the commands print.
    fn play(&mut self, page: &str) -> String {
        let mut played = String::new();
        let mut file = None;
        let mut rest = page;
        while let Some((prose, block)) = rest.split_once("```") {
            let (block, behind) =
                block.split_once("\n```").unwrap_or_else(|| panic!("an open block: {block}"));
            let (language, text) = block.split_once('\n').unwrap_or((block, ""));
            for line in prose.lines() {
                file = self.direct(line).or(file);
            }
            let text = match (language, file.take()) {
                ("console", None) => self.console(text),
                (_, Some(name)) => {
                    self.write(&name, &format!("{}\n", self.in_this_play(text)));
                    text.to_owned()
                }
                _ => text.to_owned(),
            };
            write!(played, "{prose}```{language}\n{text}\n```").unwrap();
            rest = behind;
        }
        played + rest
    }

    /// Does what an HTML comment says; answers the name of a file that comes next.
    fn direct(&self, line: &str) -> Option<String> {
        let words = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
        match words.split_once(' ') {
            None if words == "work" => self.server.run_jobs(),
            None if words == "log" => self.server.write_request_log(),
            Some(("file", name)) => return Some(name.to_owned()),
            _ => panic!("no direction: {line}"),
        }
        None
    }

    /// Runs the commands of a block.
    fn console(&mut self, block: &str) -> String {
        let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
        for line in block.lines() {
            match (line.strip_prefix("$ "), commands.last_mut()) {
                (Some(command), _) => commands.push((command, Vec::new())),
                (None, Some((_, below))) => below.push(line),
                (None, None) => panic!("no command before {line}"),
            }
        }
        let mut shown = Vec::new();
        for (command, before) in commands {
            let printed = self.run(command);
            self.names.learn(&before.join("\n"), &printed);
            shown.push(format!("$ {command}"));
            shown.extend(self.names.as_on_the_page(&printed).lines().map(str::to_owned));
        }
        shown.join("\n")
    }

    fn run(&self, command: &str) -> String {
        let output = self.finish(&self.in_this_play(command));
        let mut printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.stderr.is_empty(), "the shell redirects: {output:?}");
        if let Some(code @ 1..) = output.status.code() {
            writeln!(printed, "(exit code {code})").unwrap();
        }
        let folder = self.folder.path().to_str().unwrap();
        printed.replace(&self.server.base_url, ADDRESS).replace(folder, "~").trim_end().to_owned()
    }

    /// Runs a command to its end. What it waits for is done as soon as it has asked for it.
    fn finish(&self, command: &str) -> Output {
        let mut child = self.shell(command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let waits = command.contains("--wait");
        while child.try_wait().unwrap().is_none() {
            if waits && self.pending() > 0 {
                self.server.run_jobs();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        child.wait_with_output().unwrap()
    }

    fn pending(&self) -> u64 {
        let count =
            |unit: &mut dyn kopeck_port_store::UnitOfWork| -> Result<_, StoreError> { unit.jobs().count() };
        transact(&*self.server.application.store, Access::Read, count).unwrap()
    }

    fn shell(&self, command: &str) -> Command {
        let mut shell = Command::new("bash");
        let (folder, path) = (self.folder.path(), std::env::var("PATH").unwrap());
        shell
            .args(["-c", &format!("{{ {command}\n}} 2>&1")])
            .current_dir(folder)
            .stdin(Stdio::null())
            .env_clear()
            .env("PATH", format!("{}:{path}", folder.join("bin").display()))
            .env("KOPECK_PROFILES", folder.join("settings/profiles.toml"));
        shell
    }

    fn in_this_play(&self, text: &str) -> String {
        self.names.in_this_play(&text.replace(ADDRESS, &self.server.base_url))
    }
}
