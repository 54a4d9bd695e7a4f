use std::sync::Mutex;

use super::*;
use crate::testing::*;
use kopeck_domain::Kopecks;
use kopeck_domain::card::CardType;
use kopeck_domain::card_batch::{BatchFields, BatchItem, BatchState, CardBatch, ItemState};
use kopeck_domain::ids::CardId;
use kopeck_domain::order::{Order, OrderFields, OrderState};
use kopeck_domain::partner::PartnerStatus;
use kopeck_domain::replenishment::{Replenishment, ReplenishmentItem, TopUpRefusal};
use kopeck_domain::transaction::TransactionType;
use kopeck_port_bank::{BankKey, FeedChange, FeedEntry, FeedError, MockBankGateway, RegistryEntry};
use kopeck_port_store::mock::{InPlaceStore, MockUnit};
use kopeck_port_store::page::Listed;
use kopeck_port_store::{Activation, BankFeedState, OrderResultItem};
use time::Duration;
use time::macros::date;

/// The running day.
const DAY: Date = date!(2026 - 03 - 10);
/// The service's place in the bank's feed.
const PLACE: i64 = 7;
/// When everything was carried out.
const THEN: OffsetDateTime = START.saturating_sub(Duration::HOUR);

/// A top-up of two cards by 700 and 900 and one that was refused, a purchase with the first, a virtual card with 5,000,
/// and a purchase with a card far behind.
#[derive(Clone)]
struct Books {
    batch: Replenishment,
    items: Vec<ReplenishmentItem>,
    order: Order,
    result: Vec<OrderResultItem>,
    copies: Vec<(CardId, Transaction)>,
    registry: Vec<RegistryEntry>,
    /// The bank's feed, if it has one.
    feed: Option<Vec<FeedEntry>>,
}

fn transaction(id: i64, kind: TransactionType, amount: i64) -> Transaction {
    let amount = kopecks(amount);
    Transaction { id, executed_at: THEN, kind, amount, place: None, mcc: None, merchant_id: None }
}

fn top_up_key(ordinal: u32) -> Option<BankKey> {
    Some(BankKey::new(format!("replenishment/{}/{ordinal}", replenishment_id(1))).unwrap())
}

fn order_key() -> Option<BankKey> {
    Some(BankKey::new(format!("order/{}", order_id(1))).unwrap())
}

fn books() -> Books {
    let amounts = [700, 900, 513];
    let mut items = open_items(&amounts);
    let states = [ItemState::Done, ItemState::Done, ItemState::Refused(TopUpRefusal::ALL[0])];
    items.iter_mut().zip(states).for_each(|(item, state)| item.state = state);
    let batch = replenishment(BatchState::PartSuccess, &amounts).into_fields();
    let (card_type, code, valid_until) = (CardType::Mlz, None, LAST_DAY);
    let activation = Some(Activation { code, valid_until, first_top_up: kopecks(5_000) });
    let moved = [
        (0, transaction(10, TransactionType::Replenishment, 700), top_up_key(0)),
        (0, transaction(11, TransactionType::Payment, 300), None),
        (1, transaction(12, TransactionType::Replenishment, 900), top_up_key(1)),
        (3, transaction(13, TransactionType::Replenishment, 5_000), order_key()),
        // On the second page of cards.
        (u64::from(CARDS) + 7, transaction(14, TransactionType::Payment, 20), None),
    ];
    let copy =
        |(card, transaction, _): &(u64, Transaction, _)| (card_id((*card).into()), transaction.clone());
    Books {
        batch: CardBatch::from_stored(BatchFields { state_since: THEN, ..batch }),
        items,
        order: Order::from_stored(OrderFields {
            state_since: THEN,
            ..order(OrderState::Success, 1, 5_000).into_fields()
        }),
        result: vec![OrderResultItem { ordinal: 0, card_type, number: number(3), activation }],
        copies: moved.iter().map(copy).collect(),
        registry: moved.map(|(card, transaction, key)| entry(card, transaction, key)).into(),
        feed: Some(Vec::new()),
    }
}

fn entry(card: u64, transaction: Transaction, key: Option<BankKey>) -> RegistryEntry {
    RegistryEntry { card: number(card), transaction, key }
}

fn unit(books: &Books) -> MockUnit {
    let mut unit = MockUnit::default();
    unit.partners.expect_list().returning(|| Ok(vec![partner(PartnerStatus::Active)]));
    let cards: Vec<_> = (0..=2 * u64::from(CARDS)).map(|n| (number(n), PARTNER, card_id(n.into()))).collect();
    let owned = cards.clone();
    unit.reconciliation.expect_cards().returning(move |after, limit| {
        let behind = owned.iter().filter(|(number, ..)| after.is_none_or(|after| *number > after));
        Ok(behind.take(limit as usize).copied().collect())
    });
    unit.cards.expect_owners().returning(move |numbers| {
        Ok(cards.iter().filter(|(number, ..)| numbers.contains(number)).copied().collect())
    });
    let copies = books.copies.clone();
    unit.reconciliation.expect_transactions().returning(move |_, cards, period| {
        let wanted = |(card, copy): &&(CardId, Transaction)| {
            cards.contains(card) && period.contains(&copy.executed_at)
        };
        Ok(copies.iter().filter(wanted).cloned().collect())
    });
    let copies = books.copies.clone();
    unit.reconciliation.expect_transaction().returning(move |_, card, id| {
        Ok(copies.iter().find(|(of, copy)| *of == card && copy.id == id).map(|(_, copy)| copy.clone()))
    });
    unit.bank_feed
        .expect_state()
        .returning(|| Ok(BankFeedState { cursor: PLACE, ..BankFeedState::default() }));
    expect_batches(&mut unit, books);
    expect_orders(&mut unit, books);
    unit
}

fn expect_batches(unit: &mut MockUnit, books: &Books) {
    let Books { batch, items, .. } = books.clone();
    let stored = batch.clone();
    unit.replenishments
        .expect_list()
        .returning(move |_, _, _| Ok(Listed { items: vec![stored.clone()], total: 1 }));
    unit.replenishments
        .expect_get()
        .returning(move |_, id| Ok(Some(batch.clone()).filter(|batch| batch.id() == id)));
    unit.replenishments.expect_items().returning(move |_, _, from, limit| {
        let behind = |item: &&BatchItem<_>| item.ordinal >= from;
        Ok(items.iter().filter(behind).take(limit as usize).cloned().collect())
    });
    unit.limit_changes.expect_get().returning(|_, _| Ok(None));
    unit.closings.expect_get().returning(|_, _| Ok(None));
    unit.withdrawals.expect_get().returning(|_, _| Ok(None));
    unit.closings.expect_list().returning(|_, _, _| Ok(Listed { items: Vec::new(), total: 0 }));
    unit.withdrawals.expect_list().returning(|_, _, _| Ok(Listed { items: Vec::new(), total: 0 }));
}

fn expect_orders(unit: &mut MockUnit, books: &Books) {
    let Books { order, result, .. } = books.clone();
    let stored = order.clone();
    unit.orders.expect_list().returning(move |_, _, _| Ok(Listed { items: vec![stored.clone()], total: 1 }));
    unit.orders.expect_get().returning(move |_, id| Ok(Some(order.clone()).filter(|order| order.id() == id)));
    unit.orders.expect_lines().returning(|_, _| Ok(vec![virtual_line(1, 5_000)]));
    unit.orders.expect_result().returning(move |_, _, from, _| {
        Ok(result.iter().filter(|item| item.ordinal >= from).cloned().collect())
    });
}

fn bank(books: &Books) -> MockBankGateway {
    let mut bank = MockBankGateway::new();
    let mut registry = books.registry.clone();
    registry.sort_by_key(RegistryEntry::position);
    let listed = registry.clone();
    bank.expect_registry().returning(move |period, after, limit| {
        let wanted = |entry: &&RegistryEntry| {
            period.contains(&entry.transaction.executed_at)
                && after.is_none_or(|after| entry.position() > after)
        };
        Ok(listed.iter().filter(wanted).take(limit as usize).cloned().collect())
    });
    bank.expect_transactions().returning(move |card, after, limit| {
        let wanted = |entry: &&RegistryEntry| entry.card == card && entry.transaction.id > after;
        Ok(registry
            .iter()
            .filter(wanted)
            .take(limit as usize)
            .map(|entry| entry.transaction.clone())
            .collect())
    });
    let feed = books.feed.clone();
    bank.expect_feed().returning(move |after, _| {
        let feed = feed.clone().ok_or(FeedError::NotSupported)?;
        Ok(feed.into_iter().filter(|entry| entry.seq > after).collect())
    });
    bank
}

/// What differs on these days after a change of the service's records or of the registry.
fn compare(days: RangeInclusive<Date>, change: impl FnOnce(&mut Books)) -> Vec<Difference> {
    let mut books = books();
    change(&mut books);
    let store = Arc::new(InPlaceStore::new(unit(&books)));
    let found = Mutex::new(Vec::new());
    BankReconciler::new(store, Arc::new(bank(&books)), Bench::new().shared())
        .compare(&days, &|| false, &mut |difference| found.lock().unwrap().push(difference))
        .unwrap();
    found.into_inner().unwrap()
}

/// The one difference of the day, by what it says: the card, its amounts here and there, and what differs.
#[track_caller]
fn only(change: impl FnOnce(&mut Books)) -> (CardNumber, Option<i64>, Option<i64>, DifferenceKind) {
    let found = compare(DAY..=DAY, change);
    let [one] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(one.day, DAY);
    let get = |amount: Option<Kopecks>| amount.map(Kopecks::get);
    (one.card, get(one.here), get(one.there), one.kind.clone())
}

#[test]
fn books_that_agree_have_no_differences() {
    assert_eq!(compare(DAY..=DAY, |_| ()), []);
    let before = DAY - Duration::DAY;
    assert_eq!(compare(before..=DAY + Duration::DAY, |_| ()), []);
    assert_eq!(compare(before..=before, |_| ()), []);
}

#[test]
fn entries_of_the_bank_alone_are_missing_here() {
    let purchase = || entry(1, transaction(20, TransactionType::Payment, 50), None);
    let missing = |kind| (number(1), None, Some(-50), kind);
    assert_eq!(only(|books| books.registry.push(purchase())), missing(DifferenceKind::MissingHere));
    let key = Some(BankKey::new(format!("replenishment/{}/0", replenishment_id(2))).unwrap());
    let unknown_request = |books: &mut Books| books.registry.push(RegistryEntry { key, ..purchase() });
    assert_eq!(only(unknown_request), missing(DifferenceKind::MissingHere));
    let unknown_card =
        |books: &mut Books| books.registry.push(RegistryEntry { card: number(9_999), ..purchase() });
    assert_eq!(only(unknown_card), (number(9_999), None, Some(-50), DifferenceKind::UnknownCard));
}

/// The bank told it a moment ago, and the service has not come to it. What it has passed, or what the feed does not have,
/// is missing.
#[test]
fn entries_that_the_service_is_yet_to_read_are_left_out() {
    let told = |seq, card, id| FeedEntry {
        seq,
        at: THEN,
        card: number(card),
        change: FeedChange::Transaction {
            transaction: transaction(id, TransactionType::Payment, 50),
            previous: 12,
        },
    };
    let compare = |day: Date, feed: Option<Vec<FeedEntry>>| {
        let mut books = books();
        let mut late = transaction(20, TransactionType::Payment, 50);
        late.executed_at = late.executed_at.replace_date(day);
        books.registry.push(entry(1, late, None));
        books.feed = feed;
        let store = Arc::new(InPlaceStore::new(unit(&books)));
        let mut found = Vec::new();
        let unread = BankReconciler::new(store, Arc::new(bank(&books)), Bench::new().shared())
            .compare(&(day..=day), &|| false, &mut |difference| found.push(difference.kind))
            .unwrap();
        found.retain(|kind| *kind == DifferenceKind::MissingHere);
        (unread.len(), found.len())
    };
    assert_eq!(compare(DAY, Some(vec![told(PLACE + 1, 2, 9), told(PLACE + 2, 1, 20)])), (1, 0));
    assert_eq!(compare(DAY, Some(vec![told(PLACE, 1, 20), told(PLACE + 1, 2, 20)])), (0, 1));
    assert_eq!(compare(DAY, Some(vec![])), (0, 1));
    assert_eq!(compare(DAY, None), (0, 1), "a bank without a feed");
    // A day that is over has to be here.
    let before = DAY - Duration::DAY;
    assert_eq!(compare(before, Some(vec![told(PLACE + 1, 1, 20)])), (0, 1));
}

#[test]
fn entries_of_the_books_alone_are_missing_there() {
    let without =
        |id: i64| move |books: &mut Books| books.registry.retain(|entry| entry.transaction.id != id);
    let missing = |card, here| (number(card), Some(here), None, DifferenceKind::MissingThere);
    assert_eq!(only(without(10)), missing(0, 700));
    assert_eq!(only(without(11)), missing(0, -300));
    assert_eq!(only(without(14)), missing(u64::from(CARDS) + 7, -20));
    assert_eq!(only(without(13)), missing(3, 5_000));
}

/// The copies of transactions may be incomplete: what was settled says it too.
#[test]
fn settled_requests_are_looked_up_without_copies() {
    let nowhere = |id: i64| {
        move |books: &mut Books| {
            books.registry.retain(|entry| entry.transaction.id != id);
            books.copies.retain(|(_, copy)| copy.id != id);
        }
    };
    let missing = |card, here| (number(card), Some(here), None, DifferenceKind::MissingThere);
    assert_eq!(only(nowhere(12)), missing(1, 900));
    assert_eq!(only(nowhere(13)), missing(3, 5_000));
    // It was carried out, and settled here, on another day.
    let other_day = |state_since| {
        compare(DAY..=DAY, |books| {
            nowhere(12)(books);
            books.batch =
                CardBatch::from_stored(BatchFields { state_since, ..books.batch.clone().into_fields() });
        })
    };
    assert_eq!(other_day(THEN - Duration::DAY), []);
    assert_eq!(other_day(THEN).len(), 1);
}

#[test]
fn a_request_carried_out_before_midnight_is_no_difference_of_its_day_of_settlement() {
    let before_midnight = |books: &mut Books| {
        let yesterday = THEN - Duration::DAY;
        for entry in books.registry.iter_mut().filter(|entry| entry.transaction.id == 12) {
            entry.transaction.executed_at = yesterday;
        }
        books.copies.iter_mut().filter(|(_, copy)| copy.id == 12).for_each(|(_, copy)| {
            copy.executed_at = yesterday;
        });
    };
    assert_eq!(compare(DAY..=DAY, before_midnight), []);
    assert_eq!(compare(DAY - Duration::DAY..=DAY, before_midnight), []);
}

#[test]
fn another_amount_is_found_with_a_request_and_without() {
    let amount = |id: i64, there: i64| {
        move |books: &mut Books| {
            let listed = books.registry.iter_mut().find(|entry| entry.transaction.id == id).unwrap();
            listed.transaction.amount = kopecks(there);
        }
    };
    let differs = |card, here, there| (number(card), Some(here), Some(there), DifferenceKind::Amount);
    assert_eq!(only(amount(10, 701)), differs(0, 700, 701));
    assert_eq!(only(amount(11, 299)), differs(0, -300, -299));
    assert_eq!(only(amount(13, 4_999)), differs(3, 5_000, 4_999));
}

#[test]
fn another_end_a_second_time_and_another_card_are_found() {
    let refused = entry(2, transaction(20, TransactionType::Replenishment, 513), top_up_key(2));
    let end = DifferenceKind::End { here: "REFUSED" };
    assert_eq!(only(|books| books.registry.push(refused)), (number(2), Some(513), Some(513), end));
    for (card, key, amount) in [(0, top_up_key(0), 700), (3, order_key(), 5_000)] {
        let again = entry(card, transaction(20, TransactionType::Replenishment, amount), key);
        let twice = (number(card), Some(amount), Some(amount), DifferenceKind::Twice);
        assert_eq!(only(|books| books.registry.push(again)), twice);
    }
    let elsewhere = |books: &mut Books| {
        let listed = books.registry.iter_mut().find(|entry| entry.transaction.id == 10).unwrap();
        listed.card = number(1);
    };
    let here = DifferenceKind::WrongCard { here: number(0) };
    assert_eq!(only(elsewhere), (number(1), Some(700), Some(700), here));
}

#[test]
fn an_order_that_was_declined_here_was_carried_out_there() {
    let declined = |books: &mut Books| {
        let stored = books.order.clone().into_fields();
        books.order = Order::from_stored(OrderFields { state: OrderState::Decline, ..stored });
    };
    let end = DifferenceKind::End { here: "DECLINE" };
    assert_eq!(only(declined), (number(3), Some(5_000), Some(5_000), end));
}

#[test]
fn a_movement_of_another_day_is_found_once() {
    let yesterday = |books: &mut Books| {
        let listed = books.registry.iter_mut().find(|entry| entry.transaction.id == 11).unwrap();
        listed.transaction.executed_at = THEN - Duration::DAY;
    };
    let there = DAY - Duration::DAY;
    let kind = DifferenceKind::WrongDay { here: DAY, there };
    assert_eq!(only(yesterday), (number(0), Some(-300), Some(-300), kind.clone()));
    assert_eq!(compare(there..=DAY, yesterday).len(), 1);
    let found = compare(there..=there, yesterday);
    assert_eq!(found.iter().map(|one| (one.day, &one.kind)).collect::<Vec<_>>(), [(there, &kind)]);
}

#[test]
fn a_stop_ends_the_comparison_and_a_failure_of_the_bank_too() {
    let compare = |bank: MockBankGateway, stopping: bool| {
        let store = Arc::new(InPlaceStore::new(unit(&books())));
        let reconciler = BankReconciler::new(store, Arc::new(bank), Bench::new().shared());
        reconciler.compare(&(DAY..=DAY), &|| stopping, &mut |difference| panic!("{difference:?}"))
    };
    assert_eq!(compare(bank(&books()), true), Err(ReconcileError::Stopped));
    let mut away = MockBankGateway::new();
    away.expect_registry().returning(|_, _, _| Err(RegistryError::NotSupported));
    assert_eq!(compare(away, false), Err(ReconcileError::NotSupported));
}

#[test]
fn every_kind_has_a_name_and_words() {
    let (here, there) = (DAY, DAY + Duration::DAY);
    for (kind, name, words) in [
        (DifferenceKind::MissingHere, "missing_here", "missing here"),
        (DifferenceKind::MissingThere, "missing_there", "missing at the bank"),
        (DifferenceKind::Amount, "amount", "another amount"),
        (DifferenceKind::End { here: "REFUSED" }, "end", "done at the bank, REFUSED here"),
        (DifferenceKind::Twice, "twice", "done more than once at the bank"),
        (DifferenceKind::WrongCard { here: number(7) }, "wrong_card", "card 1000000007 here"),
        (DifferenceKind::WrongDay { here, there }, "wrong_day", "10.03.2026 here, 11.03.2026 at the bank"),
        (DifferenceKind::UnknownCard, "unknown_card", "unknown card"),
    ] {
        assert_eq!((kind.name(), kind.to_string().as_str()), (name, words));
    }
}
