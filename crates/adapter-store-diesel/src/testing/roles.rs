//! A database with two roles, for tests.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{TestDatabase, run, server, with_user};

/// The password of both roles, for a server that asks for one.
const PASSWORD: &str = "kopeck-test";

/// A database of a role that owns it, and another role that is to serve. All go with this value.
pub struct Roles {
    database: Option<TestDatabase>,
    /// The owner's URL.
    pub owner: String,
    /// The serving role's URL.
    pub service: String,
    /// The serving role's name.
    pub service_role: String,
    owner_role: String,
}

impl Roles {
    /// A database without migrations, and without privileges for the serving role.
    #[must_use]
    pub fn empty() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let [owner_role, service_role] =
            ["owner", "service"].map(|kind| format!("kopeck_{kind}_{}_{number}", std::process::id()));
        let database = TestDatabase::empty();
        for role in [&owner_role, &service_role] {
            run(
                &server(),
                &format!("DROP ROLE IF EXISTS {role}; CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'"),
            );
        }
        run(&server(), &format!("ALTER DATABASE {} OWNER TO {owner_role}", database.name));
        let url = |role: &str| with_user(database.url(), role, PASSWORD);
        Self {
            owner: url(&owner_role),
            service: url(&service_role),
            service_role,
            owner_role,
            database: Some(database),
        }
    }
}

impl Drop for Roles {
    fn drop(&mut self) {
        // Roles with privileges in a database cannot be dropped before it.
        drop(self.database.take());
        if !std::thread::panicking() {
            run(&server(), &format!("DROP ROLE {}; DROP ROLE {}", self.owner_role, self.service_role));
        }
    }
}
