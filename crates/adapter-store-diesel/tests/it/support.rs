//! Stores in folders of their own, and rows to put into them.

use std::sync::Arc;

use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use kopeck_adapter_store_diesel::testing::TestDatabase;
use kopeck_adapter_store_diesel::{OpenError, OpenStore, StoreConfig, StoreKind, migrate};
use kopeck_domain::Kopecks;
use kopeck_domain::card::CardFields;
use kopeck_domain::card::{AccountBalance, BankView, Card, CardType, Standing};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::employee::{Employee, NewEmployee};
use kopeck_domain::ids::PartnerId;
use kopeck_domain::limit::Limit;
use kopeck_domain::order::{LineDetails, Order, OrderKind, OrderLine};
use kopeck_domain::partner::{Partner, PartnerStatus, SealingPolicy};
use kopeck_domain::person::{CustomId, Email, Phone};
use kopeck_port_store::contract::TimeTravel;
use kopeck_port_store::mock::FakeCipher;
use kopeck_port_store::{
    Access, Activation, CardRecord, Credentials, Done, NewCard, Store, StoreError, UnitOfWork, Work, transact,
};
use kopeck_port_system::Clock;
use kopeck_port_system::fake::FakeClock;
use tempfile::TempDir;
use time::{Date, Duration, OffsetDateTime};
use uuid::Uuid;

pub(crate) const PARTNER: PartnerId = PartnerId::new(Uuid::from_u128(1));
pub(crate) const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

/// The databases that the store speaks to, batched and plain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
    PlainSqlite,
    PlainPostgres,
}

/// Makes a test of each of these functions on each database.
macro_rules! on_every_database {
    ($($test:ident)*) => {
        mod on_sqlite {
            $(#[test]
            fn $test() {
                super::$test(crate::support::Kind::Sqlite);
            })*
        }
        mod on_postgres {
            $(#[test]
            fn $test() {
                super::$test(crate::support::Kind::Postgres);
            })*
        }
        mod on_plain_sqlite {
            $(#[test]
            fn $test() {
                super::$test(crate::support::Kind::PlainSqlite);
            })*
        }
        mod on_plain_postgres {
            $(#[test]
            fn $test() {
                super::$test(crate::support::Kind::PlainPostgres);
            })*
        }
    };
}
pub(crate) use on_every_database;

/// Where a database lies that goes with its test.
pub(crate) enum Place {
    Folder(TempDir),
    Server(TestDatabase),
}

impl Place {
    pub(crate) fn url(&self) -> String {
        match self {
            Self::Folder(folder) => format!("sqlite://{}", folder.path().join("kopeck.db").display()),
            Self::Server(database) => database.url().to_owned(),
        }
    }
}

impl Kind {
    pub(crate) fn is_sqlite(self) -> bool {
        matches!(self, Self::Sqlite | Self::PlainSqlite)
    }

    /// A place without migrations.
    pub(crate) fn new_place(self) -> Place {
        if self.is_sqlite() {
            Place::Folder(tempfile::tempdir().unwrap())
        } else {
            Place::Server(TestDatabase::empty())
        }
    }

    /// A place with all migrations.
    pub(crate) fn migrated_place(self) -> Place {
        if !self.is_sqlite() {
            return Place::Server(TestDatabase::migrated());
        }
        let place = self.new_place();
        migrate(&place.url()).unwrap();
        place
    }

    pub(crate) fn open(self, config: StoreConfig) -> Result<Arc<dyn OpenStore>, OpenError> {
        match self {
            Self::Sqlite | Self::Postgres => StoreKind::Batched.open(config),
            Self::PlainSqlite | Self::PlainPostgres => StoreKind::Plain.open(config),
        }
    }

    /// A store on this place.
    pub(crate) fn store_on(self, place: Place) -> TestStore {
        let (url, clock) = (place.url(), clock());
        let config = config(&url, Arc::clone(&clock) as Arc<dyn Clock>);
        TestStore { store: self.open(config).unwrap(), url, clock, place }
    }

    pub(crate) fn empty_store(self) -> TestStore {
        self.store_on(self.migrated_place())
    }

    /// A store with [`PARTNER`].
    pub(crate) fn store_with_partner(self) -> TestStore {
        let store = self.empty_store();
        write(&store, |unit| unit.partners().insert(&credentials())).unwrap();
        store
    }
}

/// Settings with a cipher.
pub(crate) fn config(url: impl Into<String>, clock: Arc<dyn Clock>) -> StoreConfig {
    StoreConfig { cipher: Arc::new(FakeCipher(vec![1])), ..StoreConfig::new(url, clock) }
}

/// A store on a database of its own, which goes with it.
pub(crate) struct TestStore {
    // First, so that it is closed before its database goes.
    pub(crate) store: Arc<dyn OpenStore>,
    pub(crate) url: String,
    clock: Arc<FakeClock>,
    pub(crate) place: Place,
}

impl Store for TestStore {
    fn submit(&self, access: Access, work: Work, done: Done) {
        self.store.submit(access, work, done);
    }

    fn run(&self, access: Access, work: Work) -> Result<(), StoreError> {
        self.store.run(access, work)
    }
}

impl TimeTravel for TestStore {
    fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    fn step(&self, by: Duration) {
        self.clock.step(by);
    }
}

/// A clock that stands still at [`NOW`].
pub(crate) fn clock() -> Arc<FakeClock> {
    Arc::new(FakeClock::starting_at(NOW))
}

/// Runs statements behind the store's back, as a damaged disk or an idle hand might.
pub(crate) fn tamper(store: &TestStore, statements: &str) {
    match &store.place {
        Place::Folder(_) => {
            let path = store.url.strip_prefix("sqlite://").unwrap();
            SqliteConnection::establish(path).unwrap().batch_execute(statements).unwrap();
        }
        Place::Server(database) => database.run(statements),
    }
}

pub(crate) fn write<T: Send + 'static>(
    store: &dyn Store,
    body: impl FnMut(&mut dyn UnitOfWork) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    transact(store, Access::Write, body)
}

pub(crate) fn read<T: Send + 'static>(
    store: &dyn Store,
    body: impl FnMut(&mut dyn UnitOfWork) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    transact(store, Access::Read, body)
}

pub(crate) fn credentials() -> Credentials {
    Credentials {
        partner: Partner {
            id: PARTNER,
            name: "Столовая".to_owned(),
            login: "canteen".to_owned(),
            status: PartnerStatus::Active,
            sealing: SealingPolicy::Optional,
            created_at: NOW,
        },
        api_key_hash: [1; 32],
        password_hash: "hash".to_owned(),
    }
}

pub(crate) fn employee(number: u128) -> Employee {
    let custom_id = CustomId::parse(&format!("E-{number}")).unwrap();
    let fields = NewEmployee {
        phone: Some(Phone::parse("9031234567").unwrap()),
        email: Some(Email::parse("p@example.ru").unwrap()),
        ..NewEmployee::default()
    };
    Employee::add(Uuid::from_u128(number).into(), custom_id, fields, NOW)
}

/// An order of `count` virtual cards, and the cards that the bank issued for it.
pub(crate) fn order_with_cards(number: u128, count: u32) -> (Order, Vec<OrderLine>, Vec<NewCard>) {
    let details = LineDetails::Virtual { amount: Kopecks::new(5_000) };
    let lines = vec![OrderLine { card_type: CardType::Mlz, count, details }];
    let order = Order::place(Uuid::from_u128(number).into(), OrderKind::Virtual, &lines, NOW).unwrap();
    let valid_until = Date::from_ordinal_date(2029, 1).unwrap();
    // A number is issued once, for all partners.
    let first_number = 1_000_000_000 + 100_000 * u64::try_from(number).unwrap();
    let card = |ordinal: u32| NewCard {
        record: CardRecord {
            card: Card::from_stored(CardFields {
                id: Uuid::from_u128((number << 32) + u128::from(ordinal)).into(),
                number: CardNumber::from_u64(first_number + u64::from(ordinal)).unwrap(),
                kind: CardType::Mlz,
                order: order.id(),
                valid_until,
                link: None,
                block: kopeck_domain::card::PartnerBlock::default(),
            }),
            bank: BankView {
                balance: Kopecks::new(5_000),
                remaining_top_up: Kopecks::new(1_495_000),
                activated_at: None,
                standing: Standing::Open,
                seen_at: NOW,
            },
            account: AccountBalance { value: Kopecks::ZERO, updated_at: NOW },
            transactions_seen_at: None,
            limit: Limit::Unlimited,
        },
        ordinal,
        activation: Some(Activation {
            code: Some("code".to_owned()),
            valid_until,
            first_top_up: Kopecks::new(5_000),
        }),
    };
    let cards = (0..count).map(card).collect();
    (order, lines, cards)
}

/// Stores what [`order_with_cards`] made.
pub(crate) fn insert_order(store: &dyn Store, (order, lines, cards): (Order, Vec<OrderLine>, Vec<NewCard>)) {
    write(store, move |unit| {
        unit.orders().insert(PARTNER, &order, &lines)?;
        unit.cards().insert_issued(PARTNER, &cards)
    })
    .unwrap();
}
