//! Builders for the tests of the use cases: an [`Env`] that stands still, sample records, and the expectations that
//! many tests share.
//!
//! A mock fails the test at any call it does not expect, so a test that expects no booking proves that none is made.

mod kinds;
mod programmes;

use std::ops::Deref;
use std::sync::Arc;

use kopeck_domain::Kopecks;
use kopeck_domain::card::CardFields;
use kopeck_domain::card::{AccountBalance, BankView, Card, CardLink, CardStatus, CardType, Standing};
use kopeck_domain::card_batch::BatchFields;
use kopeck_domain::card_batch::{BatchItem, BatchState, CardBatch, ItemState};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::closing::{ClosingReason, ClosingTerms, Closings};
use kopeck_domain::employee::{Employee, NewEmployee};
use kopeck_domain::ids::{
    CardId, CategoryId, ClosingId, EmployeeId, LimitChangeId, OrderId, PartnerId, ReplenishmentId,
    WithdrawalId,
};
use kopeck_domain::ledger::{Balances, Movement, MovementKind, Reference};
use kopeck_domain::limit::{Limit, Period};
use kopeck_domain::limit_change::{LimitChange, LimitChangeItem, LimitChanges};
use kopeck_domain::order::OrderFields;
use kopeck_domain::order::{LineDetails, Order, OrderKind, OrderLine, OrderState};
use kopeck_domain::partner::{Partner, PartnerStatus, SealingPolicy};
use kopeck_domain::person::{CustomId, DeliveryAddress, Phone, Recipient};
use kopeck_domain::replenishment::{Replenishment, ReplenishmentItem, TopUps};
use kopeck_domain::withdrawal::Withdrawals;
use kopeck_port_bank::Verdict;
use kopeck_port_store::mock::{MockCardBatchRepository, MockUnit};
use kopeck_port_store::{BalanceSheet, CardRecord, Claim, Rule, StoreError, Subject};
use kopeck_port_system::fake::{FakeClock, SeededEntropy, SeededIds};
use time::macros::{date, datetime};
use time::{Date, Duration, OffsetDateTime};
use uuid::Uuid;

use crate::card_batches::ProcessedKind;
use crate::{Env, Settings};

pub(crate) use self::kinds::*;
pub(crate) use self::programmes::*;

/// The moment at which every test starts: noon in the service's zone.
pub(crate) const START: OffsetDateTime = datetime!(2026-03-10 09:00 UTC);
/// When sample records were made.
pub(crate) const BEFORE: OffsetDateTime = datetime!(2026-03-01 09:00 UTC);
/// The last day of every sample card.
pub(crate) const LAST_DAY: Date = date!(2026 - 03 - 31);
/// Whose everything is.
pub(crate) const PARTNER: PartnerId = PartnerId::new(Uuid::from_u128(0xA));

/// What every store error is tried against where only some of them have a meaning.
pub(crate) const RULES: [Rule; 13] = [
    Rule::PartnerLogin,
    Rule::UserLogin,
    Rule::EmployeeCustomId,
    Rule::CategoryName,
    Rule::CardNumber,
    Rule::OneMainCard,
    Rule::CardInOneBatch,
    Rule::TransferReference,
    Rule::IdempotencyKey,
    Rule::SealedNonce,
    Rule::RunReference,
    Rule::ProgrammePeriod,
    Rule::Reference,
];

const SEED: u64 = 7;

/// An environment with the default settings, and the clock to move it by.
pub(crate) struct Bench {
    env: Arc<Env>,
    pub(crate) clock: Arc<FakeClock>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let clock = Arc::new(FakeClock::starting_at(START));
        let env = Env {
            clock: Arc::clone(&clock) as Arc<_>,
            ids: Arc::new(SeededIds::new(SEED)),
            entropy: Arc::new(SeededEntropy::new(SEED)),
            settings: Settings { key_overlap: Duration::days(1), ..Settings::DEFAULT },
        };
        Self { env: Arc::new(env), clock }
    }

    pub(crate) fn shared(&self) -> Arc<Env> {
        Arc::clone(&self.env)
    }
}

impl Deref for Bench {
    type Target = Env;

    fn deref(&self) -> &Env {
        &self.env
    }
}

/// The `n`-th id that a bench gives out, from 1.
pub(crate) fn fresh_id(n: u64) -> Uuid {
    Uuid::from_u64_pair(SEED, n)
}

pub(crate) fn employee_id(n: u128) -> EmployeeId {
    EmployeeId::new(Uuid::from_u128(n))
}

pub(crate) fn category_id(n: u128) -> CategoryId {
    CategoryId::new(Uuid::from_u128(n))
}

pub(crate) fn card_id(n: u128) -> CardId {
    CardId::new(Uuid::from_u128(n))
}

pub(crate) fn order_id(n: u128) -> OrderId {
    OrderId::new(Uuid::from_u128(n))
}

pub(crate) fn replenishment_id(n: u128) -> ReplenishmentId {
    ReplenishmentId::new(Uuid::from_u128(n))
}

pub(crate) fn limit_change_id(n: u128) -> LimitChangeId {
    LimitChangeId::new(Uuid::from_u128(n))
}

pub(crate) fn closing_id(n: u128) -> ClosingId {
    ClosingId::new(Uuid::from_u128(n))
}

pub(crate) fn withdrawal_id(n: u128) -> WithdrawalId {
    WithdrawalId::new(Uuid::from_u128(n))
}

pub(crate) fn kopecks(amount: i64) -> Kopecks {
    Kopecks::new(amount)
}

pub(crate) fn partner(status: PartnerStatus) -> Partner {
    Partner {
        id: PARTNER,
        name: "Bakery".to_owned(),
        login: "bakery".to_owned(),
        status,
        sealing: SealingPolicy::Required,
        created_at: BEFORE,
    }
}

pub(crate) fn custom_id(text: &str) -> CustomId {
    CustomId::parse(text).unwrap()
}

pub(crate) fn employee(n: u128) -> Employee {
    let fields = NewEmployee {
        phone: Some(Phone::parse("9031234567").unwrap()),
        category: Some(category_id(70)),
        ..NewEmployee::default()
    };
    Employee::add(employee_id(n), custom_id(&format!("E-{n}")), fields, BEFORE)
}

pub(crate) fn number(n: u64) -> CardNumber {
    CardNumber::from_u64(1_000_000_000 + n).unwrap()
}

/// An unassigned card that was refreshed from the bank at the start.
pub(crate) fn card_record(n: u64) -> CardRecord {
    CardRecord {
        card: Card::from_stored(CardFields {
            id: card_id(u128::from(n)),
            number: number(n),
            kind: CardType::Mlz,
            order: order_id(1),
            valid_until: LAST_DAY,
            link: None,
            block: kopeck_domain::card::PartnerBlock::default(),
        }),
        bank: BankView {
            balance: kopecks(5_000),
            remaining_top_up: kopecks(10_000),
            activated_at: None,
            standing: Standing::Open,
            seen_at: START,
        },
        account: AccountBalance { value: kopecks(4_000), updated_at: BEFORE },
        transactions_seen_at: None,
        limit: Limit::Unlimited,
    }
}

pub(crate) fn linked(n: u64, employee: EmployeeId, status: CardStatus) -> CardRecord {
    let record = card_record(n);
    CardRecord {
        card: Card::from_stored(CardFields {
            link: Some(CardLink { employee, status }),
            ..record.card.into_fields()
        }),
        ..record
    }
}

pub(crate) fn virtual_line(count: u32, amount: i64) -> OrderLine {
    let details = LineDetails::Virtual { amount: kopecks(amount) };
    OrderLine { card_type: CardType::Mlz, count, details }
}

pub(crate) fn plastic_line(count: u32) -> OrderLine {
    let details = LineDetails::Plastic {
        address: DeliveryAddress::parse("Moscow, 1 Main Street").unwrap(),
        recipient: Recipient::parse("Ivan Ivanov").unwrap(),
        phone: Phone::parse("9031234567").unwrap(),
    };
    OrderLine { card_type: CardType::Kkl, count, details }
}

/// A virtual order; a plastic one if it costs nothing.
pub(crate) fn order(state: OrderState, cards: u32, cost: i64) -> Order {
    Order::from_stored(OrderFields {
        id: order_id(1),
        kind: if cost > 0 { OrderKind::Virtual } else { OrderKind::Plastic },
        card_type: if cost > 0 { CardType::Mlz } else { CardType::Kkl },
        cards,
        cost: kopecks(cost),
        state,
        created_at: BEFORE,
        state_since: BEFORE,
        reference: None,
    })
}

pub(crate) fn replenishment(state: BatchState, amounts: &[i64]) -> Replenishment {
    let sum = kopecks(amounts.iter().sum());
    let cards = u32::try_from(amounts.len()).unwrap();
    CardBatch::from_stored(BatchFields {
        state,
        ..CardBatch::new(replenishment_id(1), cards, sum, BEFORE).into_fields()
    })
}

fn open_item<K: ProcessedKind>(ordinal: u32, terms: K::ItemTerms) -> BatchItem<K> {
    let (card, number) = (card_id(u128::from(ordinal)), number(u64::from(ordinal)));
    BatchItem { ordinal, card, number, terms, state: ItemState::Open }
}

/// Undecided top-ups, one an amount.
pub(crate) fn open_items(amounts: &[i64]) -> Vec<ReplenishmentItem> {
    (0..).zip(amounts).map(|(ordinal, amount)| open_item(ordinal, kopecks(*amount))).collect()
}

/// So many kopecks a day.
pub(crate) fn daily(amount: i64) -> Limit {
    Limit::per(Period::Day, Kopecks::new(amount)).build().unwrap()
}

/// A change of two cards to 700 kopecks a day.
pub(crate) fn limit_change(state: BatchState) -> LimitChange {
    batch(state, 2)
}

/// So many undecided cards of a limit change.
pub(crate) fn open_limit_items(count: u32) -> Vec<LimitChangeItem> {
    sample_items(count)
}

/// The first claim of a subject: nothing can have been sent.
pub(crate) fn claim(subject: Subject) -> Claim {
    Claim { partner: PARTNER, subject, attempt: 1, may_have_sent: false, failures: 0 }
}

pub(crate) fn sheet(available: i64, held: i64) -> BalanceSheet {
    let balances = Balances {
        deposited: kopecks(-(available + held)),
        available: kopecks(available),
        held: kopecks(held),
        spent: Kopecks::ZERO,
    };
    BalanceSheet { balances, updated_at: BEFORE, threshold: Kopecks::ZERO, approval_above: Kopecks::ZERO }
}

/// One booking of exactly this kind and amount, on accounts that are as `sheet` says.
pub(crate) fn expect_booking(
    unit: &mut MockUnit,
    sheet: BalanceSheet,
    kind: MovementKind,
    reference: Reference,
    amount: i64,
) {
    let expected = Movement::new(kind, reference, kopecks(amount)).unwrap();
    let expected_after = sheet.balances.after(&expected).unwrap();
    unit.ledger.expect_sheet().times(1).returning(move |_| Ok(Some(sheet)));
    unit.ledger
        .expect_book()
        .withf(move |partner, movement, after, _| {
            *partner == PARTNER && *movement == expected && *after == expected_after
        })
        .times(1)
        .returning(|_, _, _, _| Ok(()));
}

/// An error that has no meaning to any use case.
pub(crate) fn broken() -> StoreError {
    StoreError::Failed("disk".to_owned())
}
