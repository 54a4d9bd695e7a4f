//! A database of version 0.1.0 is migrated to the newest schema, its rows are read through the API, and its open work is done.
//!
//! The rows are in `tests/fixtures/0.1.0-sqlite.sql` and `0.1.0-postgres.sql`, which the ignored test writes: `cargo test
//! --workspace --locked --test it -- --ignored write_the_rows_of_this_version`, and again with `TEST_STORE=postgres`.
//! The next release adds files. The files of a released version never change.

use std::path::PathBuf;
use std::sync::Arc;

use kopeck_adapter_store_diesel::{migrate, testing};
use kopeck_client::{
    CardClosing, CardFilter, CardLimit, CardStatus, CardType, CardWithdrawal, Client, ClosingReason,
    EmployeeFilter, EventQuery, IssuedCard, LimitPeriod, NewEmployee, NewWebhook, OrderKind, Purchase,
    RequestFilter, RequestState, TopUp, TransactionQuery, Uuid,
};
use kopeck_domain::partner::SealingPolicy;
use kopeck_sealing::SealingKey;
use time::Duration;

use crate::api_client::{plastic_item, virtual_item};
use crate::database::is_on_server;
use crate::deployment::{Deployment, Plan};
use crate::server::{START, TestPartner, TestServer};

/// The schema of 0.1.0 on both databases.
const SQLITE: &str = include_str!("../../../../migrations/sqlite/0100_initial/up.sql");
const POSTGRES: &str = include_str!("../../../../migrations/postgres/0100_initial/up.sql");

/// Diesel's table of migrations. The one row that the schema inserts is in the file too.
const APPLIED: &str = "
    CREATE TABLE __diesel_schema_migrations (
        version VARCHAR(50) PRIMARY KEY NOT NULL,
        run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
    );
    INSERT INTO __diesel_schema_migrations (version) VALUES ('0100');
    DELETE FROM bank_feed;";

const RECEIVER: &str = "https://hooks.example.com/kopeck";

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
    let deployment = Deployment::prepared(START + Duration::DAY, move |url| {
        let schema = if is_on_server() { POSTGRES } else { SQLITE };
        testing::tamper(url, &format!("{schema}{APPLIED}{rows}"));
        migrate(url).unwrap();
    });
    let id = Uuid::parse_str(&secret(&file, "partner")).unwrap();
    deployment.partners.lock().unwrap().push(id.into());
    let partner = TestPartner {
        id: id.into(),
        api_key: secret(&file, "api key"),
        login: secret(&file, "login"),
        password: secret(&file, "password"),
        key: SealingKey::parse(&secret(&file, "sealing key")).unwrap(),
    };
    let server = TestServer::open(Arc::new(deployment), Plan::default());
    let client = server.client(&partner);

    server.run_jobs();
    reads_what_was_written(&client).await;
    client.employees().add(&NewEmployee::new("E-3")).await.unwrap();
    assert_eq!(server.check(), 0);
}

async fn reads_what_was_written(client: &Client) {
    let employees = client.employees().all(&EmployeeFilter::default()).collect().await.unwrap();
    let [employee] = employees.as_slice() else { panic!("{employees:?}") };
    assert_eq!((employee.custom_id.as_str(), employee.surname.as_deref()), ("E-1", Some("Ёжиков")));
    assert_eq!(employee.phone.as_deref(), Some("9031234567"));
    assert_eq!(employee.email.as_deref(), Some("p@example.ru"));
    let category = &client.categories().all().collect().await.unwrap()[0];
    assert_eq!((category.name_category.as_str(), category.employees), ("Drivers", 1));

    let all = RequestFilter::default();
    let orders = client.orders().all(&all).collect().await.unwrap();
    let states: Vec<_> = orders.iter().map(|order| (order.kind.clone(), order.state.clone())).collect();
    let virtual_order = (OrderKind::Virtual, RequestState::Success);
    assert_eq!(states, [virtual_order.clone(), virtual_order, (OrderKind::Plastic, RequestState::Success)]);
    let [first, other] =
        <[IssuedCard; 2]>::try_from(client.orders().result(orders[1].order_id).await.unwrap().data).unwrap();
    assert!(first.activation_code.is_none() && other.activation_code.is_some(), "{first:?} {other:?}");

    let card = client.employees().get(employee.id_employee).await.unwrap().cards[0].id_card;
    assert_eq!(client.cards().info(card).await.unwrap().limit, CardLimit::per(LimitPeriod::Day, 5_000));
    assert_eq!(client.cards().all(&CardFilter::default()).collect().await.unwrap().len(), 4);
    let transactions =
        client.statements().all_transactions(&TransactionQuery::default()).collect().await.unwrap();
    assert!(
        transactions.iter().any(|one| one.transaction.place.as_deref() == Some("Столовая")),
        "{transactions:?}"
    );
    assert_eq!(client.replenishments().all(&all).collect().await.unwrap()[0].state, RequestState::Success);
    assert_eq!(client.limits().all(&all).collect().await.unwrap()[0].state, RequestState::Success);
    assert_eq!(client.withdrawals().all(&all).collect().await.unwrap()[0].amount_moved, 1_000);
    let closing = &client.closings().all(&all).collect().await.unwrap()[0];
    assert_eq!((closing.reference.as_deref(), closing.amount_moved), (Some("lost"), 5_000));

    assert_eq!(client.webhooks().all().collect().await.unwrap()[0].url, RECEIVER);
    let events = client.events().list(&EventQuery::default()).await.unwrap();
    assert_eq!(events.data[0].seq, 1);
    let month = client.statements().month("2026-03").await.unwrap();
    assert_eq!((month.opening, month.closing), (0, client.balance().await.unwrap().balance));
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
        id_category: Some(client.categories().create("Drivers").await.unwrap().id_category),
        ..NewEmployee::new("E-1")
    };
    let employee = client.employees().add(&new).await.unwrap().id_employee;
    let erased = client.employees().add(&NewEmployee::new("E-2")).await.unwrap().id_employee;
    client.employees().erase(erased).await.unwrap();
    let hook = NewWebhook { url: RECEIVER.into(), ..NewWebhook::default() };
    client.webhooks().create(&hook).await.unwrap();
    client.orders().plastic(&[plastic_item(1)]).await.unwrap();
    let order = client.orders().virtual_cards(&[virtual_item(2, 5_000)]).await.unwrap().order_id;
    server.run_jobs();
    let issued = client.orders().result(order).await.unwrap().data;
    let main = &issued[0];
    let card = client.cards().link(employee, &main.custom_id_card, &CardStatus::Main).await.unwrap().id_card;
    client.sandbox().activate(card, main.activation_code.as_ref()).await.unwrap();
    client.replenishments().create(&[TopUp::new(card, 10_000)]).await.unwrap();
    client.limits().set(&[card], &CardLimit::per(LimitPeriod::Day, 5_000)).await.unwrap();
    server.run_jobs();
    let lunch = Purchase { place: Some("Столовая".into()), ..Purchase::new(3_000) };
    assert!(client.sandbox().purchase(card, &lunch).await.unwrap().approved);
    server.follow_feed();
    client.withdrawals().create(&[CardWithdrawal::new(card, 1_000)]).await.unwrap();
    let filter = CardFilter { type_card: Some(CardType::Mlz), linked: Some(false), ..CardFilter::default() };
    let lost = client.cards().all(&filter).collect().await.unwrap()[0].id_card;
    client.closings().create(&[CardClosing::new(lost, ClosingReason::Lost)]).reference("lost").await.unwrap();
    server.run_jobs();
    client.orders().virtual_cards(&[virtual_item(1, 5_000)]).await.unwrap();
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
    server.run_jobs();
}
