//! What only PostgreSQL has: connections that get lost, and many writers.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use kopeck_adapter_store_diesel::BatchedStore;
use kopeck_domain::employee::{Employee, EmployeeFields, EmployeeStatus};
use kopeck_domain::ids::PartnerId;
use kopeck_domain::partner::Partner;
use kopeck_port_store::page::Page;
use kopeck_port_store::{
    Access, Credentials, EmployeeFilter, RecordedResponse, Rule, SpentNonce, Store, StoreError, UnitOfWork,
    submit, transact,
};
use uuid::Uuid;

use crate::support::{
    Kind, NOW, PARTNER, TestStore, config, credentials, employee, order_with_cards, read, tamper, write,
};

const END_CONNECTIONS: &str = "
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid();";

fn add(store: &dyn Store, partner: PartnerId, number: u128) -> Result<(), StoreError> {
    let employee = employee(number);
    write(store, move |unit| unit.employees().insert(partner, &employee))
}

fn is_there(store: &dyn Store, number: u128) -> Result<bool, StoreError> {
    let id = employee(number).id();
    read(store, move |unit| unit.employees().get(PARTNER, id)).map(|found| found.is_some())
}

/// Submits work that waits half-way, within its transaction, until the test lets it continue.
fn halted(store: &dyn Store, access: Access) -> (mpsc::Sender<()>, mpsc::Receiver<Result<(), StoreError>>) {
    let (go_on, told) = mpsc::channel::<()>();
    let (begun, has_begun) = mpsc::channel();
    let (sender, receiver) = mpsc::channel();
    let body = move |unit: &mut dyn UnitOfWork| {
        let page = Page::new(1, 10).unwrap();
        unit.categories().list(PARTNER, page)?;
        let _ = begun.send(());
        let _ = told.recv();
        unit.categories().list(PARTNER, page).map(drop)
    };
    submit(store, access, body, move |result| sender.send(result).unwrap());
    has_begun.recv().unwrap();
    (go_on, receiver)
}

#[test]
fn a_lost_connection_fails_one_request_and_the_next_one_is_served() {
    let store = Kind::Postgres.store_with_partner();
    for access in [Access::Write, Access::Read] {
        let (go_on, halted) = halted(&store, access);
        tamper(&store, END_CONNECTIONS);
        go_on.send(()).unwrap();
        let met = halted.recv().unwrap();
        assert!(matches!(met, Err(StoreError::Unavailable(_))), "{met:?}");
        // All connections are gone, those of idle threads too.
        for number in 0..20 {
            let number = number + if access == Access::Write { 0 } else { 100 };
            add(&store, PARTNER, number).unwrap();
            assert_eq!(is_there(&store, number), Ok(true));
        }
    }
}

#[test]
fn a_database_that_is_away_is_unavailable_at_once_and_comes_back() {
    let store = Kind::Postgres.store_with_partner();
    let admin =
        store.url.replace(store.url.split('/').nth(3).unwrap().split('?').next().unwrap(), "postgres");
    let name = store.url.split('/').nth(3).unwrap().split('?').next().unwrap().to_owned();
    let on_server = |statements: &str| {
        use diesel::connection::SimpleConnection;
        use diesel::{Connection, PgConnection};
        PgConnection::establish(&admin).unwrap().batch_execute(statements).unwrap();
    };
    on_server(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"));
    on_server(&format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"));
    let began = Instant::now();
    for number in 0..20 {
        assert!(matches!(add(&store, PARTNER, number), Err(StoreError::Unavailable(_))));
        assert!(matches!(is_there(&store, number), Err(StoreError::Unavailable(_))));
    }
    assert!(began.elapsed() < Duration::from_secs(20), "refused connections are not waited for");
    on_server(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true"));
    add(&store, PARTNER, 1).unwrap();
    assert_eq!(is_there(&store, 1), Ok(true));
}

#[test]
fn a_refused_statement_costs_the_unit_of_work_nothing_else() {
    let store = Kind::Postgres.store_with_partner();
    let kept = write(&store, |unit| {
        unit.employees().insert(PARTNER, &employee(1))?;
        let double = EmployeeFields { id: employee(2).id(), ..employee(1).into_fields() };
        let refused = unit.employees().insert(PARTNER, &Employee::from_stored(double));
        assert_eq!(refused, Err(StoreError::Conflict(Rule::EmployeeCustomId)));
        let changed = EmployeeFields { category: Some(Uuid::nil().into()), ..employee(1).into_fields() };
        let refused = unit.employees().update(PARTNER, &Employee::from_stored(changed));
        assert_eq!(refused, Err(StoreError::Conflict(Rule::Reference)));
        unit.employees().get(PARTNER, employee(1).id())
    });
    assert_eq!(kept, Ok(Some(employee(1))));
    assert_eq!(is_there(&store, 1), Ok(true));
}

/// PostgreSQL takes the commit of a broken transaction for a roll-back, and says nothing.
#[test]
fn an_uncommitted_unit_is_not_reported_as_stored() {
    let store = Kind::Postgres.store_with_partner();
    let swallowed = write(&store, |unit| {
        unit.employees().insert(PARTNER, &employee(1))?;
        let stranger = Uuid::from_u128(99).into();
        assert!(
            unit.jobs()
                .enqueue(
                    stranger,
                    kopeck_port_store::Subject::Order(stranger.uuid().into()),
                    time::Duration::ZERO
                )
                .is_err()
        );
        Ok(())
    });
    assert!(swallowed.is_err(), "{swallowed:?}");
    assert_eq!(is_there(&store, 1), Ok(false));
}

const ADD_A_COLUMN_EVERYWHERE: &str = "
    DO $$
    DECLARE name text;
    BEGIN
        FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LOOP
            EXECUTE format('ALTER TABLE %I ADD COLUMN added_later integer', name);
        END LOOP;
    END $$";

/// A later version adds columns while this one serves, with statements that it keeps prepared.
#[test]
fn a_rolling_upgrade_may_add_columns() {
    for kind in [Kind::Postgres, Kind::PlainPostgres] {
        let store = kind.store_with_partner();
        let (order, lines, cards) = order_with_cards(1, 2);
        let (order_id, card) = (order.id(), cards[0].record.card.id());
        let recorded = RecordedResponse {
            fingerprint: [1; 32],
            status: 200,
            body: Some(vec![2]),
            employee: None,
            recorded_at: NOW,
        };
        let spent = SpentNonce { idempotency_key: None, spent_at: NOW };
        let (body, spend) = (recorded.clone(), spent.clone());
        write(&store, move |unit| {
            unit.employees().insert(PARTNER, &employee(1))?;
            unit.orders().insert(PARTNER, &order, &lines)?;
            unit.cards().insert_issued(PARTNER, &cards)?;
            unit.idempotency().record(PARTNER, "key", &body, NOW)?;
            unit.sealed_nonces().spend(PARTNER, "nonce", &spend, NOW)
        })
        .unwrap();
        let read_everything = move |unit: &mut dyn UnitOfWork| {
            let page = Page::new(1, 10).unwrap();
            let found = (
                unit.partners().get(PARTNER)?.is_some(),
                unit.employees().get(PARTNER, employee(1).id())?,
                unit.employees().with_cards(PARTNER, employee(1).id())?.is_some(),
                unit.cards().get(PARTNER, card)?.is_some(),
                unit.orders().result(PARTNER, order_id, 0, 10)?.len(),
                unit.idempotency().find(PARTNER, "key")?,
                unit.sealed_nonces().find(PARTNER, "nonce")?,
            );
            unit.employees().list(PARTNER, &EmployeeFilter::default(), page)?;
            unit.categories().list(PARTNER, page)?;
            unit.orders().get(PARTNER, order_id)?;
            unit.ledger().sheet(PARTNER)?;
            Ok::<_, StoreError>(found)
        };
        let everything = (true, Some(employee(1)), true, true, 2, Some(recorded), Some(spent));
        for access in [Access::Read, Access::Write] {
            assert_eq!(
                transact(&store, access, read_everything),
                Ok(everything.clone()),
                "{kind:?} {access:?}"
            );
        }
        tamper(&store, ADD_A_COLUMN_EVERYWHERE);
        for access in [Access::Read, Access::Write] {
            let found = transact(&store, access, read_everything);
            assert_eq!(found, Ok(everything.clone()), "{kind:?} {access:?}, with another column");
        }
    }
}

fn with_partners(count: u128) -> TestStore {
    let store = Kind::Postgres.store_with_partner();
    for number in 2..=count {
        let partner = Partner {
            id: Uuid::from_u128(number).into(),
            login: format!("partner-{number}"),
            ..credentials().partner
        };
        let mut hash = [0; 32];
        hash[..16].copy_from_slice(&number.to_be_bytes());
        let credentials = Credentials { partner, api_key_hash: hash, ..credentials() };
        write(&store, move |unit| unit.partners().insert(&credentials)).unwrap();
    }
    store
}

/// Several threads of two processes change several partners each, in every order, or one alone: no transaction fails,
/// nothing is lost, and none waits for the database to find a deadlock.
#[test]
fn writers_of_many_partners_do_not_lock_each_other_out() {
    const PARTNERS: u128 = 3;
    const ROUNDS: i64 = 20;
    let store = with_partners(PARTNERS);
    let second = BatchedStore::open(config(store.url.clone(), crate::support::clock())).unwrap();
    for number in 1..=PARTNERS {
        add(&store, Uuid::from_u128(number).into(), number).unwrap();
    }
    let add_a_second = |unit: &mut dyn UnitOfWork, number| {
        let partner = Uuid::from_u128(number).into();
        let mut counter = unit.employees().get(partner, employee(number).id())?.unwrap().into_fields();
        counter.status = EmployeeStatus::Work;
        counter.status_updated_at += time::Duration::SECOND;
        unit.employees().update(partner, &Employee::from_stored(counter))
    };
    let bump = |store: &dyn Store, order: [u128; 2]| {
        write(store, move |unit| order.into_iter().try_for_each(|number| add_a_second(unit, number)))
    };
    let bump_one = |store: &dyn Store, number: u128| -> Result<(), StoreError> {
        write(store, move |unit| add_a_second(unit, number))
    };
    let stores: [&dyn Store; 2] = [&store, &second];
    thread::scope(|scope| {
        for store in stores {
            for order in [[1, 2], [2, 1], [2, 3], [3, 2], [1, 3], [3, 1]] {
                scope.spawn(move || {
                    for _ in 0..ROUNDS {
                        bump(store, order).unwrap();
                    }
                });
            }
            for number in 1..=PARTNERS {
                scope.spawn(move || {
                    for _ in 0..ROUNDS {
                        bump_one(store, number).unwrap();
                    }
                });
            }
        }
    });
    for number in 1..=PARTNERS {
        let partner = Uuid::from_u128(number).into();
        let counted =
            read(&store, move |unit| unit.employees().get(partner, employee(number).id())).unwrap().unwrap();
        // Each partner is in four of the six orders, and once alone.
        assert_eq!((counted.status_updated_at() - NOW).whole_seconds(), 2 * 5 * ROUNDS);
    }
}

/// Makes the insert of an employee look at a plan of its session, where further processes cost nothing.
const REFUSE_WORKERS: &str = "
    CREATE FUNCTION refuse_workers() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE step text;
    BEGIN
        SET LOCAL parallel_setup_cost = 0;
        SET LOCAL parallel_tuple_cost = 0;
        SET LOCAL min_parallel_table_scan_size = 0;
        SET LOCAL min_parallel_index_scan_size = 0;
        FOR step IN EXECUTE 'EXPLAIN SELECT count(*) FROM pg_class' LOOP
            IF step LIKE '%Gather%' THEN RAISE 'a plan has workers: %', step; END IF;
        END LOOP;
        RETURN NEW;
    END $$;
    CREATE TRIGGER refuse_workers BEFORE INSERT ON employees FOR EACH ROW EXECUTE FUNCTION refuse_workers();";

/// A plan for any values takes a page of a hundred rows for a tenth of all, for which processes would pay.
#[test]
fn a_session_starts_no_processes_for_a_page() {
    let store = Kind::Postgres.store_with_partner();
    tamper(&store, REFUSE_WORKERS);
    add(&store, PARTNER, 1).unwrap();
}
