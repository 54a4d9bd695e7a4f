//! Connections to a PostgreSQL server that has a certificate.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use diesel::{PgConnection, sql_query};
use kopeck_adapter_store_diesel::testing::TlsServer;
use kopeck_adapter_store_diesel::{BatchedStore, OpenError, migrate};
use tempfile::TempDir;

use crate::certificates::Authority;
use crate::support::{NOW, PARTNER, clock, config, credentials, read, write};

/// A server that names itself `db.internal`, and who certified it.
struct Certified {
    server: TlsServer,
    authority: Authority,
}

/// One server for all tests; it ends with the process.
fn certified() -> &'static Certified {
    static SERVER: OnceLock<Certified> = OnceLock::new();
    SERVER.get_or_init(|| {
        let authority = Authority::new("Ours");
        let own = authority.certify("db.internal");
        let server = TlsServer::start(&own.certificate, &own.key, &authority.certificate());
        migrate(&server.url("db.internal", "sslmode=require")).unwrap();
        Certified { server, authority }
    })
}

fn write_certificate(folder: &TempDir, authority: &Authority) -> PathBuf {
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, authority.certificate()).unwrap();
    file
}

fn verify_full(host: &str, ca: &Path) -> String {
    certified().server.url(host, &format!("sslmode=verify-full&sslrootcert={}", ca.display()))
}

fn open(url: &str) -> Result<BatchedStore, OpenError> {
    BatchedStore::open(config(url, clock()))
}

fn refusal(url: &str) -> String {
    open(url).err().unwrap().to_string()
}

#[derive(QueryableByName)]
struct Sessions {
    #[diesel(sql_type = BigInt)]
    count: i64,
    #[diesel(sql_type = Bool)]
    encrypted: bool,
}

const SESSIONS: &str = "
    SELECT count(*) AS count, bool_and(s.ssl) AS encrypted
    FROM pg_stat_activity a JOIN pg_stat_ssl s USING (pid) WHERE a.application_name = 'tls-test'";

#[test]
fn the_store_works_over_a_verified_connection() {
    let folder = tempfile::tempdir().unwrap();
    let ca = write_certificate(&folder, &certified().authority);
    let url = verify_full("db.internal", &ca) + "&application_name=tls-test";
    let store = open(&url).unwrap();
    write(&store, |unit| unit.partners().insert(&credentials())).unwrap();
    let found = read(&store, |unit| unit.partners().get(PARTNER)).unwrap().unwrap();
    assert_eq!(found.created_at, NOW);

    let mut observer = PgConnection::establish(&verify_full("db.internal", &ca)).unwrap();
    let sessions: Sessions = sql_query(SESSIONS).get_result(&mut observer).unwrap();
    // One that writes, one that reads, and the health check; a pool opens another one while the first is slow to connect.
    assert!(sessions.encrypted && sessions.count >= 3, "{} sessions", sessions.count);
}

#[test]
fn a_certificate_of_another_authority_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let foreign = write_certificate(&folder, &Authority::new("Foreign"));
    let refused = refusal(&verify_full("db.internal", &foreign));
    assert!(refused.contains("certificate verify failed"), "{refused}");
}

#[test]
fn a_certificate_for_another_host_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let ca = write_certificate(&folder, &certified().authority);
    let refused = refusal(&verify_full("db.example", &ca));
    assert!(refused.contains("does not match host name"), "{refused}");
}

#[test]
fn tls_can_be_required_without_an_authority() {
    assert!(open(&certified().server.url("db.internal", "sslmode=require")).is_ok());
    let refused = refusal(&certified().server.url("db.internal", "sslmode=disable"));
    assert!(refused.contains("no encryption"), "{refused}");
}

/// In place of a password.
#[test]
fn a_server_can_authenticate_the_role_by_a_client_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let url = |issuer: &Authority| {
        let client = issuer.certify("kopeck");
        let [certificate, key] = ["client.pem", "client.key"].map(|name| folder.path().join(name));
        std::fs::write(&certificate, client.certificate).unwrap();
        std::fs::write(&key, client.key).unwrap();
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
        let files = format!("&sslcert={}&sslkey={}", certificate.display(), key.display());
        certified().server.url("db.internal", "sslmode=require").replace("/postgres?", "/template1?") + &files
    };
    let connect = |url: &str| PgConnection::establish(url).map(drop).map_err(|error| error.to_string());
    let without =
        certified().server.url("db.internal", "sslmode=require").replace("/postgres?", "/template1?");
    assert!(connect(&without).unwrap_err().contains("requires a valid client certificate"));
    connect(&url(&certified().authority)).unwrap();
    assert!(connect(&url(&Authority::new("Foreign"))).is_err());
}
