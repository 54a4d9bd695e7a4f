//! What is left in the row of an erased employee.

use std::thread;

use diesel::connection::SimpleConnection;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use kopeck_domain::category::{Category, CategoryName};
use uuid::Uuid;

use crate::support::{Kind, NOW, PARTNER, employee, tamper, write};

/// The columns that may be empty, those of later migrations too.
#[test]
fn an_erased_employee_leaves_nothing_but_the_time_of_the_erasure() {
    let store = Kind::PlainSqlite.store_with_partner();
    let mut connection = SqliteConnection::establish(store.url.strip_prefix("sqlite://").unwrap()).unwrap();
    let leaver = employee(1);
    let id = leaver.id();
    write(&store, move |unit| {
        let category =
            Category { id: Uuid::from_u128(2).into(), name: CategoryName::parse("Повара").unwrap() };
        unit.categories().insert(PARTNER, &category, NOW)?;
        unit.employees().insert(PARTNER, &leaver)
    })
    .unwrap();

    let columns = "SELECT name, type FROM pragma_table_info('employees') WHERE \"notnull\" = 0";
    let columns: Vec<(String, String)> = sql::<(Text, Text)>(columns).load(&mut connection).unwrap();
    for (name, kind) in columns.iter().filter(|(name, _)| name != "erased_at") {
        let value = match (name.as_str(), kind.as_str()) {
            ("category_id", _) => "(SELECT id FROM categories)",
            (_, "BLOB") => "x'01'",
            (_, "TEXT") => "'x'",
            _ => "1",
        };
        diesel::sql_query(format!("UPDATE employees SET {name} = {value}")).execute(&mut connection).unwrap();
    }
    write(&store, move |unit| unit.employees().erase(PARTNER, id, NOW)).unwrap();

    let left = columns.iter().map(|(name, _)| name.as_str()).filter(|name| {
        let filled = format!("SELECT count({name}) FROM employees");
        sql::<BigInt>(&filled).get_result::<i64>(&mut connection).unwrap() > 0
    });
    assert_eq!(left.collect::<Vec<_>>(), ["erased_at"]);
}

/// VACUUM keeps earlier versions of a row as long as a snapshot sees them.
#[test]
fn a_rewrite_waits_for_snapshots_from_before_it() {
    const SURNAME: &str = "Zyxwvutovskaya";
    let store = Kind::PlainPostgres.store_with_partner();
    let leaver = employee(1);
    write(&store, move |unit| unit.employees().insert(PARTNER, &leaver)).unwrap();
    tamper(&store, &format!("UPDATE employees SET surname = '{SURNAME}'"));
    let mut older = PgConnection::establish(&store.url).unwrap();
    older.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT txid_current();").unwrap();
    tamper(&store, "UPDATE employees SET surname = NULL");

    let url = store.url.clone();
    let rewrite = thread::spawn(move || kopeck_adapter_store_diesel::rewrite(&url));
    let mut observer = PgConnection::establish(&store.url).unwrap();
    let waits =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";
    while !rewrite.is_finished() && sql::<BigInt>(waits).get_result::<i64>(&mut observer).unwrap() == 0 {
        thread::yield_now();
    }
    older.batch_execute("COMMIT").unwrap();
    rewrite.join().unwrap().unwrap();
    tamper(
        &store,
        &format!(
            "CHECKPOINT; DO $$ BEGIN ASSERT
                 position('{SURNAME}'::bytea IN pg_read_binary_file(pg_relation_filepath('employees'))) = 0;
             END $$"
        ),
    );
}
