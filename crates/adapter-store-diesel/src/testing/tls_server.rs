//! A PostgreSQL server with TLS, for tests.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// A PostgreSQL server of its own on 127.0.0.1 that accepts TLS connections only. It ends with this value or with the
/// process. It needs PostgreSQL's server binaries on this machine, whatever `TEST_DATABASE_URL` says.
pub struct TlsServer {
    script: Child,
    port: u16,
}

impl TlsServer {
    /// Starts a server that shows this certificate chain, and trusts clients of this authority. All are PEM.
    ///
    /// # Panics
    /// If there is no PostgreSQL to start.
    #[must_use]
    pub fn start(chain: &str, key: &str, clients: &str) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/lib/postgres-with-tls");
        let mut script = Command::new(script)
            .envs([("TLS_CHAIN", chain), ("TLS_KEY", key), ("TLS_CLIENT_CA", clients)])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("scripts/lib/postgres-with-tls can be run");
        let mut line = String::new();
        let stdout = script.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("the script's output");
        let port = line.trim().parse().expect("a port: the reason stands above");
        Self { script, port }
    }

    /// The URL of its database `postgres`, by this host name or address, with these parameters. `template1` is open only to
    /// clients with a certificate for their role.
    #[must_use]
    pub fn url(&self, host: &str, parameters: &str) -> String {
        format!("postgres://kopeck@{host}:{}/postgres?hostaddr=127.0.0.1&{parameters}", self.port)
    }
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        // The end of its standard input ends the script, which removes the server.
        drop(self.script.stdin.take());
        let _ = self.script.wait();
    }
}
