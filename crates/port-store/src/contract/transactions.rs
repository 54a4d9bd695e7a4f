//! The copy of the bank's transactions.

use crate::page::{Listed, Page};
use kopeck_domain::Kopecks;
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::transaction::{Transaction, TransactionType};

use super::support::{at, get_card, id, page, partner, read, some_cards, write};
use crate::{Rule, Store, StoreError, TransactionFilter};

fn transaction(id: i64, seconds: i64, kind: TransactionType) -> Transaction {
    let spending = kind == TransactionType::Payment;
    Transaction {
        id,
        executed_at: at(seconds),
        kind,
        amount: Kopecks::new(1_000 + id),
        place: spending.then(|| "Столовая №1".to_owned()),
        mcc: spending.then(|| "5814".to_owned()),
        merchant_id: spending.then(|| "M-1".to_owned()),
    }
}

fn append(
    store: &dyn Store,
    partner: PartnerId,
    card: CardId,
    transactions: &[Transaction],
    seen: i64,
) -> Result<(), StoreError> {
    let transactions = transactions.to_vec();
    write(store, move |unit| unit.transactions().append(partner, card, &transactions, at(seen)))
}

fn list(
    store: &dyn Store,
    partner: PartnerId,
    card: CardId,
    filter: TransactionFilter,
    page: Page,
) -> Listed<Transaction> {
    read(store, move |unit| unit.transactions().list(partner, card, filter, page))
}

fn latest(store: &dyn Store, partner: PartnerId, card: CardId) -> i64 {
    read(store, move |unit| unit.transactions().latest_id(partner, card))
}

/// The first word about a transaction stays; the moment of asking is noted even if nothing came.
pub fn what_is_stored_already_is_passed_over(store: &dyn Store) {
    let partner = partner(store);
    let card = some_cards(store, partner, 1)[0].id;
    let seen = || get_card(store, partner, card).unwrap().transactions_seen_at;
    assert_eq!((latest(store, partner, card), seen()), (0, None));
    append(store, partner, card, &[], 5).unwrap();
    assert_eq!((latest(store, partner, card), seen()), (0, Some(at(5))));
    let kind = TransactionType::Payment;
    let (first, second) = (transaction(7, 10, kind), transaction(9, 20, kind));
    append(store, partner, card, &[first.clone(), second.clone()], 30).unwrap();
    let double = Transaction { amount: Kopecks::new(1), ..second.clone() };
    let third = transaction(8, 25, kind);
    append(store, partner, card, &[double, third.clone()], 40).unwrap();
    assert_eq!((latest(store, partner, card), seen()), (9, Some(at(40))));
    let listed = list(store, partner, card, TransactionFilter::default(), page(1, 10));
    assert_eq!(listed, Listed { items: vec![third, second, first], total: 3 });
}

/// By their moment; of one moment, the bank's greater number is the later.
pub fn the_newest_come_first(store: &dyn Store) {
    let partner = partner(store);
    let card = some_cards(store, partner, 1)[0].id;
    let rows: Vec<Transaction> = [(1, 50), (2, 10), (3, 30), (4, 30), (5, 20)]
        .map(|(id, seconds)| transaction(id, seconds, TransactionType::Refund))
        .to_vec();
    append(store, partner, card, &rows, 60).unwrap();
    let ids = |number| -> Vec<i64> {
        let listed = list(store, partner, card, TransactionFilter::default(), page(number, 2));
        assert_eq!(listed.total, 5);
        listed.items.iter().map(|one| one.id).collect()
    };
    assert_eq!((ids(1), ids(2), ids(3), ids(4)), (vec![1, 4], vec![3, 5], vec![2], vec![]));
}

/// From a moment on, before another, of a type.
pub fn filters_have_to_fit_all_together(store: &dyn Store) {
    use TransactionType as T;
    let partner = partner(store);
    let card = some_cards(store, partner, 1)[0].id;
    let kinds = [T::Payment, T::Refund, T::Payment, T::Replenishment, T::Payment];
    let rows: Vec<Transaction> = (1..).zip(kinds).map(|(id, kind)| transaction(id, id * 10, kind)).collect();
    append(store, partner, card, &rows, 60).unwrap();
    let ids = |filter| -> Vec<i64> {
        let listed = list(store, partner, card, filter, page(1, 10));
        assert_eq!(listed.total, listed.items.len() as u64);
        listed.items.iter().map(|one| one.id).collect()
    };
    let none = TransactionFilter::default();
    assert_eq!(ids(TransactionFilter { from: Some(at(20)), ..none }), [5, 4, 3, 2]);
    assert_eq!(ids(TransactionFilter { before: Some(at(20)), ..none }), [1]);
    assert_eq!(ids(TransactionFilter { kind: Some(T::Payment), ..none }), [5, 3, 1]);
    let all = TransactionFilter { from: Some(at(20)), before: Some(at(50)), kind: Some(T::Payment) };
    assert_eq!(ids(all), [3]);
    assert_eq!(ids(TransactionFilter { kind: Some(T::Correction), ..none }), [0; 0]);
}

/// Two cards may have transactions of one number; another partner sees none.
pub fn transactions_are_their_cards_own(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let cards = some_cards(store, first, 2);
    let rows: Vec<Transaction> =
        [3, 4].map(|amount| transaction(amount, 10, TransactionType::Payment)).to_vec();
    append(store, first, cards[0].id, &rows, 20).unwrap();
    append(store, first, cards[1].id, &rows[..1], 20).unwrap();
    for (partner, card, newest, total) in
        [(first, &cards[0], 4, 2), (first, &cards[1], 3, 1), (second, &cards[0], 0, 0)]
    {
        assert_eq!(latest(store, partner, card.id), newest);
        let listed = list(store, partner, card.id, TransactionFilter::default(), page(1, 10));
        assert_eq!((listed.total, listed.items.len()), (total, usize::try_from(total).unwrap()));
    }
}

/// One of the same partner.
pub fn transactions_need_a_card(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let card = some_cards(store, first, 1)[0].id;
    let rows = [transaction(1, 10, TransactionType::Payment)];
    for (partner, card) in [(second, card), (first, id())] {
        let refused = append(store, partner, card, &rows, 20);
        assert_eq!(refused, Err(StoreError::Conflict(Rule::Reference)));
    }
    append(store, second, card, &[], 20).unwrap();
    assert_eq!(get_card(store, first, card).unwrap().transactions_seen_at, None);
}

/// From one moment until before another; other kinds of transactions, other cards and other partners do not count.
pub fn what_a_card_spent_is_payments_less_what_came_back(store: &dyn Store) {
    use TransactionType as T;
    let (first, second) = (partner(store), partner(store));
    let cards = some_cards(store, first, 2);
    let kinds = [T::Payment, T::Replenishment, T::Payment, T::Refund, T::Reversal, T::Correction, T::Payment];
    let rows: Vec<Transaction> = (1..).zip(kinds).map(|(id, kind)| transaction(id, id * 10, kind)).collect();
    append(store, first, cards[0].id, &rows, 90).unwrap();
    append(store, first, cards[1].id, &rows[..1], 90).unwrap();
    let spent = |partner, card, from, until| {
        read(store, move |unit| unit.transactions().spent(partner, card, at(from), at(until))).get()
    };
    let of_first = |from, until| spent(first, cards[0].id, from, until);
    assert_eq!(of_first(0, 100), 1_001 + 1_003 + 1_007 - 1_004);
    assert_eq!(of_first(10, 70), 1_001 + 1_003 - 1_004, "the last moment is not in it");
    assert_eq!(of_first(11, 31), 1_003, "the first moment is");
    assert_eq!(of_first(40, 60), -1_004, "more may come back than was paid");
    assert_eq!(of_first(71, 100), 0);
    assert_eq!(spent(first, cards[1].id, 0, 100), 1_001);
    assert_eq!(spent(second, cards[0].id, 0, 100), 0);
}
