//! The two databases have the same tables: columns, keys, references and indexes; and the same views.

use diesel::prelude::*;
use diesel::sql_types::Text;
use diesel::{Connection, PgConnection, SqliteConnection, sql_query};
use kopeck_adapter_store_diesel::migrate;

use crate::support::{Kind, on_every_database};

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text)]
    line: String,
}

const SQLITE: [&str; 5] = [
    "SELECT 'view ' || t.name || '.' || c.name AS line
     FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'view'",
    "SELECT 'column ' || t.name || '.' || c.name || ' ' || c.type
        || CASE WHEN c.\"notnull\" THEN ' not null' ELSE '' END AS line
     FROM sqlite_master t JOIN pragma_table_info(t.name) c
     WHERE t.type = 'table' AND t.name NOT LIKE '!_!_%' ESCAPE '!'",
    "SELECT 'primary key ' || t.name || ' (' || (
        SELECT group_concat(name, ', ') FROM (SELECT name FROM pragma_table_info(t.name) WHERE pk > 0 ORDER BY pk)
     ) || ')' AS line
     FROM sqlite_master t WHERE t.type = 'table' AND t.name NOT LIKE '!_!_%' ESCAPE '!'",
    "SELECT 'foreign key ' || t.name || ' (' || group_concat(f.\"from\", ', ') || ') to ' || f.\"table\"
        || ' (' || group_concat(f.\"to\", ', ') || ')' AS line
     FROM sqlite_master t JOIN (
        SELECT name AS of, id, seq, \"from\", \"to\", \"table\" FROM sqlite_master m
        JOIN pragma_foreign_key_list(m.name) ORDER BY of, id, seq
     ) f ON f.of = t.name
     WHERE t.type = 'table' GROUP BY t.name, f.id",
    "SELECT CASE WHEN l.\"unique\" THEN 'unique ' ELSE 'index ' END || t.name || ' (' || (
        SELECT group_concat(name, ', ') FROM (SELECT name FROM pragma_index_info(l.name) ORDER BY seqno)
     ) || ')' || CASE WHEN l.partial THEN ' where ' || (
        SELECT trim(substr(i.sql, instr(i.sql, 'WHERE ') + 6)) FROM sqlite_master i WHERE i.name = l.name
     ) ELSE '' END AS line
     FROM sqlite_master t JOIN pragma_index_list(t.name) l
     WHERE t.type = 'table' AND l.origin <> 'pk' AND t.name NOT LIKE '!_!_%' ESCAPE '!'",
];

const POSTGRES: [&str; 5] = [
    "SELECT 'view ' || t.relname || '.' || a.attname AS line
     FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0
     WHERE t.relkind = 'v' AND t.relnamespace = 'public'::regnamespace",
    "SELECT 'column ' || t.relname || '.' || a.attname || ' '
        || CASE format_type(a.atttypid, NULL)
            WHEN 'bytea' THEN 'BLOB' WHEN 'uuid' THEN 'BLOB' WHEN 'text' THEN 'TEXT'
            WHEN 'timestamp with time zone' THEN 'INTEGER' WHEN 'date' THEN 'INTEGER'
            WHEN 'bigint' THEN 'INTEGER' WHEN 'integer' THEN 'INTEGER' WHEN 'boolean' THEN 'INTEGER'
            ELSE format_type(a.atttypid, NULL) END
        || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END AS line
     FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE t.relkind = 'r' AND t.relnamespace = 'public'::regnamespace AND t.relname NOT LIKE '!_!_%' ESCAPE '!'",
    "SELECT 'primary key ' || t.relname || ' (' || (
        SELECT string_agg(a.attname, ', ' ORDER BY k.place)
        FROM unnest(c.conkey) WITH ORDINALITY k (number, place)
        JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number
     ) || ')' AS line
     FROM pg_class t JOIN pg_constraint c ON c.conrelid = t.oid AND c.contype = 'p'
     WHERE t.relnamespace = 'public'::regnamespace AND t.relname NOT LIKE '!_!_%' ESCAPE '!'",
    "SELECT 'foreign key ' || t.relname || ' (' || (
        SELECT string_agg(a.attname, ', ' ORDER BY k.place)
        FROM unnest(c.conkey) WITH ORDINALITY k (number, place)
        JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number
     ) || ') to ' || f.relname || ' (' || (
        SELECT string_agg(a.attname, ', ' ORDER BY k.place)
        FROM unnest(c.confkey) WITH ORDINALITY k (number, place)
        JOIN pg_attribute a ON a.attrelid = f.oid AND a.attnum = k.number
     ) || ')' AS line
     FROM pg_class t JOIN pg_constraint c ON c.conrelid = t.oid AND c.contype = 'f'
     JOIN pg_class f ON f.oid = c.confrelid",
    "SELECT CASE WHEN i.indisunique THEN 'unique ' ELSE 'index ' END || t.relname || ' (' || (
        SELECT string_agg(a.attname, ', ' ORDER BY k.place)
        FROM unnest(i.indkey) WITH ORDINALITY k (number, place)
        JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number
     ) || ')' || COALESCE(
        ' where ' || replace(replace(trim(BOTH '()' FROM pg_get_expr(i.indpred, t.oid)), '::text', ''), ') AND (', ' AND '), ''
     ) AS line
     FROM pg_class t JOIN pg_index i ON i.indrelid = t.oid AND NOT i.indisprimary
     WHERE t.relnamespace = 'public'::regnamespace AND t.relname NOT LIKE '!_!_%' ESCAPE '!'",
];

fn sorted(lines: impl Iterator<Item = Vec<Line>>) -> Vec<String> {
    let mut lines: Vec<String> = lines.flatten().map(|line| line.line).collect();
    lines.sort_unstable();
    lines
}

fn schema(kind: Kind) -> Vec<String> {
    let store = kind.empty_store();
    match kind {
        Kind::Sqlite | Kind::PlainSqlite => {
            let path = store.url.strip_prefix("sqlite://").unwrap();
            let mut connection = SqliteConnection::establish(path).unwrap();
            sorted(SQLITE.iter().map(|question| sql_query(*question).load(&mut connection).unwrap()))
        }
        Kind::Postgres | Kind::PlainPostgres => {
            let mut connection = PgConnection::establish(&store.url).unwrap();
            sorted(POSTGRES.iter().map(|question| sql_query(*question).load(&mut connection).unwrap()))
        }
    }
}

#[test]
fn both_databases_have_the_same_schema() {
    let (sqlite, postgres) = (schema(Kind::Sqlite), schema(Kind::Postgres));
    assert!(sqlite.len() > 200, "{sqlite:#?}");
    let missing = |from: &[String], of: &[String]| -> Vec<String> {
        of.iter().filter(|line| !from.contains(line)).cloned().collect()
    };
    assert_eq!(missing(&postgres, &sqlite), [""; 0], "missing on PostgreSQL");
    assert_eq!(missing(&sqlite, &postgres), [""; 0], "missing on SQLite");
    assert_eq!(sqlite, postgres);
}

/// A row of one partner can then neither meet nor refer to a row of another.
#[test]
fn every_key_carries_the_partner() {
    // Failed logins and nonces come before it is known whose they are, and hold digests only; a partner is its own; the
    // audit log belongs to no partner; and there is one bank, and one calendar.
    let exceptions = [
        "primary key login_failures (id)",
        "primary key spent_nonces (api_key_hash, nonce)",
        "primary key partners (id)",
        "primary key bank_feed (id)",
        "primary key calendar_days (day)",
        "primary key audit_chains (chain)",
        "primary key audit_entries (chain, number)",
        "primary key audit_checkpoints (chain, kind)",
        "primary key history_notices (number)",
    ];
    // In these the partner comes after what ascends with time.
    let ascending =
        ["primary key employees (id, partner_id)", "primary key recorded_responses (key, partner_id)"];
    for line in schema(Kind::Postgres) {
        if line.starts_with("primary key") && !exceptions.contains(&line.as_str()) {
            assert!(line.contains("(partner_id") || ascending.contains(&line.as_str()), "{line}");
        }
        if line.starts_with("foreign key") {
            assert!(line.contains("(partner_id"), "{line}");
            let (_, target) = line.split_once(" to ").unwrap();
            assert!(target.contains("(partner_id") || target == "partners (id)", "{line}");
        }
    }
}

#[test]
fn both_databases_have_the_same_migrations() {
    let names = |kind: Kind| {
        let place = kind.new_place();
        migrate(&place.url()).unwrap()
    };
    assert_eq!(names(Kind::Sqlite), names(Kind::Postgres));
}

on_every_database! { several_processes_migrate_at_once }

fn several_processes_migrate_at_once(kind: Kind) {
    let place = kind.new_place();
    let url = &place.url();
    let mut applied: Vec<String> = std::thread::scope(|scope| {
        let processes: Vec<_> = (0..4).map(|_| scope.spawn(|| migrate(url).unwrap())).collect();
        processes.into_iter().flat_map(|process| process.join().unwrap()).collect()
    });
    applied.sort_unstable();
    let once = applied.clone();
    applied.dedup();
    assert_eq!(applied, once, "each was applied once");
    assert!(!applied.is_empty());
    assert_eq!(migrate(url).unwrap(), [""; 0]);
}
