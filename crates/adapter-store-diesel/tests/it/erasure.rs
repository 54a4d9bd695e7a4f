//! What is left in the row of an erased employee.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use kopeck_domain::category::{Category, CategoryName};
use uuid::Uuid;

use crate::support::{Kind, NOW, PARTNER, employee, write};

#[derive(QueryableByName)]
struct Column {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    kind: String,
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

/// The columns that may be empty, those of later migrations too.
#[test]
fn an_erased_employee_leaves_nothing_but_the_time_of_the_erasure() {
    let store = Kind::PlainSqlite.store_with_partner();
    let mut connection = SqliteConnection::establish(store.url.strip_prefix("sqlite://").unwrap()).unwrap();
    let leaver = employee(1);
    let id = leaver.id;
    write(&store, move |unit| {
        let category =
            Category { id: Uuid::from_u128(2).into(), name: CategoryName::parse("Повара").unwrap() };
        unit.categories().insert(PARTNER, &category, NOW)?;
        unit.employees().insert(PARTNER, &leaver)
    })
    .unwrap();

    let columns = "SELECT name, type AS kind FROM pragma_table_info('employees') WHERE \"notnull\" = 0";
    let columns: Vec<Column> = diesel::sql_query(columns).load(&mut connection).unwrap();
    for Column { name, kind } in columns.iter().filter(|column| column.name != "erased_at") {
        let value = match (name.as_str(), kind.as_str()) {
            ("category_id", _) => "(SELECT id FROM categories)",
            (_, "BLOB") => "x'01'",
            (_, "TEXT") => "'x'",
            _ => "1",
        };
        diesel::sql_query(format!("UPDATE employees SET {name} = {value}")).execute(&mut connection).unwrap();
    }
    write(&store, move |unit| unit.employees().erase(PARTNER, id, NOW)).unwrap();

    let left = columns.iter().map(|column| column.name.as_str()).filter(|name| {
        let filled = format!("SELECT count({name}) AS number FROM employees");
        let count: Count = diesel::sql_query(filled).get_result(&mut connection).unwrap();
        count.number > 0
    });
    assert_eq!(left.collect::<Vec<_>>(), ["erased_at"]);
}
