//! The real binary on a temporary data folder.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use kopeck::compose::{Application, SystemAdapters};
use kopeck_adapter_security::{KeyFile, KeyRing, MasterKey};
use kopeck_adapter_store_diesel::StoreKind;
use kopeck_adapter_store_diesel::testing::{TestDatabase, tamper};
use kopeck_client::{Client, RetryPolicy, SealingKey};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::database::Database;
use crate::server::SETTINGS;

const BINARY: &str = env!("CARGO_BIN_EXE_kopeck");

/// A data folder, a database, and the commands on them.
pub struct Installation {
    folder: tempfile::TempDir,
    database: Database,
    /// A file of master keys in place of the usual key.
    key_file: Option<PathBuf>,
}

/// The master key where there is no file for one.
pub const MASTER_KEY: &str = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc";

/// The output of `partner create`.
pub struct PartnerSecrets {
    pub id: String,
    pub api_key: String,
    pub login: String,
    pub password: String,
    pub sealing_key: String,
}

impl Installation {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::chosen(folder.path(), false);
        Self { folder, database, key_file: None }
    }

    /// On SQLite, whatever the others run on: for what only an embedded database has.
    pub fn embedded() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::embedded(folder.path());
        Self { folder, database, key_file: None }
    }

    /// On PostgreSQL, whatever the others run on: for what only a database on a server has.
    pub fn on_a_server() -> Self {
        let database = Database::Server(TestDatabase::empty());
        Self { folder: tempfile::tempdir().unwrap(), database, key_file: None }
    }

    /// Keeps the master key of a database on a server in a file.
    pub fn with_a_key_file(mut self) -> Self {
        let file = self.folder.path().join("keys");
        std::fs::write(&file, MASTER_KEY).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        self.key_file = Some(file);
        self
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Starts the service and stops it again. Returns its URL, the file with the demo partner's secrets, and its output.
    pub fn first_start(&self) -> (String, PathBuf, Vec<String>) {
        let running = self.serve(&[]);
        let base_url = running.base_url.clone();
        // The file is written before the first request is answered.
        let answered = Command::new("curl").args(["-s", &format!("{base_url}/v1/balance")]).status();
        assert!(answered.unwrap().success());
        let (shown, _) = running.stop("TERM");
        let file =
            shown.iter().find_map(|line| line.split_once("secrets are in ")).map(|(_, path)| path.into());
        (base_url, file.unwrap_or_else(|| panic!("{shown:?}")), shown)
    }

    /// A command on this installation, with nothing of the environment that could change it. With the simulator in the
    /// process the sandbox is on, which a database URL requires to be set.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        for (name, _) in
            std::env::vars().filter(|(name, _)| name.starts_with("KOPECK_") || name == "RUST_LOG")
        {
            command.env_remove(name);
        }
        command.args(arguments).env("KOPECK_DATABASE_URL", self.database.url()).stdin(Stdio::null());
        if crate::database::store_kind() == StoreKind::Plain {
            command.env("KOPECK_STORE", "plain");
        }
        if !arguments.contains(&"--bank-url") {
            command.env("KOPECK_SANDBOX", "true");
        }
        if let Some(beside) = self.database.beside(self.folder.path()) {
            command.env("KOPECK_DATA_DIR", beside);
            match &self.key_file {
                Some(file) => command.env("KOPECK_MASTER_KEY_FILE", file),
                None => command.env("KOPECK_MASTER_KEY", MASTER_KEY),
            };
        }
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Standard output of a command that must succeed.
    pub fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let (out, err) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(output.status.success(), "{arguments:?}: {out}{err}");
        out
    }

    /// Sets the modification time of the master keys to a minute ago.
    pub fn age_keys(&self) {
        let file = std::fs::File::options().append(true).open(self.path().join("master.key")).unwrap();
        let written = file.metadata().unwrap().modified().unwrap();
        file.set_modified(written - Duration::from_secs(60)).unwrap();
    }

    pub fn create_partner(&self, extra: &[&str]) -> PartnerSecrets {
        let shown = self.succeed(&[&["partner", "create", "--name", "Test", "--json"], extra].concat());
        Self::secrets(&shown)
    }

    /// Parses the output of `partner create --json`.
    pub fn secrets(shown: &str) -> PartnerSecrets {
        let shown: serde_json::Value = serde_json::from_str(shown).expect("nothing but JSON");
        let text = |name: &str| shown[name].as_str().unwrap().to_owned();
        PartnerSecrets {
            id: text("partnerId"),
            api_key: text("apiKey"),
            login: text("login"),
            password: text("password"),
            sealing_key: text("sealingKey"),
        }
    }

    /// Starts `serve` on a free port and waits until it says where it listens.
    pub fn serve(&self, extra: &[&str]) -> Running {
        self.start(&[&["serve", "--listen", "127.0.0.1:0"], extra].concat())
    }

    /// Starts `worker` and waits until it says that it works.
    pub fn worker(&self, extra: &[&str]) -> Running {
        self.start(&[&["worker"], extra].concat())
    }

    /// Starts `bank-simulator`, with its folder `bank` in this one, and waits until it says where it listens.
    pub fn bank_simulator(&self, listen: &str, secret: &str) -> Running {
        let folder = self.folder.path().join("bank");
        let folder = folder.to_str().unwrap();
        self.start(&["bank-simulator", "--listen", listen, "--data-dir", folder, "--secret", secret])
    }

    fn start(&self, arguments: &[&str]) -> Running {
        self.start_command(self.command(arguments))
    }

    /// Starts a command that serves or works, and waits until it says so.
    pub fn start_command(&self, mut command: Command) -> Running {
        command.stderr(File::create(self.folder.path().join("serve.log")).unwrap());
        self.start_with_log(command)
    }

    /// The same with a standard error that the caller has chosen.
    pub fn start_with_log(&self, mut command: Command) -> Running {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let base_url = lines
            .find_map(|line| {
                let line = line.ok()?;
                if line.contains("kopeck works") {
                    return Some(String::new());
                }
                url_in(&line)
            })
            .unwrap_or_else(|| panic!("{command:?} ended: {}", self.log()));
        let tells = command.get_args().any(|argument| argument == "--operations-listen");
        let operations = tells.then(|| {
            lines.find_map(|line| line.ok().as_deref().and_then(url_in)).expect("it says where it tells")
        });
        // The pipe has to be emptied, or a server with much to say would stand still.
        let rest = std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>());
        Running { child, base_url, operations: operations.unwrap_or_default(), output: Some(rest) }
    }

    /// Runs SQL on the database, past the service.
    /// The service behind the commands.
    pub fn application(&self) -> Application {
        Self::application_at(self.database.url(), self.folder.path())
    }

    /// The service on a database, with the key that is in the folder, if one is.
    pub fn application_at(database: &str, folder: &Path) -> Application {
        let file = folder.join("master.key");
        let key = if file.exists() {
            KeyFile::at(file).read().unwrap().remove(0)
        } else {
            MasterKey::parse(MASTER_KEY).unwrap()
        };
        Application::open(database, &KeyRing::of(&key), &SystemAdapters::real(), SETTINGS).unwrap()
    }

    pub fn database_url(&self) -> &str {
        self.database.url()
    }

    /// Whether a database on a server takes connections. Those that there are end if it does not.
    pub fn allow_connections(&self, allow: bool) {
        let name = self.database.url().split(['/', '?']).nth(3).unwrap();
        let admin = self.database.url().replace(name, "postgres");
        tamper(&admin, &format!("ALTER DATABASE {name} ALLOW_CONNECTIONS {allow}"));
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname =";
        tamper(&admin, &format!("{end} '{name}' AND {}", !allow));
    }

    pub fn is_embedded(&self) -> bool {
        matches!(self.database, Database::Embedded(_))
    }

    pub fn tamper(&self, statements: &str) {
        tamper(self.database.url(), statements);
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("serve.log")).unwrap_or_default()
    }
}

/// Both ends of a pseudo-terminal: what is printed to the second can be read from the first.
pub fn pseudo_terminal() -> (File, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    (File::from(ours), theirs)
}

/// An address of this machine within a line.
fn url_in(line: &str) -> Option<String> {
    let words = &mut line.split(|c: char| c.is_whitespace() || c == '"');
    let hosts = ["http://127.0.0.1:", "https://127.0.0.1:", "http://0.0.0.0:"];
    words.find(|word| hosts.iter().any(|host| word.starts_with(host))).map(str::to_owned)
}

/// A running server; killed when dropped.
pub struct Running {
    child: Child,
    pub base_url: String,
    /// The address of its operations port, if it has one.
    pub operations: String,
    output: Option<std::thread::JoinHandle<Vec<String>>>,
}

impl Running {
    /// SIGKILL, and wait for the end.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal by name; answers the rest of what the server said and whether it ended well.
    pub fn stop(mut self, signal: &str) -> (Vec<String>, bool) {
        self.signal(signal);
        let well = self.end();
        (self.output.take().unwrap().join().unwrap(), well)
    }

    /// Waits for the end of a stopping server; returns whether it ended with success.
    pub fn end(&mut self) -> bool {
        let patience = Instant::now() + Duration::from_secs(30);
        loop {
            match self.child.try_wait().unwrap() {
                Some(status) => return status.success(),
                None if Instant::now() > patience => panic!("the server does not stop"),
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    /// A figure of its memory in KiB, such as `VmHWM:`, the most that was ever resident.
    pub fn memory_kib(&self, figure: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(figure)).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
    }

    /// How many of its threads have one of these names.
    pub fn threads(&self, names: &[&str]) -> usize {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let name = |thread: std::io::Result<std::fs::DirEntry>| {
            std::fs::read_to_string(thread.unwrap().path().join("comm"))
        };
        threads.filter_map(|thread| name(thread).ok()).filter(|name| names.contains(&name.trim())).count()
    }

    /// Whether the process has not ended.
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// From now on it can write files up to this offset alone, as if the disk were full; `None`: as far as it likes. It
    /// has to ignore SIGXFSZ.
    pub fn limit_files(&self, bytes: Option<u64>) {
        let limit = Rlimit { current: bytes, maximum: None };
        prlimit(Some(Pid::from_child(&self.child)), Resource::Fsize, limit).unwrap();
    }

    /// Sends a signal by name.
    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args(["-s", signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// The status and the text of `path` at its operations port.
    pub fn ask(&self, path: &str) -> (u16, String) {
        ask(&self.operations, path)
    }

    /// A client that tries everything once.
    pub fn client(&self, partner: &PartnerSecrets) -> Client {
        Client::builder(&self.base_url)
            .api_key(partner.api_key.as_str())
            .login(&partner.login)
            .password(partner.password.as_str())
            .sealing_key(SealingKey::parse(&partner.sealing_key).unwrap())
            .retry(RetryPolicy::none())
            .build()
            .unwrap()
    }
}

/// The status and the text of a page that needs no token.
pub fn ask(url: &str, path: &str) -> (u16, String) {
    let output =
        Command::new("curl").args(["-s", "-w", "\n%{http_code}", &format!("{url}{path}")]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let (text, status) = said.rsplit_once('\n').unwrap();
    (status.parse().unwrap(), text.to_owned())
}

impl Drop for Running {
    fn drop(&mut self) {
        // Already gone if the test stopped or killed it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
