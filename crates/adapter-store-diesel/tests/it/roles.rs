//! A role that owns the tables of PostgreSQL and one that serves.

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;
use diesel::{PgConnection, sql_query};
use kopeck_adapter_store_diesel::testing::{Roles, tamper};
use kopeck_adapter_store_diesel::{BatchedStore, OpenError, grant, migrate};
use kopeck_audit::Entry;

use crate::support::{NOW, PARTNER, clock, config, credentials, read, write};

/// Migrated by its owner, with the privileges for serving.
fn granted() -> Roles {
    let roles = Roles::empty();
    migrate(&roles.owner).unwrap();
    grant(&roles.owner, &roles.service_role).unwrap();
    roles
}

/// What the database says to these statements of the serving role.
fn refusal(roles: &Roles, statements: &str) -> String {
    let mut connection = PgConnection::establish(&roles.service).unwrap();
    match connection.batch_execute(statements) {
        Ok(()) => panic!("{statements} was done"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_serving_role_works_and_cannot_touch_tables_or_the_audit_log() {
    let roles = granted();
    let store = BatchedStore::open(config(&roles.service, clock())).unwrap();
    write(&store, |unit| {
        unit.partners().insert(&credentials())?;
        unit.audit().append(&Entry::new(NOW, "127.0.0.1", "employee.add".to_owned()))
    })
    .unwrap();
    for statement in [
        "UPDATE audit_entries SET number = number",
        "DELETE FROM audit_entries",
        "TRUNCATE audit_entries",
        "DELETE FROM audit_chains",
        "ALTER TABLE audit_entries DISABLE TRIGGER ALL",
        "DROP TRIGGER audit_entries_append_only ON audit_entries",
        "SET session_replication_role = replica",
        "CREATE OR REPLACE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END'",
        "CREATE TABLE more (id BIGINT)",
        "DROP TABLE partners",
        "ALTER TABLE partners ADD COLUMN more BIGINT",
        "TRUNCATE partners CASCADE",
        "DELETE FROM __diesel_schema_migrations",
    ] {
        let refused = refusal(&roles, statement);
        assert!(
            refused.contains("permission denied") || refused.contains("must be owner"),
            "{statement}: {refused}"
        );
    }
    let entries = read(&store, |unit| unit.audit().records(1, 0, 10)).unwrap();
    assert_eq!(entries.len(), 1);
    assert!(read(&store, |unit| unit.partners().get(PARTNER)).unwrap().is_some());
}

#[derive(QueryableByName)]
struct Privileges {
    #[diesel(sql_type = Text)]
    relation: String,
    #[diesel(sql_type = Text)]
    granted: String,
}

const PRIVILEGES: &str = "
    SELECT table_name::TEXT AS relation, string_agg(privilege_type, ' ' ORDER BY privilege_type) AS granted
    FROM information_schema.role_table_grants WHERE grantee = current_user GROUP BY table_name";

#[test]
fn the_serving_role_has_no_privilege_too_many() {
    let roles = granted();
    // What it had before is taken away.
    tamper(&roles.owner, &format!("GRANT ALL ON audit_entries, partners TO {}", roles.service_role));
    grant(&roles.owner, &roles.service_role).unwrap();
    let mut connection = PgConnection::establish(&roles.service).unwrap();
    let tables: Vec<Privileges> = sql_query(PRIVILEGES).load(&mut connection).unwrap();
    assert!(tables.len() > 20, "{}", tables.len());
    for Privileges { relation, granted } in tables {
        let expected = match relation.as_str() {
            "__diesel_schema_migrations" => "SELECT",
            "audit_checkpoints" => "INSERT SELECT UPDATE",
            "history_notices" => "INSERT SELECT",
            audit if audit.starts_with("audit_") => "INSERT SELECT",
            _ => "DELETE INSERT SELECT UPDATE",
        };
        assert_eq!(granted, expected, "{relation}");
    }
}

#[test]
fn the_serving_role_does_not_migrate_and_says_who_has_to() {
    let roles = granted();
    assert_eq!(migrate(&roles.service).unwrap(), [""; 0], "there is nothing to do");
    tamper(&roles.owner, "DELETE FROM __diesel_schema_migrations WHERE version = '0100'");
    let refused = migrate(&roles.service).unwrap_err();
    assert!(matches!(&refused, OpenError::MayNotMigrate(missing) if missing.len() == 1), "{refused}");
    assert!(refused.to_string().contains("with the URL of the role that owns the tables"), "{refused}");

    let empty = Roles::empty();
    assert!(matches!(migrate(&empty.service), Err(OpenError::MayNotMigrate(_))));
}

#[test]
fn privileges_are_granted_to_another_role_than_the_owner() {
    let roles = granted();
    let owner = roles.owner.split("://").nth(1).unwrap().split(':').next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let embedded = format!("sqlite://{}/kopeck.sqlite", folder.path().display());
    for (url, role, why) in [
        (roles.owner.as_str(), owner, "owns the table"),
        (&roles.owner, "unknown_role", "does not exist"),
        (&roles.service, &roles.service_role, "cannot grant privileges"),
        (&embedded, "kopeck", "only PostgreSQL has roles"),
    ] {
        let refused = grant(url, role).unwrap_err().to_string();
        assert!(refused.contains(why), "{role}: {refused}");
    }
}
