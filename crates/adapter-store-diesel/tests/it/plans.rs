//! No query of the store walks a whole table, and frequent statements stay prepared.

mod lists;
mod of_programme;
mod paydays;
mod recorder;

use std::sync::{Arc, Mutex};

use diesel::prelude::*;
use diesel::sql_types::{Integer, Text};
use kopeck_audit::{Digest, Entry, Head, Mark, MarkKind, Outcome, Signature};
use kopeck_domain::Kopecks;
use kopeck_domain::calendar::CalendarMonth;
use kopeck_domain::card::{BankStatus, Card, CardFields, CardLink, CardStatus};
use kopeck_domain::card_batch::BatchState;
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::category::{Category, CategoryName};
use kopeck_domain::employee::EmployeeStatus;
use kopeck_domain::event::EventType;
use kopeck_domain::ids::{ClosingId, DeliveryId, EventId, WebhookId};
use kopeck_domain::ledger::{MovementKind, TransferReference};
use kopeck_domain::order::OrderState;
use kopeck_domain::partner::SealingPolicy;
use kopeck_domain::person::CustomId;
use kopeck_domain::request::RequestReference;
use kopeck_domain::transaction::{Transaction, TransactionType};
use kopeck_port_store::page::Page;
use kopeck_port_store::webhook::{Delivery, Webhook, WebhookUrl};
use kopeck_port_store::{
    AuditFilter, AvailableFilter, BankFeedState, CardFilter, EmployeeFilter, Horizon, ReportPeriod,
    RequestFilter, RequestLogFilter, Reschedule, SpentNonce, StoreError, Subject, TransactionFilter,
    TransactionQuery, UnitOfWork, WebhookRecord,
};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use self::recorder::Record;
use crate::support::{
    Kind, NOW, PARTNER, TestStore, credentials, employee, on_every_database, order_with_cards, write,
};

/// A store, and its statements while every part of this file runs.
fn recorded(kind: Kind) -> (TestStore, Record) {
    let record = Arc::new(Mutex::new(Record::default()));
    let place = kind.migrated_place();
    let url = place.url();
    let start = url.strip_prefix("sqlite://").unwrap_or(&url).to_owned();
    recorder::keep(start, &record);
    let store = kind.store_on(place);
    *record.lock().unwrap() = Record::default();
    for part in [
        partners_and_sessions,
        staff,
        orders_and_cards,
        reports,
        money_and_work,
        paydays::paydays,
        webhooks,
        audit,
    ] {
        write(&store, part).unwrap();
    }
    let record = std::mem::take(&mut *record.lock().unwrap());
    assert!(record.asked.len() > 80, "only {} statements were recorded", record.asked.len());
    (store, record)
}

#[derive(QueryableByName)]
struct Step {
    #[diesel(sql_type = Integer)]
    id: i32,
    #[diesel(sql_type = Integer)]
    parent: i32,
    #[diesel(sql_type = Text)]
    detail: String,
}

/// SQLite's plan for `statement`, one line a step.
fn plan(connection: &mut SqliteConnection, statement: &str) -> Vec<String> {
    let steps: Vec<Step> =
        diesel::sql_query(format!("EXPLAIN QUERY PLAN {statement}")).load(connection).unwrap();
    steps.into_iter().filter(|step| step.id > step.parent).map(|step| step.detail).collect()
}

fn page() -> Page {
    Page::new(2, 10).unwrap()
}

fn partners_and_sessions(unit: &mut dyn UnitOfWork) -> Result<(), StoreError> {
    let (session, pair) = (Uuid::nil().into(), Uuid::nil().into());
    unit.partners().insert(&credentials())?;
    unit.partners().by_api_key(&[1; 32], NOW)?;
    unit.partners().replace_api_key(PARTNER, &[2; 32], NOW)?;
    unit.partners().reencrypt_sealing_key(PARTNER, [0; 8], &[1; 81])?;
    unit.partners().former_api_key_until(PARTNER)?;
    unit.partners().set_sealing(PARTNER, SealingPolicy::Optional)?;
    unit.partners().get(PARTNER)?;
    unit.partners().credentials(PARTNER)?;
    unit.partners().sealing_keys(PARTNER)?;
    unit.partners().end_sealing_key(PARTNER, [0; 8], NOW)?;
    unit.sessions().insert(PARTNER, session, None, NOW)?;
    unit.credentials().by_api_key(&[3; 32])?;
    unit.credentials().get(PARTNER, Uuid::nil().into())?;
    unit.credentials().list(PARTNER)?;
    unit.credentials().revoke(PARTNER, Uuid::nil().into(), NOW)?;
    unit.credentials().reencrypt(PARTNER, Uuid::nil().into(), &[1; 72])?;
    unit.sessions().pair(PARTNER, pair)?;
    unit.sessions().revoke(PARTNER, session)?;
    unit.sessions().revoke_others(PARTNER, session)?;
    unit.sessions().touch(PARTNER, session, NOW, None)?;
    unit.sessions().list(PARTNER, session, NOW)?;
    unit.sessions().active(PARTNER, NOW)?;
    unit.sessions().forget_expired(NOW, 10)?;
    unit.throttle().failures(&[0; 32], NOW, 10)?;
    unit.throttle().spend_nonce(&[0; 32], "nonce", NOW, NOW)?;
    unit.throttle().forget_before(NOW, 10)?;
    unit.idempotency().find(PARTNER, "key")?;
    unit.idempotency().forget_before(NOW, 10)?;
    let spent = SpentNonce { idempotency_key: Some("key".to_owned()), spent_at: NOW };
    unit.sealed_nonces().find(PARTNER, "nonce")?;
    for stale_before in [NOW, NOW + Duration::SECOND] {
        unit.sealed_nonces().spend(PARTNER, "nonce", &spent, stale_before)?;
    }
    unit.sealed_nonces().forget_before(NOW, 10)?;
    request_log(unit)
}

fn request_log(unit: &mut dyn UnitOfWork) -> Result<(), StoreError> {
    unit.request_log().append(PARTNER, &[], NOW)?;
    let none = RequestLogFilter::default();
    for filter in [
        none.clone(),
        RequestLogFilter { status: Some(404), ..none.clone() },
        RequestLogFilter { operation: Some("balance".to_owned()), ..none.clone() },
        RequestLogFilter { request_id: Some("id".to_owned()), ..none },
    ] {
        unit.request_log().after(PARTNER, 7, &filter, 10)?;
    }
    unit.request_log().forget_before(NOW, 10)?;
    Ok(())
}

fn staff(unit: &mut dyn UnitOfWork) -> Result<(), StoreError> {
    let category = Category { id: Uuid::nil().into(), name: CategoryName::parse("Повара").unwrap() };
    unit.categories().insert(PARTNER, &category, NOW)?;
    unit.categories().rename(PARTNER, &category)?;
    unit.categories().get(PARTNER, category.id)?;
    unit.categories().id_by_name(PARTNER, &category.name)?;
    unit.categories().employees_in(PARTNER, category.id)?;
    unit.categories().list(PARTNER, Page::new(1, 10).unwrap())?;
    unit.categories().delete(PARTNER, category.id)?;
    let one = employee(1);
    unit.employees().insert(PARTNER, &one)?;
    unit.employees().update(PARTNER, &one)?;
    unit.employees().get(PARTNER, one.id())?;
    unit.employees().id_by_custom_id(PARTNER, one.custom_id())?;
    let none = EmployeeFilter::default();
    for filter in [
        none.clone(),
        EmployeeFilter { status: Some(EmployeeStatus::Work), ..none.clone() },
        EmployeeFilter { category: Some(category.id), ..none.clone() },
        EmployeeFilter { custom_id: Some(one.custom_id().clone()), ..none.clone() },
        EmployeeFilter { query: Some("text".to_owned()), ..none },
    ] {
        unit.employees().list(PARTNER, &filter, page())?;
    }
    Ok(())
}

/// No filter, each alone, and all together.
fn request_filters<S: Copy>(state: S) -> [RequestFilter<S>; 6] {
    let [none, by_state, by_reference, from, before] = [(); 5].map(|()| RequestFilter::default());
    let (state, reference) = (Some(state), Some(RequestReference::from_stored("PO-7".to_owned())));
    [
        none,
        RequestFilter { state, ..by_state },
        RequestFilter { reference: reference.clone(), ..by_reference },
        RequestFilter { from: Some(NOW), ..from },
        RequestFilter { before: Some(NOW), ..before },
        RequestFilter { state, reference, from: Some(NOW), before: Some(NOW) },
    ]
}

#[expect(clippy::too_many_lines, reason = "a line a look-up")]
fn orders_and_cards(unit: &mut dyn UnitOfWork) -> Result<(), StoreError> {
    let (order, lines, cards) = order_with_cards(7, 2);
    unit.orders().insert(PARTNER, &order, &lines)?;
    unit.orders().get(PARTNER, order.id())?;
    unit.orders().lines(PARTNER, order.id())?;
    unit.orders().set_state(PARTNER, &order)?;
    for filter in request_filters(OrderState::New) {
        unit.orders().list(PARTNER, &filter, page())?;
    }
    unit.cards().insert_issued(PARTNER, &cards)?;
    unit.orders().stored_cards(PARTNER, order.id())?;
    unit.orders().result(PARTNER, order.id(), 0, 10)?;
    let card = cards[0].record.card.clone();
    let employee = employee(1).id();
    unit.cards().get(PARTNER, card.id())?;
    unit.cards().by_number(PARTNER, card.number())?;
    unit.cards().main_card(PARTNER, employee)?;
    unit.cards().of_employee(PARTNER, employee)?;
    unit.cards().set_bank_view(PARTNER, card.id(), &cards[0].record.bank, card.valid_until())?;
    unit.cards().outdate_bank_view(PARTNER, &[card.id()], OffsetDateTime::UNIX_EPOCH)?;
    unit.replenishments().targets(PARTNER, &[card.id()])?;
    unit.cards().forget_activation_codes(NOW.date(), 10)?;
    unit.cards().accounts_due(NOW..NOW, 10)?;
    unit.cards().set_account(PARTNER, card.id(), &cards[0].record.account)?;
    unit.cards().owners(&[card.number()])?;
    unit.cards().expiries_due(NOW.date(), 10)?;
    unit.cards().take_expiry(PARTNER, card.id(), NOW.date(), None)?;
    unit.bank_feed().state()?;
    unit.bank_feed().set_state(&BankFeedState::default())?;
    unit.bank_feed().record_decline(PARTNER, 1)?;
    unit.bank_feed().forget_declines(1)?;
    unit.limit_changes().targets(PARTNER, &[card.id()])?;
    unit.cards().set_limit(PARTNER, &[card.id()], &cards[0].record.limit)?;
    let none = CardFilter::default();
    for filter in [
        none,
        CardFilter { linked: Some(true), ..none },
        CardFilter { linked: Some(false), ..none },
        CardFilter { status: Some(CardStatus::Main), ..none },
        CardFilter { bank_status: Some(BankStatus::Closed), ..none },
        CardFilter { bank_status: Some(BankStatus::Blocking), ..none },
        CardFilter { kind: Some(card.kind()), ..none },
        CardFilter { order: Some(card.order()), ..none },
        CardFilter { employee: Some(employee), ..none },
        CardFilter { expires_before: Some(NOW.date()), ..none },
        CardFilter { number: Some(card.number()), ..none },
    ] {
        unit.cards().list(PARTNER, &filter, page())?;
    }
    for kind in [None, Some(card.kind())] {
        unit.cards().available(PARTNER, AvailableFilter { kind, today: NOW.date() }, page())?;
    }
    let link = Some(CardLink { employee, status: CardStatus::Main });
    let card = Card::from_stored(CardFields { link, ..card.into_fields() });
    unit.cards().set_link(PARTNER, &card)?;
    let custom_id = CustomId::parse("T-1").unwrap();
    let names = [
        CardRef::Id(card.id()),
        CardRef::Number(card.number()),
        CardRef::Employee(employee),
        CardRef::CustomId(custom_id),
    ];
    unit.cards().by_references(PARTNER, &names)?;
    unit.cards().blocked(PARTNER, &[card.id()])?;
    unit.cards().is_being_closed(PARTNER, card.id())?;
    unit.transactions().latest_id(PARTNER, card.id())?;
    unit.transactions().append(PARTNER, card.id(), &[], NOW)?;
    unit.transactions().spent(PARTNER, card.id(), NOW, NOW)?;
    unit.reconciliation().cards(None, 10)?;
    unit.reconciliation().transactions(PARTNER, &[card.id()], &(NOW..NOW))?;
    unit.reconciliation().transaction(PARTNER, card.id(), 1)?;
    let none = TransactionFilter::default();
    for filter in [
        none,
        TransactionFilter { from: Some(NOW), ..none },
        TransactionFilter { before: Some(NOW), ..none },
        TransactionFilter { kind: Some(TransactionType::Refund), ..none },
    ] {
        unit.transactions().list(PARTNER, card.id(), filter, page())?;
        for (card, employee) in [(None, None), (Some(card.id()), None), (None, Some(employee))] {
            let query = TransactionQuery { after: 0, limit: 10, filter, card, employee };
            unit.transactions().after(PARTNER, &query)?;
        }
    }
    Ok(())
}

fn reports(unit: &mut dyn UnitOfWork) -> Result<(), StoreError> {
    let (month, card) =
        (CalendarMonth::parse("2026-03").unwrap(), order_with_cards(7, 2).2[0].record.card.id());
    let payment = Transaction {
        id: 1,
        executed_at: NOW,
        kind: TransactionType::Payment,
        amount: Kopecks::new(1),
        place: None,
        mcc: None,
        merchant_id: None,
    };
    unit.transactions().append(PARTNER, card, &[payment], NOW)?;
    let period = ReportPeriod { within: NOW..NOW + Duration::HOUR, known_before: 0, known: 9 };
    let rows = unit.reports().people(PARTNER, 1..10, &period)?;
    assert_eq!(rows.len(), 1);
    unit.reports().note_former_holder(PARTNER, card, employee(1).id(), NOW)?;
    unit.reports().unassigned(PARTNER, &period)?;
    unit.reports().given_by(PARTNER, Uuid::nil().into(), 1..10, &period.within)?;
    unit.reports().known_since(PARTNER, month)?;
    unit.reports().begin_closing(PARTNER, month, 9)?;
    unit.reports().keep_rows(PARTNER, month, &rows, 1)?;
    unit.reports().kept_rows(PARTNER, month, 0, 10)?;
    unit.reports().closed(PARTNER, month)?;
    unit.reports().end_closing(PARTNER, month, [0; 32], false, NOW)
}

fn money_and_work(unit: &mut dyn UnitOfWork) -> Result<(), StoreError> {
    let id = Uuid::nil().into();
    unit.replenishments().get(PARTNER, id)?;
    unit.replenishments().items(PARTNER, id, 0, 10)?;
    unit.replenishments().open_items(PARTNER, id, 10)?;
    unit.replenishments().unsent_items(PARTNER, id, 10)?;
    unit.replenishments().mark_sent(PARTNER, id, &[0], true)?;
    unit.replenishments().counts(PARTNER, id)?;
    unit.replenishments().release_cards(PARTNER, id)?;
    for filter in request_filters(BatchState::New) {
        unit.replenishments().list(PARTNER, &filter, page())?;
    }
    let change = Uuid::nil().into();
    unit.limit_changes().get(PARTNER, change)?;
    unit.limit_changes().items(PARTNER, change, 0, 10)?;
    unit.limit_changes().open_items(PARTNER, change, 10)?;
    unit.limit_changes().unsent_items(PARTNER, change, 10)?;
    unit.limit_changes().mark_sent(PARTNER, change, &[0], true)?;
    unit.limit_changes().counts(PARTNER, change)?;
    unit.limit_changes().release_cards(PARTNER, change)?;
    for filter in request_filters(BatchState::New) {
        unit.limit_changes().list(PARTNER, &filter, page())?;
        unit.closings().list(PARTNER, &filter, page())?;
        unit.withdrawals().list(PARTNER, &filter, page())?;
    }
    unit.closings().add_returned(PARTNER, ClosingId::new(Uuid::nil()), Kopecks::new(1))?;
    unit.ledger().sheet(PARTNER)?;
    unit.movements().last(PARTNER)?;
    unit.movements().first_since(PARTNER, NOW)?;
    unit.movements().first_within(PARTNER, 1..10, NOW)?;
    unit.movements().totals(PARTNER, 1..10)?;
    unit.movements().range(PARTNER, 1..10)?;
    unit.movements().of_kind(PARTNER, MovementKind::Hold, 1..10, page())?;
    unit.ledger().transferred(PARTNER, MovementKind::Deposit, &TransferReference::parse("R").unwrap())?;
    unit.jobs().enqueue(PARTNER, Subject::Replenishment(id), Duration::ZERO)?;
    let claim = unit.jobs().claim(Duration::ZERO, 10)?.remove(0);
    unit.jobs().is_current(&claim)?;
    unit.jobs().is_any_due()?;
    unit.jobs().count_of(PARTNER)?;
    let horizon = Horizon { first: Duration::ZERO, again: Duration::ZERO, lease: Duration::ZERO };
    unit.jobs().clock(horizon)?;
    unit.jobs().bring_within(horizon)?;
    unit.jobs().mark_stuck(&claim)?;
    unit.jobs().stuck()?;
    unit.jobs().force_claim(PARTNER, Subject::Order(Uuid::nil().into()), Duration::ZERO)?;
    unit.jobs()
        .reschedule(&claim, Reschedule { delay: Duration::ZERO, failures: 0, may_have_sent: false })?;
    unit.jobs().complete(&claim)?;
    unit.jobs().cancel(PARTNER, claim.subject)?;
    unit.jobs().end_all_leases()?;
    unit.reconciliation().entry_sums(PARTNER)?;
    unit.reconciliation().unbalanced_movements(PARTNER)?;
    unit.reconciliation().wrong_balances_after(PARTNER)?;
    unit.reconciliation().employees_with_two_main_cards(PARTNER)?;
    Ok(())
}

fn webhooks(unit: &mut dyn UnitOfWork) -> Result<(), StoreError> {
    let id = WebhookId::new(Uuid::from_u128(1));
    let event = EventId::new(Uuid::from_u128(2));
    unit.events().after(PARTNER, 0, &[], 10)?;
    unit.events().after(PARTNER, 0, &[EventType::Ping], 10)?;
    unit.events().by_id(PARTNER, event)?;
    let url = WebhookUrl::from_stored("https://example.com/".to_owned());
    let record = WebhookRecord {
        webhook: Webhook::new(id, url, NOW),
        secret: [1; 32],
        former_secret: None,
        cursor: 0,
        due_at: None,
        redelivery: None,
        lease: None,
    };
    unit.webhooks().insert(PARTNER, &record)?;
    unit.webhooks().get(PARTNER, id)?;
    unit.webhooks().update(PARTNER, &record)?;
    unit.webhooks().list(PARTNER, page())?;
    unit.webhooks().ready(NOW, 10)?;
    let delivery = Delivery::new(DeliveryId::new(Uuid::from_u128(3)), 1, event, EventType::Ping, NOW);
    unit.webhooks().enqueue(PARTNER, id, std::slice::from_ref(&delivery), NOW)?;
    unit.webhooks().due(PARTNER, id, NOW, 10)?;
    unit.webhooks().bring_within_horizon(PARTNER, id, NOW)?;
    unit.webhooks().next_due(PARTNER, id)?;
    unit.webhooks().update_delivery(PARTNER, id, &delivery)?;
    unit.webhooks().pending(PARTNER, &record)?;
    unit.webhooks().deliveries(PARTNER, id, 0, None, page())?;
    unit.webhooks().missed(PARTNER, &record.webhook, 0, 10, 10)?;
    unit.webhooks().is_pending(PARTNER, id, 1)?;
    unit.webhooks().has_delivery_of(PARTNER, id, event)?;
    unit.webhooks().backlog()?;
    unit.webhooks().fail_pending(PARTNER, id, "disabled")?;
    unit.webhooks().forget_before(NOW, 10)?;
    unit.webhooks().delete(PARTNER, id)
}

fn audit(unit: &mut dyn UnitOfWork) -> Result<(), StoreError> {
    unit.audit().append(&Entry::new(NOW, "127.0.0.1", "employee.add"))?;
    unit.audit().openings(0, 10)?;
    unit.audit().records(1, 0, 10)?;
    unit.audit().last_chain_in_use()?;
    unit.audit().last_record(1)?;
    unit.audit().marks(1)?;
    let head = Head { chain: 1, number: 1, hash: Digest::from_bytes([0; 32]) };
    let signature = Signature { key: [0; 8], code: [0; 32] };
    unit.audit().prune(&Mark { kind: MarkKind::Beginning, head, signature })?;
    let none = AuditFilter::default;
    for filter in [
        none(),
        AuditFilter { since: Some(NOW), until: Some(NOW), ..none() },
        AuditFilter { partner: Some(PARTNER), action: Some("employee.add".to_owned()), ..none() },
        AuditFilter { outcome: Some(Outcome::Refused), ..none() },
    ] {
        unit.audit().list(&filter, 10)?;
    }
    Ok(())
}

/// Steps that walk nothing of the database: a list that came with the statement, and a row that stands in it. And those that
/// look at all webhooks, of which a partner has ten at most, or count what is pending by the index that has nothing else.
fn is_meant(step: &str) -> bool {
    let of_pending =
        |index: &str| step == format!("SCAN webhook_deliveries USING {index} webhook_deliveries_pending");
    step.starts_with("SCAN wanted VIRTUAL TABLE")
        || step.starts_with("SCAN json_each VIRTUAL TABLE")
        || step.starts_with("SCAN pragma_data_version VIRTUAL TABLE")
        || step == "SCAN CONSTANT ROW"
        || step == "SCAN webhooks"
        || step == "SCAN sums"
        || step == "SCAN k"
        || step == "SCAN due"
        || step.starts_with("SCAN (subquery-")
        || ["INDEX", "COVERING INDEX"].into_iter().any(of_pending)
}

#[test]
fn no_statement_walks_a_table() {
    let (store, record) = recorded(Kind::Sqlite);
    let path = store.url.strip_prefix("sqlite://").unwrap();
    let mut connection = SqliteConnection::establish(path).unwrap();
    for statement in record.asked {
        let plan = plan(&mut connection, &statement);
        let walks = plan.iter().any(|step| step.starts_with("SCAN") && !is_meant(step));
        assert!(!walks, "{statement}\n{plan:#?}");
        // Not the first row of a subquery, `LIMIT 1`, and not what is gathered of an index that has what is due alone.
        let gathers = statement.contains("GROUP BY due.partner_id");
        let pages = statement.contains("LIMIT ?") && !gathers || statement.contains("`seq`");
        let sorts = plan.iter().any(|step| step.starts_with("USE TEMP B-TREE"));
        assert!(!(pages && sorts), "{statement}\n{plan:#?}");
        // SQLite plans a statement anew whenever a value is bound to its LIMIT: five times the cost of a look-up.
        assert!(!statement.contains("LIMIT ") || statement.contains("ORDER BY"), "{statement}");
    }
}

on_every_database! { frequent_statements_stay_prepared }

fn frequent_statements_stay_prepared(kind: Kind) {
    let (_store, record) = recorded(kind);
    // Statements of any length, those of the check of the ledger, and those for a clock that was set back.
    let seldom =
        [" OVER (", "IN (", "ANY(", "json_each", " AS BIGINT)", "HAVING", "SAVEPOINT", "COMMIT", "CASE WHEN"];
    // The plain store checks connections, and on a slow machine the batched one's supervisor the server.
    let asked = record.asked.difference(&record.kept).filter(|statement| *statement != "SELECT 1");
    // Sent once by each connection.
    let of_connections = ["history_notices", "audit_chains", "pg_is_in_recovery"];
    let asked = asked.filter(|statement| !of_connections.iter().any(|word| statement.contains(word)));
    for statement in asked {
        assert!(seldom.iter().any(|word| statement.contains(word)), "{statement}");
    }
}

#[test]
fn the_main_look_ups_use_the_index_made_for_them() {
    let store = Kind::Sqlite.empty_store();
    let path = store.url.strip_prefix("sqlite://").unwrap();
    let mut connection = SqliteConnection::establish(path).unwrap();
    for (statement, index) in [
        (
            "SELECT id FROM cards WHERE partner_id = ? AND employee_id = ? AND link_status = 'MAIN'",
            "cards_one_main",
        ),
        (
            "SELECT COUNT(*) FROM cards WHERE partner_id = ? AND employee_id IS NULL AND standing = ? \
             AND valid_until >= ? AND kind = ?",
            "COVERING INDEX cards_unassigned",
        ),
        (
            "SELECT SUM(CASE WHEN i.kind = 'LIMIT_CHANGE' THEN 1 WHEN i.is_urgent THEN 4 ELSE 2 END) \
             FROM card_batch_items i WHERE i.partner_id = ? AND i.card_id = ? AND i.claimed \
             AND (CASE WHEN i.kind = 'LIMIT_CHANGE' THEN 1 WHEN i.is_urgent THEN 4 ELSE 2 END) > 0",
            "INDEX card_batch_items_claim (partner_id=? AND card_id=? AND <expr>>?)",
        ),
    ] {
        let plan = plan(&mut connection, statement);
        assert!(plan.iter().any(|step| step.contains(index)), "{statement}\n{plan:#?}");
    }
}
