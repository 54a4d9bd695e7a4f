//! Databases for tests: a [`MemoryStore`], and databases on a PostgreSQL server.
//!
//! `TEST_DATABASE_URL` is the URL of a server on which the tests may make and drop databases; `scripts/test` starts
//! one and sets it. A test that finds none fails: it is never passed over.
#![expect(clippy::expect_used, clippy::panic, reason = "the module is test code: it fails by panicking")]

mod memory_store;
mod roles;
mod tls_server;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection, QueryableByName, RunQueryDsl, SqliteConnection};

pub use memory_store::MemoryStore;
pub use roles::Roles;
pub use tls_server::TlsServer;

/// A database that goes with this value.
pub struct TestDatabase {
    name: String,
    url: String,
}

impl TestDatabase {
    /// A database without migrations.
    #[must_use]
    pub fn empty() -> Self {
        Self::copy_of("template0")
    }

    /// A database with all migrations. They are applied once; the rest are copies.
    #[must_use]
    pub fn migrated() -> Self {
        static TEMPLATE: OnceLock<String> = OnceLock::new();
        Self::copy_of(TEMPLATE.get_or_init(make_template))
    }

    /// A copy of this database, which must have no connections.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self::copy_of(&self.name)
    }

    /// Its URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Runs statements on it, over a connection of their own.
    pub fn run(&self, statements: &str) {
        run(&self.url, statements);
    }

    fn copy_of(template: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("kopeck_test_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let server = server();
        run(&server, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
        run(&server, &format!("CREATE DATABASE {name} TEMPLATE {template}"));
        let url = with_database(&server, &name);
        Self { name, url }
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let dropped = PgConnection::establish(&server()).is_ok_and(|mut server| {
            server.batch_execute(&format!("DROP DATABASE {} WITH (FORCE)", self.name)).is_ok()
        });
        // A test that fails has more to say than this.
        assert!(dropped || std::thread::panicking(), "the database {} could not be dropped", self.name);
    }
}

/// Runs statements on the database at `url` behind every store's back, as a damaged disk or an idle hand might.
///
/// # Panics
/// If they fail.
pub fn tamper(url: &str, statements: &str) {
    match url.strip_prefix("sqlite://") {
        Some(path) => {
            let mut connection = SqliteConnection::establish(path).expect("the database can be opened");
            connection.batch_execute(statements).unwrap_or_else(|error| panic!("{statements}: {error}"));
        }
        None => run(url, statements),
    }
}

/// Everything in the database at `url`: the bytes of an embedded one's file and of its log, or the text of each row on a
/// server, which is what `pg_dump` writes.
///
/// # Panics
/// If it cannot be read.
#[must_use]
pub fn dump(url: &str) -> Vec<u8> {
    if let Some(path) = url.strip_prefix("sqlite://") {
        let read = |path: String| std::fs::read(path).expect("the file can be read");
        return [read(path.to_owned()), read(format!("{path}-wal"))].concat();
    }
    let mut connection = connect(url);
    let mut texts = |query: &str| -> Vec<Text> {
        diesel::sql_query(query).load(&mut connection).unwrap_or_else(|error| panic!("{query}: {error}"))
    };
    let tables = texts(
        "SELECT relname::text AS line FROM pg_class WHERE relkind = 'r' AND relname IN \
        (SELECT tablename FROM pg_tables WHERE schemaname = 'public')",
    );
    let rows =
        tables.iter().flat_map(|table| texts(&format!("SELECT t::text AS line FROM {} t", table.line)));
    rows.map(|row| row.line).collect::<Vec<_>>().join("\n").into_bytes()
}

/// The statements that insert the rows of the database at `url`, in an order that references allow.
///
/// # Panics
/// If it cannot be read.
#[must_use]
pub fn inserts(url: &str) -> String {
    // A query for each table, which makes a statement of each row.
    const SQLITE: &str = "
        SELECT 'SELECT ''INSERT INTO ' || t.name || ' (' || group_concat(c.name, ', ') || ') VALUES ('' || '
            || group_concat('quote(' || c.name || ')', ' || '', '' || ') || ' || '');'' AS line FROM ' || t.name AS line
        FROM sqlite_schema t JOIN pragma_table_info(t.name) c
        WHERE t.type = 'table' AND t.name NOT LIKE '!_!_%' ESCAPE '!' GROUP BY t.name ORDER BY t.rowid";
    const POSTGRES: &str = "
        SELECT format('SELECT format(''INSERT INTO %s SELECT (%%L::%s).*;'', t::text) AS line FROM %s t', relname, relname,
            relname) AS line
        FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname NOT LIKE '!_!_%' ESCAPE '!'
        ORDER BY oid";
    macro_rules! rows {
        ($connection:expr, $tables:expr) => {{
            let mut connection = $connection;
            let mut texts = |query: &str| -> Vec<Text> {
                diesel::sql_query(query)
                    .load(&mut connection)
                    .unwrap_or_else(|error| panic!("{query}: {error}"))
            };
            let tables = texts($tables);
            tables.iter().flat_map(|table| texts(&table.line)).map(|row| row.line + "\n").collect()
        }};
    }
    match url.strip_prefix("sqlite://") {
        Some(path) => {
            rows!(SqliteConnection::establish(path).expect("the database can be opened"), SQLITE)
        }
        None => rows!(connect(url), POSTGRES),
    }
}

#[derive(QueryableByName)]
struct Text {
    #[diesel(sql_type = diesel::sql_types::Text)]
    line: String,
}

fn server() -> String {
    std::env::var("TEST_DATABASE_URL").unwrap_or_else(|_| {
        panic!(
            "TEST_DATABASE_URL is not set: run scripts/test, which starts a PostgreSQL for the tests, or set it to \
             the URL of a server where they may make databases"
        )
    })
}

/// Makes the database that others are copied from, unless another process of tests has done so. Its name tells the
/// migrations, so that it is never out of date.
fn make_template() -> String {
    let mut hasher = DefaultHasher::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations/postgres");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the migrations are there")
        .map(|entry| entry.expect("an entry of the folder").path().join("up.sql"))
        .collect();
    files.sort();
    for file in files {
        file.hash(&mut hasher);
        std::fs::read(file).expect("a migration can be read").hash(&mut hasher);
    }
    let name = format!("kopeck_template_{:016x}", hasher.finish());
    let server = server();
    // Renamed into place, so that a copy of a half-made one is never taken.
    let draft = format!("{name}_{}", std::process::id());
    run(&server, &format!("DROP DATABASE IF EXISTS {draft} WITH (FORCE)"));
    run(&server, &format!("CREATE DATABASE {draft} TEMPLATE template0"));
    crate::migrate(&with_database(&server, &draft)).expect("the migrations can be applied");
    let mut connection = connect(&server);
    if connection.batch_execute(&format!("ALTER DATABASE {draft} RENAME TO {name}")).is_err() {
        run(&server, &format!("DROP DATABASE {draft} WITH (FORCE)"));
    }
    name
}

/// `url` with another user, who has this password.
fn with_user(url: &str, user: &str, password: &str) -> String {
    let (scheme, rest) = url.split_once("://").expect("a URL");
    let (authority, place) = rest.split_once('/').expect("a URL with a database");
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{user}:{password}@{host}/{place}")
}

/// `url` with another database.
fn with_database(url: &str, name: &str) -> String {
    let (scheme, rest) = url.split_once("://").expect("TEST_DATABASE_URL is a URL");
    let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
    let authority = place.split('/').next().unwrap_or_default();
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{scheme}://{authority}/{name}{query}")
}

fn connect(url: &str) -> PgConnection {
    let mut connection =
        PgConnection::establish(url).expect("the server of TEST_DATABASE_URL can be reached");
    connection.batch_execute("SET client_min_messages = warning").expect("a setting");
    connection
}

fn run(url: &str, statements: &str) {
    connect(url).batch_execute(statements).unwrap_or_else(|error| panic!("{statements}: {error}"));
}

#[cfg(test)]
mod tests {
    use super::{with_database, with_user};

    #[test]
    fn only_the_database_changes() {
        let with = |url| with_database(url, "new");
        assert_eq!(with("postgres://u:p@h:5432/old"), "postgres://u:p@h:5432/new");
        assert_eq!(with("postgres://u@/old?host=%2Ftmp%2Fx"), "postgres://u@/new?host=%2Ftmp%2Fx");
        assert_eq!(with("postgresql://h"), "postgresql://h/new");
    }

    #[test]
    fn only_the_user_changes() {
        let with = |url| with_user(url, "new", "p");
        assert_eq!(with("postgres://u:p@h:5432/db"), "postgres://new:p@h:5432/db");
        assert_eq!(with("postgres://u@/db?host=%2Ftmp%2Fx"), "postgres://new:p@/db?host=%2Ftmp%2Fx");
    }
}
