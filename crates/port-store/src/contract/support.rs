//! What the cases share: partners, aggregates to store, and short ways to run a unit of work.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::page::Page;
use kopeck_domain::Kopecks;
use kopeck_domain::card::CardFields;
use kopeck_domain::card::{AccountBalance, BankView, Card, CardLink, CardStatus, CardType, Standing};
use kopeck_domain::card_batch::{BatchItem, CardBatch};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::category::{Category, CategoryName};
use kopeck_domain::employee::{Employee, NewEmployee};
use kopeck_domain::ids::{CardId, EmployeeId, OrderId, PartnerId};
use kopeck_domain::ledger::{Movement, MovementKind, Reference};
use kopeck_domain::limit::{Limit, Period};
use kopeck_domain::order::{LineDetails, Order, OrderKind, OrderLine};
use kopeck_domain::partner::{Partner, PartnerStatus, SealingPolicy};
use kopeck_domain::person::CustomId;
use time::{Date, Duration, Month, OffsetDateTime, Weekday};
use uuid::Uuid;

use crate::{
    Access, Activation, CardRecord, Credentials, LedgerRepository, NewCard, Store, StoreError, StoredKind,
    UnitOfWork, transact,
};

/// A number that is not in use.
pub(super) fn fresh() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// An identifier that is not in use.
pub(super) fn id<T: From<Uuid>>() -> T {
    T::from(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 + u128::from(fresh())))
}

/// A timestamp `seconds` and some microseconds after an arbitrary start.
pub(super) fn at(seconds: i64) -> OffsetDateTime {
    OffsetDateTime::UNIX_EPOCH + Duration::days(20_000) + Duration::new(seconds, 123_456_000)
}

pub(super) fn date(year: i32, month: Month, day: u8) -> Date {
    Date::from_calendar_date(year, month, day).unwrap()
}

pub(super) fn page(number: u32, size: u32) -> Page {
    Page::new(number, size).unwrap()
}

/// Runs a writing unit of work that is rolled back if `body` fails.
pub(super) fn write<T: Send + 'static>(
    store: &dyn Store,
    body: impl FnMut(&mut dyn UnitOfWork) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    transact(store, Access::Write, body)
}

/// Runs a reading unit of work.
pub(super) fn read<T: Send + 'static>(
    store: &dyn Store,
    body: impl FnMut(&mut dyn UnitOfWork) -> Result<T, StoreError> + Send + 'static,
) -> T {
    transact(store, Access::Read, body).unwrap()
}

pub(super) fn credentials() -> Credentials {
    let number = fresh();
    let mut api_key_hash = [7; 32];
    api_key_hash[..8].copy_from_slice(&number.to_be_bytes());
    Credentials {
        partner: Partner {
            id: id(),
            name: format!("Партнёр {number}"),
            login: format!("login-{number}"),
            status: PartnerStatus::Active,
            sealing: SealingPolicy::Required,
            created_at: at(0),
        },
        api_key_hash,
        password_hash: "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA".to_owned(),
    }
}

/// A partner that is stored.
pub(super) fn partner(store: &dyn Store) -> PartnerId {
    let credentials = credentials();
    let id = credentials.partner.id;
    write(store, move |unit| unit.partners().insert(&credentials)).unwrap();
    id
}

pub(super) fn employee(custom_id: &str) -> Employee {
    Employee::add(id(), CustomId::parse(custom_id).unwrap(), NewEmployee::default(), at(0))
}

pub(super) fn insert_employee(
    store: &dyn Store,
    partner: PartnerId,
    employee: &Employee,
) -> Result<(), StoreError> {
    let employee = employee.clone();
    write(store, move |unit| unit.employees().insert(partner, &employee))
}

/// An employee that is stored.
pub(super) fn some_employee(store: &dyn Store, partner: PartnerId) -> EmployeeId {
    let employee = employee(&format!("E-{}", fresh()));
    insert_employee(store, partner, &employee).unwrap();
    employee.id()
}

pub(super) fn category(name: &str) -> Category {
    Category { id: id(), name: CategoryName::parse(name).unwrap() }
}

pub(super) fn insert_category(
    store: &dyn Store,
    partner: PartnerId,
    category: &Category,
) -> Result<(), StoreError> {
    let category = category.clone();
    write(store, move |unit| unit.categories().insert(partner, &category, at(0)))
}

/// A new order of `cards` virtual cards with 50 roubles each.
pub(super) fn virtual_order(cards: u32) -> (Order, Vec<OrderLine>) {
    let details = LineDetails::Virtual { amount: Kopecks::new(5_000) };
    let lines = vec![OrderLine { card_type: CardType::Mlz, count: cards, details }];
    let order = Order::place(id(), OrderKind::Virtual, &lines, at(0)).unwrap();
    (order, lines)
}

pub(super) fn insert_order(
    store: &dyn Store,
    partner: PartnerId,
    order: &Order,
    lines: &[OrderLine],
) -> Result<(), StoreError> {
    let (order, lines) = (order.clone(), lines.to_vec());
    write(store, move |unit| unit.orders().insert(partner, &order, &lines))
}

/// An order of one virtual card that is stored.
pub(super) fn some_order(store: &dyn Store, partner: PartnerId) -> OrderId {
    let (order, lines) = virtual_order(1);
    insert_order(store, partner, &order, &lines).unwrap();
    order.id()
}

/// The last day of the cards made here.
pub(super) fn last_day() -> Date {
    date(2029, Month::November, 30)
}

/// A plastic card as the bank issues it.
pub(super) fn new_card(order: OrderId, ordinal: u32) -> NewCard {
    NewCard {
        record: CardRecord {
            card: Card::from_stored(CardFields {
                id: id(),
                number: CardNumber::ean13(460_000_000_000 + fresh()).unwrap(),
                kind: CardType::Mp4,
                order,
                valid_until: last_day(),
                link: None,
                block: kopeck_domain::card::PartnerBlock::default(),
            }),
            bank: BankView {
                balance: Kopecks::ZERO,
                remaining_top_up: Kopecks::new(1_500_000),
                activated_at: Some(at(1)),
                standing: Standing::Open,
                seen_at: at(2),
            },
            account: AccountBalance { value: Kopecks::ZERO, updated_at: at(3) },
            transactions_seen_at: None,
            limit: Limit::default(),
        },
        ordinal,
        activation: None,
    }
}

/// A virtual card as the bank issues it: not activated, with money on it.
pub(super) fn new_virtual_card(order: OrderId, ordinal: u32) -> NewCard {
    let mut new = new_card(order, ordinal);
    let number = CardNumber::from_u64(4_000_000_000 + fresh()).unwrap();
    let card = CardFields { number, kind: CardType::Mlz, ..new.record.card.into_fields() };
    new.record.card = Card::from_stored(card);
    new.record.bank.activated_at = None;
    new.record.bank.balance = Kopecks::new(5_000);
    new.activation = Some(Activation {
        code: Some(format!("code-{}", fresh())),
        valid_until: date(2027, Month::May, 9),
        first_top_up: Kopecks::new(5_000),
    });
    new
}

pub(super) fn insert_cards(
    store: &dyn Store,
    partner: PartnerId,
    cards: &[NewCard],
) -> Result<(), StoreError> {
    let cards = cards.to_vec();
    write(store, move |unit| unit.cards().insert_issued(partner, &cards))
}

/// `count` cards of one order that are stored.
pub(super) fn some_cards(store: &dyn Store, partner: PartnerId, count: u32) -> Vec<Card> {
    let order = some_order(store, partner);
    let cards: Vec<NewCard> = (0..count).map(|ordinal| new_card(order, ordinal)).collect();
    insert_cards(store, partner, &cards).unwrap();
    cards.into_iter().map(|new| new.record.card).collect()
}

/// Links the card to the employee, or unlinks it.
pub(super) fn link(
    store: &dyn Store,
    partner: PartnerId,
    card: &Card,
    link: Option<(EmployeeId, CardStatus)>,
) -> Result<(), StoreError> {
    let link = link.map(|(employee, status)| CardLink { employee, status });
    let card = Card::from_stored(CardFields { link, ..card.clone().into_fields() });
    write(store, move |unit| unit.cards().set_link(partner, &card))
}

pub(super) fn get_card(store: &dyn Store, partner: PartnerId, card: CardId) -> Option<CardRecord> {
    read(store, move |unit| unit.cards().get(partner, card))
}

/// Limits of every shape.
pub(super) fn sample_limits() -> Vec<Limit> {
    let days = [Weekday::Sunday, Weekday::Monday, Weekday::Wednesday];
    let windows = ["22:00-06:00", "12:00-13:00", "18:00-22:00"];
    let amount = || Limit::per(Period::Month, Kopecks::new(500_000));
    let limited = [amount(), Limit::on(days), Limit::within(windows), amount().on(days).within(windows)];
    let limited = limited.into_iter().map(|limit| limit.build().unwrap());
    [Limit::Unlimited].into_iter().chain(limited).collect()
}

pub(super) fn insert_batch<K: StoredKind>(
    store: &dyn Store,
    partner: PartnerId,
    batch: &CardBatch<K>,
    items: &[BatchItem<K>],
) -> Result<(), StoreError> {
    let (batch, items) = (batch.clone(), items.to_vec());
    write(store, move |unit| K::repository(unit).insert(partner, &batch, &items))
}

/// Books a movement on top of the present balances.
pub(super) fn book(
    ledger: &mut dyn LedgerRepository,
    partner: PartnerId,
    (kind, reference, amount): (MovementKind, Reference, i64),
    moment: OffsetDateTime,
) -> Result<(), StoreError> {
    let movement = Movement::new(kind, reference, Kopecks::new(amount)).unwrap();
    let sheet = ledger.sheet(partner)?.expect("the partner has accounts");
    ledger.book(partner, &movement, sheet.balances.after(&movement).unwrap(), moment)
}
