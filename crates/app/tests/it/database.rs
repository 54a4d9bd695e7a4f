//! The database and the kind of store of the tests of the whole service, by `TEST_STORE`: `sqlite` or `postgres`,
//! batched; or `plain` or `plain-postgres`. Without it `sqlite`.

use std::path::Path;

use kopeck_adapter_store_diesel::testing::{Roles, TestDatabase};
use kopeck_adapter_store_diesel::{StoreKind, migrate};

fn test_store() -> String {
    std::env::var("TEST_STORE").unwrap_or_else(|_| "sqlite".to_owned())
}

/// Whether the tests run on PostgreSQL.
pub fn is_on_server() -> bool {
    test_store().ends_with("postgres")
}

/// The kind of store that the tests run on.
pub fn store_kind() -> StoreKind {
    if test_store().starts_with("plain") { StoreKind::Plain } else { StoreKind::Batched }
}

/// A database that goes with its test.
pub enum Database {
    /// In a folder of the test.
    Embedded(String),
    /// On the server of `TEST_DATABASE_URL`.
    Server(TestDatabase),
    /// On the same server, of another role than the one that serves.
    OfRoles(Roles),
}

impl Database {
    /// The one to test on, without a row; an embedded one lies in `folder`. `migrated`: with all its tables.
    pub fn chosen(folder: &Path, migrated: bool) -> Self {
        match test_store().as_str() {
            "sqlite" | "plain" => {
                let database = Self::embedded(folder);
                if migrated {
                    migrate(database.url()).unwrap();
                }
                database
            }
            "postgres" | "plain-postgres" if migrated => Self::Server(TestDatabase::migrated()),
            "postgres" | "plain-postgres" => Self::Server(TestDatabase::empty()),
            other => panic!("TEST_STORE is sqlite, postgres, plain or plain-postgres, not {other}"),
        }
    }

    /// One of SQLite that is not there yet.
    pub fn embedded(folder: &Path) -> Self {
        Self::Embedded(format!("sqlite://{}/kopeck.sqlite", folder.display()))
    }

    pub fn url(&self) -> &str {
        match self {
            Self::Embedded(url) => url,
            Self::Server(database) => database.url(),
            Self::OfRoles(roles) => &roles.service,
        }
    }

    /// The URL for a server in this process. On a busy machine a new connection takes PostgreSQL longer than the two seconds
    /// after which the store takes a server for silent.
    pub fn patient_url(&self) -> String {
        let url = self.url();
        match self {
            Self::Embedded(_) => url.to_owned(),
            Self::Server(_) | Self::OfRoles(_) => {
                let joint = if url.contains('?') { '&' } else { '?' };
                format!("{url}{joint}connect_timeout=30")
            }
        }
    }

    /// A copy of a database on a server, without connections; an embedded one lies in its folder.
    pub fn copy(&self) -> Option<TestDatabase> {
        match self {
            Self::Embedded(_) | Self::OfRoles(_) => None,
            Self::Server(database) => Some(database.copy()),
        }
    }

    /// The folder of the other data, if it is not beside the database.
    pub fn beside<'a>(&self, folder: &'a Path) -> Option<&'a Path> {
        match self {
            Self::Embedded(_) => None,
            Self::Server(_) | Self::OfRoles(_) => Some(folder),
        }
    }
}
