//! The views, and what docs/DATABASE.md asks of them with psql and sqlite3.

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use diesel::{PgConnection, SqliteConnection, sql_query};
use kopeck_domain::card::{Card, CardFields, CardLink, CardStatus};
use kopeck_domain::employee::{Employee, EmployeeFields};
use kopeck_domain::person::PersonName;
use kopeck_port_store::Subject;
use time::Duration;

use crate::support::{
    Kind, PARTNER, TestStore, employee, insert_order, on_every_database, order_with_cards, tamper, write,
};

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    n: i64,
}

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text)]
    line: String,
}

/// An employee with a main card, an order whose job is stuck, and a movement of yesterday.
fn filled_store(kind: Kind) -> TestStore {
    let store = kind.store_with_partner();
    let name = |text| Some(PersonName::parse(text).unwrap());
    let holder = Employee::from_stored(EmployeeFields {
        surname: name("Ёжиков"),
        name: name("Иван"),
        ..employee(1).into_fields()
    });
    let id = holder.id();
    write(&store, move |unit| unit.employees().insert(PARTNER, &holder)).unwrap();
    let (order, lines, cards) = order_with_cards(7, 2);
    let link = Some(CardLink { employee: id, status: CardStatus::Main });
    let card = Card::from_stored(CardFields { link, ..cards[0].record.card.clone().into_fields() });
    let subject = Subject::Order(order.id());
    insert_order(&store, (order, lines, cards));
    write(&store, move |unit| {
        unit.cards().set_link(PARTNER, &card)?;
        unit.jobs().enqueue(PARTNER, subject, Duration::ZERO)?;
        let claims = unit.jobs().claim(Duration::MINUTE, 1)?;
        unit.jobs().mark_stuck(&claims[0])
    })
    .unwrap();
    let yesterday = match kind {
        Kind::Sqlite | Kind::PlainSqlite => "CAST(strftime('%s', 'now') AS INTEGER) * 1000000 - 86400000000",
        Kind::Postgres | Kind::PlainPostgres => "now() - interval '1 day'",
    };
    let partner = match kind {
        Kind::Sqlite | Kind::PlainSqlite => "x'00000000000000000000000000000001'",
        Kind::Postgres | Kind::PlainPostgres => "'00000000-0000-0000-0000-000000000001'",
    };
    tamper(
        &store,
        &format!(
            "INSERT INTO movements (partner_id, number, kind, transfer_reference, created_at)
                VALUES ({partner}, 1, 'DEPOSIT', 'invoice 7', {yesterday});
             INSERT INTO entries (partner_id, movement, account, amount)
                VALUES ({partner}, 1, 'DEPOSITED', -150005), ({partner}, 1, 'AVAILABLE', 150005);
             UPDATE balances SET deposited = -150005, available = 150005, last_movement = 1;
             UPDATE orders SET reference = 'canteen 3';"
        ),
    );
    store
}

/// Runs a query that gives rows of one type.
fn load<T>(store: &TestStore, query: &str) -> Vec<T>
where
    T: QueryableByName<diesel::sqlite::Sqlite> + QueryableByName<diesel::pg::Pg> + 'static,
{
    match store.url.strip_prefix("sqlite://") {
        Some(path) => {
            let mut connection = SqliteConnection::establish(path).unwrap();
            sql_query(query).load(&mut connection).unwrap_or_else(|error| panic!("{query}: {error}"))
        }
        None => {
            let mut connection = PgConnection::establish(&store.url).unwrap();
            connection.batch_execute("SET timezone = 'UTC'").unwrap();
            sql_query(query).load(&mut connection).unwrap_or_else(|error| panic!("{query}: {error}"))
        }
    }
}

fn line(store: &TestStore, query: &str) -> String {
    let mut lines: Vec<Line> = load(store, query);
    assert_eq!(lines.len(), 1, "{query}");
    lines.remove(0).line
}

on_every_database! { views_read_as_a_person_would_ask the_sessions_of_the_page_find_what_they_are_for }

fn views_read_as_a_person_would_ask(kind: Kind) {
    let store = filled_store(kind);
    let said = |query: &str| line(&store, query);
    let one = "00000000-0000-0000-0000-000000000001";
    assert_eq!(
        said("SELECT partner || ' ' || partner_id || ' ' || employee_id || ' ' || custom_id || ' ' || cards AS line
            FROM v_employees"),
        format!("Столовая {one} {one} E-1 1")
    );
    assert_eq!(
        said("SELECT number || ' ' || holder || ' ' || link_status || ' ' || balance_roubles || ' ' || valid_until
            AS line FROM v_cards WHERE custom_id = 'E-1'"),
        "*********0000 Ёжиков Иван MAIN 50.00 2029-01-01"
    );
    assert_eq!(
        said(
            "SELECT number || ' ' || coalesce(employee_id || '', 'unassigned') AS line FROM v_cards
            WHERE holder IS NULL"
        ),
        "*********0001 unassigned"
    );
    assert_eq!(
        said(
            "SELECT kind || ' ' || request_id || ' ' || state || ' ' || cards || ' ' || attempts || ' ' || reference
            AS line FROM v_requests WHERE stuck_since IS NOT NULL"
        ),
        "ORDER 00000000-0000-0000-0000-000000000007 NEW 2 1 canteen 3"
    );
    assert_eq!(
        said("SELECT available_kopecks || ' ' || available_roubles || ' ' || held_roubles || ' ' || deposited_roubles
            AS line FROM v_balances"),
        "150005 1500.05 0.00 1500.05"
    );
    assert_eq!(
        said(
            "SELECT kind || ' ' || reference || ' ' || amount_roubles AS line FROM v_movements
            WHERE account = 'AVAILABLE'"
        ),
        "DEPOSIT invoice 7 1500.05"
    );
}

/// The statements under a heading of the page.
fn statements(heading: &str) -> Vec<&'static str> {
    const PAGE: &str = include_str!("../../../../docs/DATABASE.md");
    let (_, section) = PAGE.split_once(heading).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let blocks = section.split("```sql\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().trim().trim_end_matches(';')).collect()
}

fn the_sessions_of_the_page_find_what_they_are_for(kind: Kind) {
    let store = filled_store(kind);
    let mut statements = statements("\n## With psql\n");
    if matches!(kind, Kind::Sqlite | Kind::PlainSqlite) {
        statements.truncate(4);
        statements.extend(self::statements("\n## With sqlite3\n"));
    }
    assert_eq!(statements.len(), 5);
    for statement in statements {
        let found: Vec<Count> = load(&store, &format!("SELECT count(*) AS n FROM ({statement}) AS found"));
        assert!(found[0].n > 0, "{statement}");
    }
}
