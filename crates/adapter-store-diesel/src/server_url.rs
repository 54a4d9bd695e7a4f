//! What the URL of a PostgreSQL server says about TLS. libpq reads the URL itself; this only asks what it will do.

use std::borrow::Cow;
use std::net::IpAddr;
use std::path::Path;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// How connections to the database are protected against others on the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// They do not leave this machine: an embedded database, a Unix socket or a loopback address.
    Local,
    /// TLS with a verified certificate and host name.
    VerificationReport,
    /// No TLS, or TLS with a server whose identity is not verified.
    Unverified,
}

/// Whether the URL is one of a database server.
pub(crate) fn is_server(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

/// How connections to the database at `url` are protected.
#[must_use]
pub fn protection(url: &str) -> Protection {
    if !is_server(url) {
        return Protection::Local;
    }
    let url = read(url);
    if url.is_local() {
        Protection::Local
    } else if url.verifies() {
        Protection::VerificationReport
    } else {
        Protection::Unverified
    }
}

/// The URL with the file of the system's certificate authorities for `sslrootcert=system`. The OpenSSL that is compiled in
/// does not know where the system keeps them.
pub(crate) fn with_system_roots(url: &str) -> Cow<'_, str> {
    let read = read(url);
    // libpq refuses a weaker mode with `system`, so that one stays as it is.
    if !read.has_system_roots() || !read.verifies() {
        return Cow::Borrowed(url);
    }
    match openssl_probe::probe().cert_file {
        Some(file) => Cow::Owned(with_roots(url, &file)),
        None => Cow::Borrowed(url),
    }
}

/// The later of two parameters of the same name holds.
fn with_roots(url: &str, file: &Path) -> String {
    let separator = if url.contains('?') { '&' } else { '?' };
    let file = file.to_string_lossy();
    let file = utf8_percent_encode(&file, NON_ALPHANUMERIC);
    format!("{url}{separator}sslmode=verify-full&sslrootcert={file}")
}

struct ServerUrl<'a, E> {
    url: &'a str,
    /// libpq reads defaults from environment variables.
    environment: E,
}

fn read(url: &str) -> ServerUrl<'_, impl Fn(&str) -> Option<String>> {
    ServerUrl { url, environment: |name: &str| std::env::var(name).ok() }
}

impl<E: Fn(&str) -> Option<String>> ServerUrl<'_, E> {
    /// A parameter of the URL, else of the environment.
    fn parameter(&self, name: &str, variable: &str) -> Option<String> {
        let (_, query) = self.url.split_once('?').unwrap_or_default();
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let value = pairs.rfind(|(given, _)| *given == name).map(|(_, value)| decoded(value));
        value.or_else(|| (self.environment)(variable)).filter(|value| !value.is_empty())
    }

    fn has_system_roots(&self) -> bool {
        self.parameter("sslrootcert", "PGSSLROOTCERT").is_some_and(|roots| roots == "system")
    }

    fn verifies(&self) -> bool {
        match self.parameter("sslmode", "PGSSLMODE") {
            Some(mode) => mode == "verify-full",
            None => self.has_system_roots(),
        }
    }

    fn is_local(&self) -> bool {
        // The address to connect to, if the host is only the name to verify.
        let hosts = self.parameter("hostaddr", "PGHOSTADDR").or_else(|| self.host());
        hosts.is_none_or(|hosts| hosts.split(',').all(is_local_host))
    }

    /// The hosts, with commas between them.
    fn host(&self) -> Option<String> {
        let (_, rest) = self.url.split_once("://").unwrap_or_default();
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        let hosts = authority.rsplit('@').next().unwrap_or_default();
        let hosts: Vec<String> = hosts.split(',').map(|host| decoded(without_port(host))).collect();
        let in_authority = Some(hosts.join(",")).filter(|hosts| !hosts.is_empty());
        let (_, query) = self.url.split_once('?').unwrap_or_default();
        if query.split('&').any(|pair| pair.starts_with("host=")) || in_authority.is_none() {
            return self.parameter("host", "PGHOST");
        }
        in_authority
    }
}

fn without_port(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}

fn is_local_host(host: &str) -> bool {
    let is_socket = host.is_empty() || host.starts_with(['/', '@']);
    is_socket || host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_in<'a>(
        url: &'a str,
        environment: &'a [(&str, &str)],
    ) -> ServerUrl<'a, impl Fn(&str) -> Option<String>> {
        let environment = |name: &str| {
            environment.iter().find(|(given, _)| *given == name).map(|(_, value)| (*value).to_owned())
        };
        ServerUrl { url, environment }
    }

    #[test]
    fn sockets_and_loopback_addresses_are_local() {
        for local in [
            "postgres://kopeck@/kopeck",
            "postgres:///kopeck?host=%2Frun%2Fpostgresql",
            "postgres://db.internal/kopeck?host=/run/postgresql",
            "postgres://kopeck:p@ss@localhost:5433/kopeck",
            "postgres://127.0.0.1,[::1]:5432/kopeck",
            "postgres://db.internal/kopeck?hostaddr=127.0.0.1",
        ] {
            assert!(read_in(local, &[]).is_local(), "{local}");
        }
        for remote in [
            "postgres://db.internal/kopeck",
            "postgres://db.internal?sslmode=require",
            "postgres://kopeck:secret@10.0.0.1:5432/kopeck",
            "postgres://localhost,db.internal/kopeck",
            "postgres://[2001:db8::1]:5432/kopeck",
            "postgres:///kopeck?host=db.internal",
            "postgres://localhost/kopeck?hostaddr=10.0.0.1",
        ] {
            assert!(!read_in(remote, &[]).is_local(), "{remote}");
        }
        assert!(!read_in("postgres:///kopeck", &[("PGHOST", "db.internal")]).is_local());
        assert_eq!(protection("sqlite://kopeck.sqlite"), Protection::Local);
    }

    #[test]
    fn only_verify_full_verifies_the_server() {
        let verifies =
            |query: &str| read_in(&format!("postgres://db.internal/kopeck{query}"), &[]).verifies();
        assert!(verifies("?sslmode=verify-full"));
        assert!(verifies("?sslrootcert=system"));
        assert!(verifies("?sslmode=require&sslmode=verify-full"), "the last one holds");
        for weaker in [
            "",
            "?sslmode=prefer",
            "?sslmode=require",
            "?sslmode=verify-ca",
            "?sslmode=verify-full&sslmode=disable",
        ] {
            assert!(!verifies(weaker), "{weaker}");
        }
        assert!(read_in("postgres://db.internal/kopeck", &[("PGSSLMODE", "verify-full")]).verifies());
    }

    #[test]
    fn the_file_of_the_systems_authorities_is_escaped() {
        let url = with_roots("postgres://db/kopeck?sslrootcert=system", Path::new("/etc/a b.pem"));
        let read = read_in(&url, &[]);
        assert_eq!(read.parameter("sslrootcert", "").as_deref(), Some("/etc/a b.pem"));
        assert!(read.verifies());
        let weak = "postgres://db/kopeck?sslrootcert=system&sslmode=require";
        assert_eq!(with_system_roots(weak), weak, "libpq refuses it");
    }
}
