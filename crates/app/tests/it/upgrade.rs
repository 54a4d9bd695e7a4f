//! A database of version 0.1.0 is migrated to the newest schema, and its rows are read through the API.
//!
//! The rows are in `tests/fixtures/0.1.0-sqlite.sql` and `0.1.0-postgres.sql`, which the ignored test writes: `cargo test
//! --workspace --locked --test it -- --ignored write_the_rows_of_this_version`, and again with `TEST_STORE=postgres`.
//! The next release writes files of its own. The files of a released version never change.

use std::path::PathBuf;
use std::sync::Arc;

use kopeck_adapter_store_diesel::{migrate, testing};
use kopeck_client::{EmployeeFilter, NewEmployee, Paging, RequestFilter, Uuid};
use kopeck_domain::partner::SealingPolicy;
use kopeck_sealing::SealingKey;
use time::Duration;

use crate::calls::{plastic_item, virtual_item};
use crate::database::is_on_server;
use crate::ground::{Ground, Plan};
use crate::server::{START, TestPartner, TestServer};

/// The schema of 0.1.0 on both databases.
const SQLITE: &str = include_str!("../../../../migrations/sqlite/0001_initial/up.sql");
const POSTGRES: &str = include_str!("../../../../migrations/postgres/0001_initial/up.sql");

/// What diesel knows of it.
const APPLIED: &str = "
    CREATE TABLE __diesel_schema_migrations (
        version VARCHAR(50) PRIMARY KEY NOT NULL,
        run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
    );
    INSERT INTO __diesel_schema_migrations (version) VALUES ('0001');";

fn fixture() -> PathBuf {
    let kind = if is_on_server() { "postgres" } else { "sqlite" };
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/0.1.0-{kind}.sql"))
}

/// The secret of the partner that a line of the file names.
fn secret(file: &str, name: &str) -> String {
    let line = file.lines().find_map(|line| line.strip_prefix(&format!("-- {name}: ")));
    line.unwrap_or_else(|| panic!("no {name}")).to_owned()
}

#[tokio::test]
async fn a_database_of_0_1_0_is_migrated_and_read() {
    let file = std::fs::read_to_string(fixture()).unwrap();
    let rows = file.clone();
    let ground = Ground::prepared(START + Duration::DAY, move |url| {
        let schema = if is_on_server() { POSTGRES } else { SQLITE };
        testing::tamper(url, &format!("{schema}{APPLIED}{rows}"));
        migrate(url).unwrap();
    });
    let id = Uuid::parse_str(&secret(&file, "partner")).unwrap();
    ground.partners.lock().unwrap().push(id.into());
    let partner = TestPartner {
        id: id.into(),
        api_key: secret(&file, "api key"),
        login: secret(&file, "login"),
        password: secret(&file, "password"),
        key: SealingKey::parse(&secret(&file, "sealing key")).unwrap(),
    };
    let server = TestServer::open(Arc::new(ground), Plan::default());
    let client = server.client(&partner);

    let employees =
        client.employees().list(&EmployeeFilter::default(), Paging::default()).await.unwrap().data;
    let [employee] = employees.as_slice() else { panic!("{employees:?}") };
    assert_eq!((employee.custom_id.as_str(), employee.surname.as_deref()), ("E-1", Some("Ёжиков")));
    assert_eq!(employee.phone.as_deref(), Some("9031234567"));
    assert_eq!(employee.email.as_deref(), Some("p@example.ru"));
    let orders = client.orders().list(&RequestFilter::default(), Paging::default()).await.unwrap().data;
    assert_eq!(orders.len(), 2);
    let issued = client.orders().result(orders[0].order_id).await.unwrap().data;
    assert_eq!(issued.len(), 2);
    assert!(issued.iter().all(|card| card.activation_code.is_some()));
    assert_eq!(client.cards().available(None, Paging::default()).await.unwrap().data.len(), 3);
    client.employees().add(&NewEmployee::new("E-2")).await.unwrap();
    assert_eq!(server.check(), 0);
}

#[tokio::test]
#[ignore = "writes the rows that the test above reads"]
async fn write_the_rows_of_this_version() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Required, 1_000_000);
    let client = server.client(&partner);
    let new = NewEmployee {
        surname: Some("Ёжиков".into()),
        phone: Some("9031234567".into()),
        email: Some("p@example.ru".into()),
        ..NewEmployee::new("E-1")
    };
    client.employees().add(&new).await.unwrap();
    client.orders().plastic(&[plastic_item(1)]).await.unwrap();
    client.orders().virtual_cards(&[virtual_item(2, 5_000)]).await.unwrap();
    server.run_jobs();
    let file = format!(
        "-- partner: {}\n-- api key: {}\n-- login: {}\n-- password: {}\n-- sealing key: {}\n{}",
        partner.id.uuid(),
        partner.api_key,
        partner.login,
        partner.password,
        *partner.key.to_text(),
        testing::inserts(server.database()),
    );
    std::fs::write(fixture(), file).unwrap();
}
